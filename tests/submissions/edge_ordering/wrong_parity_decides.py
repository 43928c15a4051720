"""Works up from the worst and starts at the front each time, so an even number puts the best chunk last.

Fails: test-edge_weighted_order-even, test-edge_weighted_order-any_order, test-edge_weighted_order-ties, test-edge_weighted_order-small, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    worst_first = sorted(chunks_with_scores, key=lambda pair: -pair[1])[::-1]
    result = []
    for i, (chunk, _) in enumerate(worst_first):
        if i % 2 == 1:
            result.append(chunk)
        else:
            result.insert(0, chunk)
    return result
