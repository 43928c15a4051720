"""zip stops at the shortest list, so the tails of the longer ones are lost.

Fails: test-interleave-rounds, test-interleave-repeats, test-interleave-limits, test-interleave-inputs, test-interleave-falsy, test-interleave-oracle
"""


def interleave(lists, k):
    result = []
    for turn in zip(*lists):
        for item in turn:
            if item not in result and len(result) < k:
                result.append(item)
    return result
