"""Prompts that every model of the contract test is asked: an ordinary one, the empty one, other scripts, braces."""

PROMPTS = [
    "",
    "Name a colour.",
    'Return {"answer": "$x"}',
    "東京はどこですか。",
    "line one\r\nline two\ttab \\ \"quoted\" '''",
]
