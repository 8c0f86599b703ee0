"""Cut a text into exact slices: a stream into documents, a list into its items; the slices concatenate to the text."""
