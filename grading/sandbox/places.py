"""Names that both sides of the sandbox use."""

INSIDE = "/grader"  # where the modules of ours stand
FOLDER = "/tmp/answer"  # where a student's process works
