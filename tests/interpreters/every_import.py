"""`python -m tests.interpreters.every_import`: import each module of the packages; standard library only.

Prints how many there are. Warnings are the caller's choice (`-W error`).
"""

import importlib
import pkgutil

import helm_plugin
import krm_function

names = [
    module.name
    for package in (krm_function, helm_plugin)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
for name in names:
    importlib.import_module(name)
print(len(names))
