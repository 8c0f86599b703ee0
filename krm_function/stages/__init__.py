"""The stages of the pipeline, one file each: pure functions from records to edits and findings.

Rule of this package: a stage imports no other stage, raises nothing for bad input and changes nothing itself.
"""
