"""python -m tests.hostile [NAME ...]: grades cases of the corpus and prints what was wrong.

A NAME is a group ("broken"), a case with its control ("broken/utf_16") or one of the two ("broken/utf_16 control").
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.hostile.launching import ROOT, NoSandboxError, launch


def main() -> int:
    """Status 1 when something was wrong, 3 where hostile programs may not be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--grader", type=Path, default=ROOT / "grading", metavar="DIR", help="the package to try")
    parser.add_argument("--alone", action="store_true", help="grade each in a class of its own")
    options = parser.parse_args()
    began = time.monotonic()
    try:
        results = launch(options.names, grader=options.grader, size=1 if options.alone else 40)
    except NoSandboxError as problem:
        print(problem, file=sys.stderr)
        return 3
    for result in results:
        print(f"{'ok ' if not result.faults else 'BAD'} {result.id}: expected {result.expected}, is {result.ours}")
        for fault in result.faults:
            print(f"      {fault}")
    wrong = sum(bool(result.faults) for result in results)
    print(f"{len(results)} graded in {time.monotonic() - began:.0f} s, {wrong} of them with faults")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
