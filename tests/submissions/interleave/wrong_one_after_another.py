"""Empties the first list before it looks at the second.

Fails: test-interleave-rounds, test-interleave-repeats, test-interleave-limits, test-interleave-oracle
"""


def interleave(lists, k):
    result = []
    for ranked in lists:
        for item in ranked:
            if item not in result and len(result) < k:
                result.append(item)
    return result
