"""What is asked of an input beside the stages, object by object: who made it, and whether it may be believed.

Rule of this package: a check changes nothing and returns findings. The checks do not import each other, nor a stage.
"""
