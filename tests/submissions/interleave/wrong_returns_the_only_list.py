"""A shortcut for a single list gives that list itself back.

Fails: test-interleave-inputs
"""


def interleave(lists, k):
    if len(lists) == 1 and len(set(lists[0])) == len(lists[0]) <= k:
        return lists[0]
    result, rest = [], [list(ranked) for ranked in lists]
    while any(rest) and len(result) < k:
        for ranked in rest:
            while ranked and ranked[0] in result:
                del ranked[0]
            if ranked and len(result) < k:
                result.append(ranked.pop(0))
    return result
