"""Playthroughs as readable text, one file for each situation of the rules, to be reviewed as diffs.

    python -m tests.engine.golden

writes them anew; `tests/engine/test_golden.py` compares.
"""
