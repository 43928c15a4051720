"""Takes turns, but never asks whether an item was taken before.

Fails: test-interleave-repeats, test-interleave-falsy, test-interleave-oracle
"""


def interleave(lists, k):
    result = []
    longest = max((len(ranked) for ranked in lists), default=0)
    for i in range(longest):
        for ranked in lists:
            if i < len(ranked) and len(result) < k:
                result.append(ranked[i])
    return result
