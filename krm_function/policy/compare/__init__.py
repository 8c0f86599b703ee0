"""Compare two policies field by field: which of them allows more."""
