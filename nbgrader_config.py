"""nbgrader: `solutions/` is the source, `exercises/` is made from it (`make exercises`). What `make grade` hands in and
grades is under `_build/course/`, where formgrader finds it too. Grading is this project's own.
"""

import os
import sys
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions

from grading.bridge import install


class NamedStub(ClearSolutions):
    """The released stub raises NotImplementedError with the exercise's name; a prose answer need not be marked."""

    def preprocess_cell(self, cell, resources, cell_index):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        self.code_stub = {"python": f'raise NotImplementedError("{name}")'}
        self.enforce_metadata = cell.cell_type == "code"
        return super().preprocess_cell(cell, resources, cell_index)


os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader runs `alembic` by name
build = Path(__file__).parent / "_build" / "course"  # nbgrader insists on a database; keep it out of the tree
build.mkdir(parents=True, exist_ok=True)

c = get_config()  # noqa: F821 (nbgrader provides it)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "_build/course/submitted"
c.CourseDirectory.autograded_directory = "_build/course/autograded"
c.CourseDirectory.feedback_directory = "_build/course/feedback"
c.CourseDirectory.db_url = f"sqlite:///{build}/gradebook.db"
c.ClearSolutions.text_stub = "*Your answer.*"
c.GenerateAssignment.preprocessors = [
    NamedStub if step is ClearSolutions else step for step in GenerateAssignment.preprocessors.default()
]
install(c)
