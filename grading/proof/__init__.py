"""Proves that the tests of exercises are good: right answers pass whatever their style, everything else loses points.

An exercise's folder of answers holds `right_*.py`, `wrong_*.py` and `equivalent.toml`; the rest is made here.

operators.py, shapes.py, statements.py    slips, as mutation operators on a syntax tree
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
