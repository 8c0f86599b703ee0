"""Archives that are byte-equal whenever they hold the same files: `.tar` and `.tar.gz` with nothing of the machine.

Rule of this file: members are sorted by name, belong to 0:0, have mode 0755 (programs and folders) or 0644, and are
as old as SOURCE_DATE_EPOCH (seconds; default 2020-02-02, as hatchling's). Links are kept as links; anything else, such
as a device, is an error. The bytes depend on the files, on that time and on the zlib that compresses.
"""

import gzip
import io
import os
import stat
import tarfile
from collections.abc import Mapping

EPOCH = 1580601600


def source_date() -> int:
    """Seconds since 1970 that all members carry."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH))


def files_below(directory: str, prefix: str) -> dict[str, str]:
    """Name in the archive -> path, for every file, folder and link below the directory."""
    found = {prefix: directory}
    for folder, folders, files in os.walk(directory):
        inside = os.path.relpath(folder, directory)
        for name in folders + files:
            found[os.path.normpath(os.path.join(prefix, inside, name))] = os.path.join(folder, name)
    return found


def tar_gz(members: Mapping[str, str]) -> bytes:
    """Return the compressed archive of these files, as `tar` takes them."""
    return gzip.compress(tar(members), compresslevel=9, mtime=0)


def tar(members: Mapping[str, str]) -> bytes:
    """Return the archive of these files (name -> path). Raises ValueError for what is neither file, folder nor link."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(members):
            _add(archive, name, members[name])
    return plain.getvalue()


def _add(archive: tarfile.TarFile, name: str, path: str) -> None:
    status = os.lstat(path)
    member = tarfile.TarInfo(name)
    member.mtime = source_date()
    if stat.S_ISLNK(status.st_mode):
        member.type, member.linkname = tarfile.SYMTYPE, os.readlink(path)
        archive.addfile(member)
    elif stat.S_ISDIR(status.st_mode):
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
    elif stat.S_ISREG(status.st_mode):
        member.mode = 0o755 if status.st_mode & 0o100 else 0o644
        member.size = status.st_size
        with open(path, "rb") as source:
            archive.addfile(member, source)
    else:
        raise ValueError(f"{path}: neither a file, a folder nor a link")
