"""How fast things are, as ratios to baselines that are measured in the same run."""
