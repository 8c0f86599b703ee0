"""A standing measurement on charts, kustomizations and YAML files of others: what a render refuses of them."""
