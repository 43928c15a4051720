"""What lies beside the exercise: a currency to use, and the reference answer, which an answer may not import."""

CURRENCY = "€"


def add_up(prices):
    """The sum of prices."""
    return sum(prices)
