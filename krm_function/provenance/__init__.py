"""The provenance of a render: an in-toto statement about its output, written by `--attest` and compared by `check`.

Rule of this package: it opens no file and reads no clock, host or user, so the same render gives the same bytes; and a
statement that it reads is hostile input. It signs nothing and verifies no signature: cosign and gh do. Sources:
docs/facts/attestations.md. Its files are imported one by one, since a render without `--attest` needs none.
"""
