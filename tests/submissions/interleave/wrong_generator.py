"""Yields the items: the caller gets a generator, no list.

Fails: test-interleave-type, test-interleave-rounds, test-interleave-repeats, test-interleave-limits, test-interleave-inputs, test-interleave-falsy, test-interleave-oracle
"""


def interleave(lists, k):
    taken, iterators = set(), [iter(ranked) for ranked in lists]
    while iterators and len(taken) < k:
        for it in list(iterators):
            for item in it:
                if item not in taken:
                    taken.add(item)
                    yield item
                    break
            else:
                iterators.remove(it)
            if len(taken) >= k:
                return
