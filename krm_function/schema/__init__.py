"""The schema language: specs of values (`values`), the faults of a value (`check`), and the reader (`table`).

Rule of this package: it handles JSON values, and nothing here depends on Contrast or Kubernetes. genpolicy's settings,
the manifest and the pod spec are tables in this language; `table` makes one from a record whose fields are declared in
its class. `check` expects one form of a value; `read_value` brings YAML to that form, and manifest.canonical Go's zero
values.
"""
