"""What a run has to say, in every form a host can show: text, json, github, sarif, KRM results, plan, story."""
