"""The comment by which an editor finds the JSON Schema of a YAML file.

Rule of this file: the schema is named by a relative path to a copy that was made with the file, because it has to work
without a network and on any machine.
"""

DIRECTORY = ".contrast-krm"
SUFFIX = ".schema"  # not .json: kpt takes every JSON file of a package for a resource, in hidden directories too


def schema_file(kind: str) -> str:
    """Return the copy of a kind's schema beside a configuration file."""
    return f"{DIRECTORY}/{kind}{SUFFIX}"


def modeline(schema: str) -> str:
    """Return the first line of a file whose schema is at this path; "" for no schema."""
    return f"# yaml-language-server: $schema={schema}\n" if schema else ""
