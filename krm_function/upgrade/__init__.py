"""The command `upgrade`: from the present Contrast release to another one, as a plan of waves.

Rule of this package: pure; it runs and reads nothing. Whatever runs at any moment has its policy and measurement in the
manifest that the coordinator has: that is why the waves have this order.
"""
