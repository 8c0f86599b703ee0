"""The schema language: what values may be (`kinds`), all that is wrong with one (`check`), what it becomes (`read`).

Rule of this package: it knows JSON values and nothing of Contrast or Kubernetes. genpolicy's settings, the manifest and
the pod spec are tables in this language; a record whose fields are declared in its class is made to one by `table`.
`check` knows one form of a value; a document is brought to that form first, by `read_value` for YAML and by
manifest.canonical for Go's zero values.
"""
