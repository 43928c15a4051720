"""One round a call, on what each list has left."""


def interleave(lists, k):
    def play(rest, taken):
        fresh = []
        for ranked in rest:
            left = [item for item in ranked if item not in taken]
            if left and len(taken) < k:
                taken = taken + left[:1]
                fresh.append(left[1:])
        return play(fresh, taken) if fresh and len(taken) < k else taken

    return play(lists, [])
