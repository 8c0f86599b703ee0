"""Reports: findings, plans, explanations and diffs as text, json, github, sarif, KRM results, mermaid and html."""
