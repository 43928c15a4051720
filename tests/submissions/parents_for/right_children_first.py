"""Goes through the children from the best down and takes each parent when it first appears."""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    order = sorted(child_scores, key=lambda child: (-child_scores[child], parent_of[child]))
    decided, chosen = set(), []
    for child in order:
        parent = parent_of[child]
        if parent in decided:
            continue
        decided.add(parent)
        if parent_tokens[parent] <= budget:
            budget -= parent_tokens[parent]
            chosen.append(parent)
    return chosen
