"""Uses None as the mark of a list that has ended, and drops the item None.

Fails: test-interleave-falsy
"""


def interleave(lists, k):
    iterators = [iter(ranked) for ranked in lists]
    result = []
    while iterators and len(result) < k:
        for it in list(iterators):
            item = next(it, None)
            while item is not None and item in result:
                item = next(it, None)
            if item is None:
                iterators.remove(it)
            elif len(result) < k:
                result.append(item)
    return result
