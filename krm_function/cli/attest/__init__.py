"""`--attest` and `check --attestation`: statements about renders, written and compared."""
