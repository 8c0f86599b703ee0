"""`install`, and what the running program is: its build, its parts, its extras."""
