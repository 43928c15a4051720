"""Queues in a ring: the list whose turn it was goes to the end of the line."""

from collections import deque


def interleave(lists, k):
    line = deque(deque(ranked) for ranked in lists)
    merged = []
    while line and len(merged) < k:
        queue = line.popleft()
        while queue and queue[0] in merged:
            queue.popleft()
        if queue:
            merged.append(queue.popleft())
            line.append(queue)
    return merged
