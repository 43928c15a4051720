"""A list whose next item is taken loses its turn, as it walks all lists by one common position.

Fails: test-interleave-repeats, test-interleave-oracle
"""


def interleave(lists, k):
    result = []
    longest = max((len(ranked) for ranked in lists), default=0)
    for i in range(longest):
        for ranked in lists:
            if i < len(ranked) and ranked[i] not in result and len(result) < k:
                result.append(ranked[i])
    return result
