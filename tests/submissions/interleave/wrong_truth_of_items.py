"""Asks whether an item is true where it means whether there is one, so 0 and the empty string are lost.

Fails: test-interleave-falsy, test-interleave-oracle
"""


def interleave(lists, k):
    result, queues = [], [list(ranked) for ranked in lists]
    while any(queues) and len(result) < k:
        for queue in queues:
            while queue and (not queue[0] or queue[0] in result):
                queue.pop(0)
            if queue and len(result) < k:
                result.append(queue.pop(0))
    return result
