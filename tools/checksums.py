"""`python -m tools.checksums DIRECTORY`: SHA256SUMS of all other files there, as `sha256sum --check` reads it."""

import hashlib
import os
import sys

NAME = "SHA256SUMS"


def checksums(directory: str) -> str:
    """Write a line for each file, sorted by name. Raises OSError, and ValueError for a name that fits no line."""
    lines = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name != NAME and os.path.isfile(path):
            lines.append(line_of(name, path))
    return "".join(lines)


def line_of(name: str, path: str) -> str:
    """Return the line of one file. name: as it stands in the line. Raises as `checksums`."""
    if not name.isprintable() or "\\" in name:
        raise ValueError(f"{name!r}: a name that sha256sum writes in another way")
    with open(path, "rb") as file:
        return f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n"


def main(arguments: list[str]) -> int:
    """Write the file."""
    if len(arguments) != 1:
        print("usage: python -m tools.checksums DIRECTORY", file=sys.stderr)
        return 2
    text = checksums(arguments[0])
    with open(os.path.join(arguments[0], NAME), "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
