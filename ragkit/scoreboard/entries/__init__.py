"""The techniques of the scoreboard, a module a chapter, each with ``TECHNIQUES``: a sequence of `Technique`."""
