"""Proves that the tests of exercises are good: right answers pass whatever their style, everything else loses points.

An exercise's folder of answers holds `right_*.py`, `wrong_*.py` and `equivalent.toml`; the rest is made here.

operators.py    slips in an expression, as mutation operators on a syntax tree
shapes.py       slips in a call, a slice or a display
statements.py   slips in a statement
mutants.py      the mutants of an answer, by name
recording.py    calls written down with what came of them
hardcoded.py    answers that know the visible examples and nothing else
order.py        other random inputs, another order of tests
attempts.py     all that is tried on an exercise
judging.py      judges it, several at once
waivers.py      mutants that keep to the contract
findings.py     the figures, and what is amiss
proving.py      all of this, from exercises and a folder to what is known
table.py        shows it
"""
