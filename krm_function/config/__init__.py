"""The configuration: the three kinds of contrast-krm.dev/v1alpha1, and the files of a Contrast release.

Rule of this package: documents in, records and findings out. It reads no files; a configuration is either valid as a
whole or refused.
"""
