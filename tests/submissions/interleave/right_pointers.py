"""A position in each list, moved past what is taken."""


def interleave(lists, k):
    result, seen = [], set()
    position = [0] * len(lists)
    while len(result) < k:
        moved = False
        for i, ranked in enumerate(lists):
            while position[i] < len(ranked) and ranked[position[i]] in seen:
                position[i] += 1
            if position[i] < len(ranked):
                seen.add(ranked[position[i]])
                result.append(ranked[position[i]])
                moved = True
                if len(result) == k:
                    return result
        if not moved:
            break
    return result
