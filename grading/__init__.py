"""What runs, judges and reports graded work, around nbgrader."""
