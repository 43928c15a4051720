"""Takes the items out of the caller's own lists.

Fails: test-interleave-inputs
"""


def interleave(lists, k):
    result = []
    while any(lists) and len(result) < k:
        for ranked in lists:
            while ranked and ranked[0] in result:
                ranked.pop(0)
            if ranked and len(result) < k:
                result.append(ranked.pop(0))
    return result
