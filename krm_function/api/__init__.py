"""The kinds of contrast-krm.dev/v1alpha1: records, parsing, JSON Schemas."""
