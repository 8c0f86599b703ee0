"""The kinds of contrast-krm.dev/v1alpha1: records, parsing, JSON Schemas.

Rule of this package: documents in, records and findings out. It reads no files; a configuration is either understood in
full or refused. Who needs the records alone does not load what reads a configuration.
"""
