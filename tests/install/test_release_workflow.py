"""The release workflow: what needs neither a network nor a key runs here, in a copy of the repository with a tag."""

import io
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.install.workflow import EXPRESSION, Runner, Stopped, copy_of_repository, read
from tools import release
from tools.built import MACHINE, problems
from tools.interpreters import VERSIONS
from tools.machines import OTHERS
from tools.sbom import BUNDLED

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RELEASE = read(ROOT / ".github/workflows/release.yml")
TAG, VERSION, COMMIT = "v1.2.3", "1.2.3", "0123456789abcdef" * 2 + "01234567"
OTHER = OTHERS[MACHINE].name
PROJECT = release.PROJECT.removeprefix("https://github.com/")
CONTACTS = {
    "- Mail: none before the first release": "- Mail: <security@example.com>",
    "- Release key: none before the first release": f"- Release key: `{'0123456789' * 4}`",
}
NEWS = "- What is new."
IMAGE = f"ghcr.io/{PROJECT}"

# Steps that are not run here, and what tries them instead.
NOT_RUN = {
    "What CI runs": "all tests, this one among them",
    "Pack them again, signed": "needs the key; tests/install/test_helm_plugins.py signs with one of its own",
    "What the tools need": "fetches packages; .venv is what it makes",
    "Bundle": "fetches packages: `make bundle` makes and tests it",
    "A container engine": "installs packages of the system",
    "Look the base of the image up": "asks a registry",
    "Image": "needs a container engine: `make image` makes and tests it",
    "One image of both": "needs the images; tests/tools/test_image_index.py",
    "Entries for catalogues": "needs the image and the bundles; tests/tools/test_catalogue.py",
    "Is all of it there, and what the tag says?": "without bundle and image it is not; below it gets made-up ones",
    "Push the archive as it is": "needs a registry and a login",
    "Make the release": "asks GitHub",
}
# Actions of others, which only GitHub runs; those that move files are played by tests/install/workflow.py.
OF_OTHERS = {"actions/setup-python", "actions/attest-build-provenance", "pypa/gh-action-pypi-publish"}
MOVE_FILES = {"actions/checkout", "actions/upload-artifact", "actions/download-artifact"}
RIGHTS = {
    "test": {"contents": "read"},
    "plugins": {"contents": "read"},
    "arm64": {"contents": "read"},
    "build": {"contents": "read"},
    "image": {"packages": "write", "id-token": "write", "attestations": "write"},
    "publish": {"id-token": "write", "attestations": "write"},
    "release": {"contents": "write"},
}
VALUES = {
    "needs.image.outputs.image": IMAGE,
    "needs.image.outputs.digest": f"sha256:{'a' * 64}",
    "needs.build.outputs.base": f"docker.io/library/python:3.13-slim@sha256:{'b' * 64}",
}


def tagged(target: Path) -> None:
    """The repository as the commit of a release has it. It shares the environment, and nothing may change that."""
    copy_of_repository(ROOT, target, ("tests", "examples", "benchmarks"))
    for path, pattern in release.PLACES.items():
        text = (target / path).read_text()
        (target / path).write_text(
            re.sub(pattern, lambda found: found[0].replace(found[1], VERSION), text, flags=re.MULTILINE)
        )
    changelog = target / "CHANGELOG.md"
    changelog.write_text(
        changelog.read_text().replace(
            "## [Unreleased]\n", f"## [Unreleased]\n\n## [{VERSION}] - 2026-12-01\n\n{NEWS}\n", 1
        )
    )
    readme = target / "README.md"
    readme.write_text(readme.read_text().replace(release.UNPUBLISHED, "published"))
    security = target / "SECURITY.md"
    text = security.read_text()
    for line, filled in CONTACTS.items():
        text = text.replace(line, filled)
    security.write_text(text)
    (target / ".venv").symlink_to(sys.prefix)
    for path in ("pyproject.toml", "requirements/run.txt", "requirements/dev.txt"):
        os.utime(target / path, (0, 0))  # older than what make made of them, so that it installs nothing


def runner(directory: Path, tag: str = TAG) -> Runner:
    assert (Path(sys.prefix) / "installed-dev").exists(), "this test runs in the environment that make has made"
    variables = {
        "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/bin:/bin",
        "HOME": str(directory),
        "PIP_NO_INDEX": "1",
        "GITHUB_REF_NAME": tag,
        "GITHUB_SHA": COMMIT,
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": PROJECT,
    }
    return Runner(directory, tagged, VALUES, variables, NOT_RUN)


class Done:
    """A release, as far as it goes without a network: the directories of its jobs."""

    def __init__(self, directory: Path) -> None:
        self.runner = runner(directory)
        self.runner.artefact("arm64").mkdir(parents=True)  # its job has no step but those of `build`
        self.jobs = {
            name: self.runner.job(name, RELEASE) for name in ("plugins", "build", "image", "publish", "release")
        }
        self.dist = self.runner.artefact("dist")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return Done(tmp_path_factory.mktemp("release"))


def test_every_step_has_run_or_has_its_reason(done: Done) -> None:
    names = [step["name"] for _, step in RELEASE.steps() if "run" in step]
    assert set(names) == set(done.runner.ran) | NOT_RUN.keys()
    assert not NOT_RUN.keys() & set(done.runner.ran)
    assert len(done.runner.ran) == 9
    assert {step["uses"].partition("@")[0] for _, step in RELEASE.steps() if "uses" in step} == OF_OTHERS | MOVE_FILES


def test_the_wheel_knows_its_commit_and_where_its_documentation_is(done: Done) -> None:
    with zipfile.ZipFile(done.dist / f"contrast_krm-{VERSION}-py3-none-any.whl") as wheel:
        assert f'__commit__ = "{COMMIT}"'.encode() in wheel.read("krm_function/__init__.py")
        address = f"https://github.com/{PROJECT}/blob/{TAG}/docs"
        assert f'DOCUMENTATION = "{address}"'.encode() in wheel.read("krm_function/findings/__init__.py")


def test_pypi_gets_the_wheel_and_the_source_distribution_alone(done: Done) -> None:
    names = {f"contrast_krm-{VERSION}-py3-none-any.whl", f"contrast_krm-{VERSION}.tar.gz"}
    assert set(os.listdir(done.jobs["publish"] / "pypi")) == names
    (publish,) = (step for _, step in RELEASE.steps() if "pypi-publish" in step.get("uses", ""))
    assert publish["with"]["packages-dir"] == "pypi"


def test_the_checksums_are_of_everything_that_is_published(done: Done) -> None:
    checked = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=done.dist, check=False)
    assert checked.returncode == 0
    listed = {line.split()[1] for line in (done.dist / "SHA256SUMS").read_text().splitlines()}
    assert listed == set(os.listdir(done.dist)) - {"SHA256SUMS"}


def test_the_release_says_what_the_changelog_says_and_which_image_it_is(done: Done) -> None:
    notes = (done.runner.directory / "temporary/notes.md").read_text()
    assert notes.startswith(f"{NEWS}\n")
    assert f"Image: `{IMAGE}@sha256:{'a' * 64}`, on `docker.io/library/python:3.13-slim@sha256:" in notes
    page = f"blob/{TAG}/docs/how-to/verify-a-release.md"
    assert page in notes
    assert (ROOT / page.partition(f"{TAG}/")[2]).exists()


def test_the_parts_list_is_that_of_the_lock_file_without_what_only_builds(done: Done) -> None:
    said = json.loads((done.dist / f"contrast-krm-{VERSION}.cdx.json").read_text())
    assert said["bomFormat"] == "CycloneDX"
    assert said["metadata"]["component"]["purl"] == f"pkg:pypi/contrast-krm@{VERSION}"
    parts = {re.sub(r"[-_.]+", "-", one["name"]).lower(): one["version"] for one in said["components"]}
    assert parts.pop("cpython")
    locked = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements/run.txt").read_text(), re.MULTILINE))
    assert parts.items() <= locked.items()
    assert {"pyyaml", "cryptography", "cffi", "jinja2", "markupsafe", "urllib3", "tqdm", "shtab"} <= parts.keys()
    assert not {"hatchling", "pluggy", "pytest", "pip", "kubernetes"} & parts.keys()
    assert all(one.get("licenses") for one in said["components"])
    text = (done.dist / f"contrast-krm-{VERSION}.cdx.json").read_text()
    assert str(ROOT) not in text
    assert "file:" not in text


def test_the_python_of_the_parts_list_is_that_of_the_bundle() -> None:
    (version,) = re.findall(r'^VERSION = "(.+)"', (ROOT / "tools/bundle.py").read_text(), re.MULTILINE)
    assert VERSIONS[version] == BUNDLED


# --- a tag that is not the version


@pytest.mark.parametrize("tag", ["v1.2.4", "1.2.3", "v1.2", "v1.2.3rc1", "v1.2.3\nv1.2.3", "main"])
def test_a_tag_that_is_not_the_version_stops_before_anything_is_built(tag: str, tmp_path: Path) -> None:
    for name in ("plugins", "build"):
        directory = tmp_path / name
        directory.mkdir()
        made = runner(directory, tag)
        with pytest.raises(Stopped, match="release: error: "):
            made.job(name, RELEASE)
        assert made.ran == []
        assert not (directory / name / "dist").exists()


READ = (*release.PLACES, *release.OTHERS)


def test_a_readme_that_denies_the_release_is_named(tmp_path: Path) -> None:
    tagged(tmp_path)
    texts = {name: (tmp_path / name).read_text() for name in READ}
    (problem,) = release.problems(TAG, texts | {"README.md": (ROOT / "README.md").read_text()})
    assert problem.startswith("README.md: ")


@pytest.mark.parametrize(("line", "filled"), CONTACTS.items())
def test_a_contact_that_is_missing_is_named(line: str, filled: str, tmp_path: Path) -> None:
    tagged(tmp_path)
    texts = {name: (tmp_path / name).read_text() for name in READ}
    (problem,) = release.problems(TAG, texts | {"SECURITY.md": texts["SECURITY.md"].replace(filled, line)})
    assert problem.startswith("SECURITY.md: no ")
    assert len(release.contacts((ROOT / "SECURITY.md").read_text())) in {0, 2}, "both, or neither yet"


def test_a_repository_of_another_owner_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagged(tmp_path)
    texts = {name: (tmp_path / name).read_text() for name in READ}
    monkeypatch.setenv("GITHUB_REPOSITORY", "other/contrast-krm")
    (problem,) = release.problems(TAG, texts)
    assert "other/contrast-krm" in problem


@pytest.mark.parametrize("path", [*release.PLACES, "CHANGELOG.md"])
def test_each_place_that_says_another_version_is_named(path: str, tmp_path: Path) -> None:
    tagged(tmp_path)
    texts = {name: (tmp_path / name).read_text() for name in READ}
    assert release.problems(TAG, texts) == []
    (problem,) = release.problems(TAG, texts | {path: texts[path].replace(VERSION, "1.2.2")})
    assert problem.startswith(f"{path}: ")


def test_a_section_without_a_word_or_a_date_is_none() -> None:
    assert release.notes("1.0.0", "## [1.0.0] - 2026-01-01\n\n- a\n\n## [0.9.0] - 2025-01-01\n- b\n") == "- a\n"
    for heading in ("[1.0.0]", "1.0.0 - 2026-01-01", "[1x0.0] - 2026-01-01", "[1.0.0] - soon"):
        assert release.notes("1.0.0", f"## {heading}\n\n- a\n") == ""
    assert release.notes("1.0.0", "## [1.0.0] - 2026-01-01\n\n## [0.9.0] - 2025-01-01\n- b\n") == ""


# --- the last look at what was built


def complete(done: Done, directory: Path, said: dict[str, str] | None = None) -> Path:
    """What was built, with stand-ins for what needs a network or a key."""
    for path in done.dist.iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    answer = json.dumps({"version": VERSION, "commit": COMMIT, "build": "bundle"} | (said or {}))
    program = {"x/contrast-krm": f"#!/bin/sh\necho '{answer}'\n"}
    pack(directory / f"contrast-krm-{VERSION}-linux-{MACHINE}.tar.gz", program)
    pack(directory / f"contrast-krm-{VERSION}-linux-{OTHER}.tar.gz", parts())
    pack(directory / f"contrast-krm-{VERSION}-image.tar", image())
    (directory / "release-key.gpg").write_bytes(b"key")
    entries = {
        "krm": f"image: {IMAGE}:{VERSION}\nsha256: 0\n",
        "kpt": f"sourceURL: https://github.com/x/tree/v{VERSION}\n",
    }
    for ending, text in entries.items():
        (directory / f"contrast-krm-{VERSION}.{ending}-function.yaml").write_text(text)
    packages(directory)
    (directory / f"contrast-krm-{VERSION}.artifacthub-repo.yml").write_text("owners: []\n")
    schemas = [{"url": f"https://github.com/x/raw/v{VERSION}/A.json"}]
    (directory / f"contrast-krm-{VERSION}.schemastore.json").write_text(json.dumps(schemas))
    for name in (f"contrast-krm-{VERSION}.tgz", f"helm3-contrast-{VERSION}.tar.gz"):
        digest = subprocess.run(["sha256sum", name], cwd=directory, capture_output=True, text=True, check=True).stdout
        text = f"-----BEGIN PGP SIGNED MESSAGE-----\nfiles:\n  {name}: sha256:{digest[:64]}\n"
        (directory / f"{name}.prov").write_text(text)
    sums(directory)
    return directory


def packages(directory: Path) -> None:
    """The entries that name the bundles, as far as they are looked at."""
    bundles = [f"contrast-krm-{VERSION}-linux-{machine}.tar.gz" for machine in (MACHINE, OTHER)]
    text = "".join(f"/v{VERSION}/{name} {sha256((directory / name).read_bytes()).hexdigest()}\n" for name in bundles)
    for ending in ("krew.yaml", "homebrew.rb"):
        (directory / f"contrast-krm-{VERSION}.{ending}").write_text(text)


def parts(commit: str = COMMIT) -> dict[str, str]:
    """The files of a bundle for another kind of machine, as far as they are looked at."""
    package = f"contrast-krm-{VERSION}-linux-{OTHER}/lib/krm_function"
    return {
        f"{package}/__init__.py": f'__version__ = "{VERSION}"\n__commit__ = "{commit}"\n',
        f"{package}/findings/__init__.py": f'DOCUMENTATION = "https://x/v{VERSION}/docs"\n',
    }


def pack(path: Path, files: dict[str, str]) -> None:
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(text), stat.S_IRWXU
            archive.addfile(member, io.BytesIO(text.encode()))


def image(revision: str = COMMIT, base: str = VALUES["needs.build.outputs.base"]) -> dict[str, str]:
    """The files of an OCI archive, as far as they are looked at."""
    name = "org.opencontainers.image."
    labels = {f"{name}version": VERSION, f"{name}revision": revision, "contrast-krm.dev/base": base}
    return {
        "index.json": '{"manifests": [{"digest": "sha256:0"}]}',
        "blobs/sha256/0": '{"manifests": [{"digest": "sha256:1"}]}',
        "blobs/sha256/1": '{"config": {"digest": "sha256:2"}}',
        "blobs/sha256/2": json.dumps({"architecture": "amd64", "config": {"Labels": labels}}),
    }


def sums(directory: Path) -> None:
    command = "rm -f SHA256SUMS; sha256sum -- * > ../sums; mv ../sums SHA256SUMS"
    subprocess.run(["sh", "-c", command], cwd=directory, check=True)


@pytest.fixture
def dist(done: Done, tmp_path: Path) -> Path:
    (tmp_path / "dist").mkdir()
    return complete(done, tmp_path / "dist")


def test_a_complete_release_passes(dist: Path) -> None:
    assert list(problems(str(dist), TAG, COMMIT)) == []


def lose(dist: Path) -> None:
    (dist / f"contrast_krm-{VERSION}.tar.gz").unlink()


def add(dist: Path) -> None:
    (dist / "notes.txt").write_text("x")


def unsigned(dist: Path) -> None:
    path = dist / f"contrast-krm-{VERSION}.tgz.prov"
    path.write_text(path.read_text().replace("-----BEGIN PGP SIGNED MESSAGE-----", ""))


def another_archive(dist: Path) -> None:
    (dist / f"helm3-contrast-{VERSION}.tar.gz").write_bytes((dist / f"contrast-krm-{VERSION}.tgz").read_bytes())


def other_bundle(dist: Path) -> None:
    pack(dist / f"contrast-krm-{VERSION}-linux-{MACHINE}.tar.gz", {"x/contrast-krm": "#!/bin/sh\necho '{}'\n"})
    packages(dist)


def dead_bundle(dist: Path) -> None:
    pack(
        dist / f"contrast-krm-{VERSION}-linux-{MACHINE}.tar.gz", {"x/contrast-krm": "#!/bin/sh\necho no >&2; exit 3\n"}
    )
    packages(dist)


def bundle_of_another_commit(dist: Path) -> None:
    pack(dist / f"contrast-krm-{VERSION}-linux-{OTHER}.tar.gz", parts("0" * 40))
    packages(dist)


def no_image(dist: Path) -> None:
    pack(dist / f"contrast-krm-{VERSION}-image.tar", {**image(), "blobs/sha256/0": '{"manifests": []}'})


def other_image(dist: Path) -> None:
    pack(dist / f"contrast-krm-{VERSION}-image.tar", image(f"{COMMIT}-dirty", "python:3.13-slim"))


def entry_of_another_image(dist: Path) -> None:
    path = dist / f"contrast-krm-{VERSION}.krm-function.yaml"
    path.write_text(path.read_text().replace("sha256: 0", "sha256: 2"))


def packages_of_another_bundle(dist: Path) -> None:
    path = dist / f"contrast-krm-{VERSION}.homebrew.rb"
    path.write_text(re.sub("[0-9a-f]{64}", "0" * 64, path.read_text()))


def packages_of_another_version(dist: Path) -> None:
    path = dist / f"contrast-krm-{VERSION}.krew.yaml"
    path.write_text(path.read_text().replace(f"/v{VERSION}/", "/v1.2.2/"))


UNNAMED = "does not name contrast-krm-1.2.3-linux-x86_64.tar.gz and its digest"


def other_schemas(dist: Path) -> None:
    path = dist / f"contrast-krm-{VERSION}.schemastore.json"
    path.write_text(path.read_text().replace(f"/v{VERSION}/", "/main/"))


def broken(dist: Path) -> None:
    (dist / f"contrast_krm-{VERSION}-py3-none-any.whl").write_bytes(b"no zip")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lose, "contrast_krm-1.2.3.tar.gz is missing"),
        (add, "notes.txt does not belong to a release"),
        (unsigned, "contrast-krm-1.2.3.tgz.prov: is not signed"),
        (another_archive, "helm3-contrast-1.2.3.tar.gz.prov: has the digest of another archive"),
        (other_bundle, f"contrast-krm-1.2.3-linux-{MACHINE}.tar.gz: says version None, commit None, build None"),
        (dead_bundle, f"contrast-krm-1.2.3-linux-{MACHINE}.tar.gz: does not run: no"),
        (bundle_of_another_commit, f"contrast-krm-1.2.3-linux-{OTHER}.tar.gz: is not of commit {COMMIT}"),
        (no_image, "contrast-krm-1.2.3-image.tar: holds no image"),
        (
            other_image,
            f"contrast-krm-1.2.3-image.tar: amd64 says revision {COMMIT}-dirty, a base without a digest",
        ),
        (entry_of_another_image, "contrast-krm-1.2.3.krm-function.yaml: has the digest of another image"),
        (packages_of_another_bundle, f"contrast-krm-1.2.3.homebrew.rb: {UNNAMED}"),
        (packages_of_another_version, f"contrast-krm-1.2.3.krew.yaml: {UNNAMED}"),
        (other_schemas, "contrast-krm-1.2.3.schemastore.json: is not of version 1.2.3"),
        (broken, "contrast_krm-1.2.3-py3-none-any.whl: cannot be read: File is not a zip file"),
    ],
)
def test_what_is_not_as_it_must_be_is_named(spoil: Callable[[Path], None], said: str, dist: Path) -> None:
    spoil(dist)
    sums(dist)
    assert list(problems(str(dist), TAG, COMMIT)) == [said]


def test_another_commit_another_version_and_stale_checksums_are_named(dist: Path) -> None:
    found = list(problems(str(dist), TAG, "f" * 40))
    assert len([line for line in found if "commit" in line or "revision" in line]) == 5, found
    assert any("is missing" in line for line in problems(str(dist), "v1.2.4", COMMIT))
    (dist / "release-key.gpg").write_bytes(b"another key")
    assert list(problems(str(dist), TAG, COMMIT)) == ["SHA256SUMS: is wrong about release-key.gpg"]


# --- rights


def test_each_job_has_the_rights_it_needs_and_no_more() -> None:
    assert RELEASE.permissions == {}
    assert {name: job["permissions"] for name, job in RELEASE.jobs.items()} == RIGHTS


def test_what_can_write_runs_no_code_of_the_repository_or_of_an_index() -> None:
    for name, rights in RIGHTS.items():
        if "write" in rights.values():
            scripts = " ".join(step.get("run", "") for step in RELEASE.jobs[name]["steps"])
            assert not re.search(r"\b(?:make|python|pip|npm|go)\b", scripts), name
            assert "actions/checkout" not in str(RELEASE.jobs[name]["steps"])


def test_nothing_is_published_before_everything_is_tested() -> None:
    needs = {
        name: {*([job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", []))}
        for name, job in RELEASE.jobs.items()
    }
    for name, rights in RIGHTS.items():
        if "write" in rights.values():
            before, left = set[str](), set(needs[name])
            while left:
                one = left.pop()
                before.add(one)
                left |= needs[one] - before
            assert before >= {"test", "build"}, name


def test_no_value_gets_into_a_script_as_text() -> None:
    assert [step["name"] for _, step in RELEASE.steps() if EXPRESSION.search(step.get("run", ""))] == []


def test_every_action_is_pinned_by_a_commit_that_ends_in_its_version() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text()
    used = re.findall(r"uses: (.+)", text)
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in used)
    assert len(set(used)) == len({one.partition("@")[0] for one in used}), "one commit of each"


def test_pyproject_names_the_repository_whose_attestations_count() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    page = (ROOT / "docs/how-to/verify-a-release.md").read_text()
    assert urls["Source"].removeprefix("https://github.com/") == PROJECT
    assert set(re.findall(r"--(?:repo|owner)[ =]([\w./-]+)", page)) == {PROJECT}
