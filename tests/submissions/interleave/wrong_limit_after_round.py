"""Looks at k only between two rounds, and so returns up to a round too many.

Fails: test-interleave-limits, test-interleave-oracle
"""


def interleave(lists, k):
    result, iterators = [], [iter(ranked) for ranked in lists]
    while iterators and len(result) < k:
        playing = []
        for it in iterators:
            for item in it:
                if item not in result:
                    result.append(item)
                    playing.append(it)
                    break
        iterators = playing
    return result
