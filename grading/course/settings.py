"""What a course's nbgrader_config.py sets that grading does not follow. The file is read here and not run.

A course whose submissions lie elsewhere, or whose hidden tests are marked by other words, must not be graded as if they
did not: each such setting gives a sentence for the instructor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

LAYOUT = "submissions are looked for in {submitted}/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb"
PLAIN = "only a plain string is understood here, so {default} is used"
MARKS = "grading knows nbgrader's own marks alone (### BEGIN SOLUTION, ### BEGIN HIDDEN TESTS)"
BUDGETS = "the budgets are options of this command"
NOT_FOLLOWED = {
    "directory_structure": LAYOUT,
    "root": "the course is the folder that holds the configuration",
    "notebook_id": "every notebook with tests is graded",
    "assignment_id": "every assignment is graded",
    "student_id": "every student is graded",
    "student_id_exclude": "every student is graded",
    "begin_solution_delimeter": MARKS,
    "end_solution_delimeter": MARKS,
    "begin_test_delimeter": MARKS,
    "end_test_delimeter": MARKS,
    "timeout": BUDGETS,
}
GROUPS = {"root": "CourseDirectory"}  # where a name counts, if not everywhere: Exchange.root is another thing
DEFAULTS = {
    "directory_structure": {"{nbgrader_step}/{student_id}/{assignment_id}"},
    "begin_solution_delimeter": {"BEGIN SOLUTION", "### BEGIN SOLUTION"},
    "end_solution_delimeter": {"END SOLUTION", "### END SOLUTION"},
    "begin_test_delimeter": {"BEGIN HIDDEN TESTS", "### BEGIN HIDDEN TESTS"},
    "end_test_delimeter": {"END HIDDEN TESTS", "### END HIDDEN TESTS"},
    "root": {"", "."},
    "notebook_id": {"", "*"},
    "assignment_id": {"", "*"},
    "student_id": {"", "*"},
    "student_id_exclude": {""},
}


def plain_settings(config: Path) -> dict[str, str]:
    """The settings that are plain strings, by the last part of their names; {} where there is no configuration.

    Raises `ValueError` that names a file which is no Python.
    """
    found = {}
    for _, name, value in _settings(config):
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            found[name] = value.value
    return found


def not_followed(config: Path, places: dict[str, str]) -> list[str]:
    """A sentence for each setting that grading does not follow, in the order of the file.

    Args:
        places: what is used for each setting that says where things are, by its name.
    """
    said = []
    for group, name, value in _settings(config):
        plain = value.value if isinstance(value, ast.Constant) else None
        if name in places and not isinstance(plain, str):
            why = PLAIN.format(default=places[name])
        elif name == "db_url" and not str(plain).startswith("sqlite:///"):
            why = f"the marks go into {places[name]}"
        elif name in NOT_FOLLOWED and group == GROUPS.get(name, group) and plain not in DEFAULTS.get(name, ()):
            why = NOT_FOLLOWED[name].format(submitted=places["submitted_directory"])
        else:
            continue
        said.append(f"{config.name}: {group}.{name} is not followed: {why}.")
    if _loads_another(config):
        said.append(f"{config.name}: it loads another configuration, which is not read.")
    return list(dict.fromkeys(said))


def _settings(config: Path) -> Iterator[tuple[str, str, ast.expr]]:
    """Every assignment to `c.Group.name`, with its value."""
    for node in ast.walk(_parsed(config)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Attribute):
                    yield target.value.attr, target.attr, node.value


def _loads_another(config: Path) -> bool:
    names = {"load_subconfig", "merge"}
    calls = [node.func for node in ast.walk(_parsed(config)) if isinstance(node, ast.Call)]
    return any(getattr(call, "id", getattr(call, "attr", "")) in names for call in calls)


def _parsed(config: Path) -> ast.Module:
    if not config.is_file():
        return ast.Module([], [])
    try:
        return ast.parse(config.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as problem:
        raise ValueError(f"{config}: cannot be read: {problem}") from None
