"""`python3 image_root.py ROOT PROGRAM`: make a directory ROOT that holds this Python, PROGRAM and nothing else.

PROGRAM is the path of a script of a virtual environment of this Python, `/opt/NAME/bin/NAME`; the environment stands in
ROOT at the same path, without its other scripts. Beside both, ROOT gets the shared libraries that they name,
certificates, two users, and of the packages that the files are from: what they are and their licences, where scanners
of images look. There is no shell, no package manager and no pip in it. The Dockerfile calls it in the build stage, with
a base that has glibc and `ldd`; it needs nothing but Python 3.11.

Rule of this file: the bytes depend on the base and on the environment alone. All is root's, nobody else may write but
in /tmp, nothing is setuid, times are SOURCE_DATE_EPOCH (default 0), and byte-code is checked against no time.
"""

import compileall
import os
import py_compile
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator

# What no command imports, by name: of the standard library, and of its compiled modules.
LEFT_OUT = re.compile(
    r"__pycache__|site-packages|dist-packages|config-.*|test|tests|idlelib|tkinter|turtledemo|turtle\.py|lib2to3|"
    r"ensurepip|venv|distutils|pydoc_data|curses|dbm|sqlite3|sitecustomize\.py|"
    r"(_tkinter|_curses.*|readline|_dbm|_gdbm|_sqlite3|nis|ossaudiodev|_?xx.*|_test.*|_ctypes_test)\..*"
)
USERS = "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n"
GROUPS = "root:x:0:\nnogroup:x:65534:\n"
NAMES = "passwd: files\ngroup: files\nhosts: files dns\n"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SYSTEM = ("/etc/os-release", "/etc/debian_version", "/etc/ld.so.conf", "/etc/ld.so.conf.d")


class Root:
    """The directory that becomes the root of the image."""

    def __init__(self, directory: str) -> None:
        """directory: made here, must not exist."""
        self.directory = directory
        os.makedirs(directory)

    def at(self, path: str) -> str:
        """Where an absolute path of the image is now."""
        return self.directory + path

    def write(self, path: str, text: str) -> None:
        """Make a file."""
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        with open(self.at(path), "w", encoding="utf-8") as file:
            file.write(text)

    def take(self, path: str) -> None:
        """Copy a file of this system, by the links that lead to it; a directory with what is in it."""
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if os.path.lexists(self.at(path)) or not os.path.lexists(path):
            return
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        if os.path.islink(path):
            os.symlink(os.readlink(path), self.at(path))
            self.take(os.path.join(os.path.dirname(path), os.readlink(path)))
        elif os.path.isdir(path):
            shutil.copytree(path, self.at(path), symlinks=True)
        else:
            shutil.copy(path, self.at(path))

    def files(self) -> Iterator[str]:
        """Yield the absolute paths that regular files will have in the image."""
        for folder, _, names in os.walk(self.directory):
            for name in names:
                if not os.path.islink(os.path.join(folder, name)):
                    yield os.path.join(folder, name)[len(self.directory) :]


def make(directory: str, program: str) -> None:
    """Fill the directory. Raises OSError and ValueError, and CalledProcessError."""
    root = Root(directory)
    environment = os.path.dirname(os.path.dirname(program))
    for name in ("lib", "lib64"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), root.at(f"/{name}"))
    take_python(root)
    take_environment(root, environment, os.path.basename(program))
    take_libraries(root)
    for path in (*SYSTEM, os.path.realpath("/etc/os-release"), CERTIFICATES):
        root.take(path)
    root.write("/etc/passwd", USERS)
    root.write("/etc/group", GROUPS)
    root.write("/etc/nsswitch.conf", NAMES)
    take_notes(root)
    compile_all(root, [*library_directories(), environment])
    subprocess.run(["ldconfig", "-X", "-r", directory], check=True)
    shutil.rmtree(root.at("/var/cache"), ignore_errors=True)
    for empty in ("dev", "proc", "sys", "tmp"):
        os.mkdir(root.at(f"/{empty}"))
    settle(root)


def library_directories() -> list[str]:
    """Return the standard library: one directory or two."""
    return sorted({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})


def take_python(root: Root) -> None:
    """Take the interpreter under its names, and the standard library without LEFT_OUT; links in it become files."""
    programs = os.path.dirname(os.path.realpath(sys.executable))
    for name in ("python", "python3", os.path.basename(os.path.realpath(sys.executable))):
        root.take(os.path.join(programs, name))

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if LEFT_OUT.fullmatch(name) or not os.path.exists(os.path.join(folder, name))]

    for directory in library_directories():
        shutil.copytree(directory, root.at(directory), ignore=left_out, dirs_exist_ok=True)


def take_environment(root: Root, environment: str, program: str) -> None:
    """Take the virtual environment, of its scripts only one, and the links to its Python."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        if folder == os.path.join(environment, "bin"):
            return [name for name in names if name != program and not name.startswith("python")]
        return [name for name in names if name == "__pycache__"]

    shutil.copytree(environment, root.at(environment), symlinks=True, ignore=left_out)


def take_libraries(root: Root) -> None:
    """Take what the dynamic loader opens for the programs and modules that are in the image now. Raises OSError."""
    for path in [path for path in root.files() if _is_elf(root.at(path))]:
        told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
        if missing := re.findall(r"(\S+) => not found", told):
            raise FileNotFoundError(f"{path} needs {', '.join(missing)}: add its package to the base, or leave it out")
        for library in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", told, flags=re.MULTILINE):
            root.take(library)


def _is_elf(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def take_notes(root: Root) -> None:
    """Take the records and licences of the Debian packages that files of the image are from; none without dpkg."""
    if not shutil.which("dpkg-query"):
        return
    for package in sorted(set(_owners(root.files()))):
        name = package.split(":")[0]
        record = subprocess.run(["dpkg-query", "--status", package], capture_output=True, text=True, check=True).stdout
        root.write(f"/var/lib/dpkg/status.d/{name}", record)
        licences = f"/usr/share/doc/{name}/copyright"
        if os.path.exists(licences):
            with open(licences, encoding="utf-8", errors="replace") as file:
                root.write(licences, file.read())


def _owners(paths: Iterable[str]) -> Iterator[str]:
    """`name:architecture` of each package that has one of the files, under its own path or the one before /usr."""
    asked = {spelling for path in paths for spelling in (path, path.removeprefix("/usr"))}
    told = subprocess.run(["dpkg-query", "--search", *sorted(asked)], capture_output=True, text=True, check=False)
    for line in told.stdout.splitlines():
        packages, _, path = line.rpartition(": ")
        if path in asked and not packages.startswith("diversion "):
            yield from packages.split(", ")


def compile_all(root: Root, directories: Iterable[str]) -> None:
    """Byte-code, since none can be kept at run time. Raises ValueError if a file does not compile."""
    for directory in directories:
        if not compileall.compile_dir(
            root.at(directory),
            quiet=1,
            force=True,
            stripdir=root.directory,
            prependdir="/",
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        ):
            raise ValueError(f"{directory}: not all of it is Python of this version")


def settle(root: Root) -> None:
    """One owner, modes and times for everything; scripts in the library of Python are no programs."""
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    for folder, folders, names in os.walk(root.directory, topdown=False):
        for path in [os.path.join(folder, name) for name in (*names, *folders)] + [folder]:
            os.lchown(path, 0, 0)
            if not os.path.islink(path):
                executable = os.path.isdir(path) or (
                    os.stat(path).st_mode & stat.S_IXUSR and (os.path.basename(folder) == "bin" or _is_elf(path))
                )
                os.chmod(path, 0o755 if executable else 0o644)
            os.utime(path, (time, time), follow_symlinks=False)
    os.chmod(root.at("/tmp"), 0o1777)  # noqa: S103, S108  (of the image: who mounts nothing there may have it writable)


if __name__ == "__main__":
    make(*sys.argv[1:])
