"""``python -m ragkit.recorded.agents MODE``: the 135M model answers a task; ``reach`` prints the value of `REACH`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ragkit.recorded.agents import MODES, record, tuned_reach


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m ragkit.recorded.agents", description="Let the local model answer.")
    parser.add_argument("mode", choices=(*MODES, "reach"))
    mode = parser.parse_args(arguments).mode
    print(tuned_reach() if mode == "reach" else f"{record(MODES[mode])} answers recorded")


if __name__ == "__main__":
    main()
