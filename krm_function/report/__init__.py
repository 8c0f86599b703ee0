"""What a run has to say, in every form a host can show: text, json, github annotations, KRM results, the plan."""
