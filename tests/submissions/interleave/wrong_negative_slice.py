"""Merges everything and cuts with [:k], which for a negative k cuts the end off instead.

Fails: test-interleave-limits, test-interleave-oracle
"""


def interleave(lists, k):
    result, iterators = [], [iter(ranked) for ranked in lists]
    while iterators:
        playing = []
        for it in iterators:
            for item in it:
                if item not in result:
                    result.append(item)
                    playing.append(it)
                    break
        iterators = playing
    return result[:k]
