"""Whatever Kubernetes' readers take for a pod is sealed, or the input is refused with a code and a place."""

import re
from collections import Counter
from pathlib import Path

import pytest

from krm_function.contrast.platforms import is_placeholder
from krm_function.kubernetes.workload import INITDATA
from tests.adversary.hiding_places import CORPUS, PLACES, Place
from tests.hosts.running import EXAMPLES, Ran, called
from tests.real_tools import needing
from tools.fuzz import go_reads

CONFIGURATION = [
    part
    for file in (
        Path(__file__).parent / "config.yaml",
        *sorted((EXAMPLES / "quickstart" / "config").glob("[ir]*.yaml")),
    )
    for part in ("--config", str(file))
]
STREAM_ONLY = re.compile(
    rb"\A[\xe3\xef]|\A\xff|(?m:^ *(?:---|\.\.\.|%))|\r|\xc2\x85|\xe2\x80[\xa8\xa9]|kind: ResourceList|\n\xef\xbb\xbf"
)
# that no other object names a namespace, and that a text has a placeholder
OTHERS = re.compile(r"^warning CC0(?:211|285)[ :].*\n(?:  .*\n)*(?:(?:more|for the files): .*\n)*", re.MULTILINE)
HEAD = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- "
IDS = [place.name for place in PLACES]


def gives(ran: Ran, data: bytes, wanted: str, name: str) -> None:
    """Hold what a command did with some data against the table. name: of the file, or what stands for it."""
    if wanted.startswith("CC"):
        assert ran.code == 1
        where = rf"{re.escape(name)}:[1-9]\d*:[1-9]\d*|[\w-]+ [\w.\[\]]+"
        assert re.search(rf"^error {wanted} (?:\S+ \S+ )?(?:{where})", ran.err, re.MULTILINE), ran.err
        return
    assert (ran.code, OTHERS.sub("", ran.err)) == (0, "")
    pods = go_reads(ran.out)
    assert [pod["runtimeClassName"] for pod in pods if is_placeholder(pod["runtimeClassName"])] == []
    for reader in ("kubectl", "kustomize"):
        before, after = (
            Counter(pod["name"] for pod in found if pod["reader"] == reader) for found in (go_reads(data), pods)
        )
        assert before - after == Counter()
    assert (INITDATA.encode() in ran.out) == (wanted == "sealed")


@pytest.mark.slow
@needing("goreaders")
@pytest.mark.parametrize("place", PLACES, ids=IDS)
def test_files_are_sealed_or_refused(place: Place, tmp_path: Path) -> None:
    file = tmp_path / f"{place.name}.yaml"
    if place.name == "sequence":  # a file without an object comes from another tool
        file.write_bytes(place.data)
        ran = called("generate", str(file), *CONFIGURATION)
        assert (ran.code, ran.out, "CC0121" in ran.err) == (1, b"", True)
        return
    file.write_bytes(place.data)
    ran = called("generate", str(file), *CONFIGURATION)
    gives(ran, place.data, place.gives, str(file))
    assert ran.code == 0 or ran.out == b""


@pytest.mark.slow
@needing("goreaders")
@pytest.mark.parametrize("place", PLACES, ids=IDS)
def test_a_stream_of_helm_is_sealed_or_refused(place: Place) -> None:
    ran = called("post-render", *CONFIGURATION, stdin=place.data)
    gives(ran, place.data, place.helm or place.gives, "<stdin>")
    assert ran.code == 0 or ran.out == b""


@pytest.mark.parametrize("place", PLACES, ids=IDS)
def test_helm_without_a_configuration_passes_no_such_pod(place: Place) -> None:
    """The early answer for streams without Contrast."""
    ran = called("post-render", stdin=place.data)
    assert (ran.code == 0) == (place.gives == "nothing")


IN_A_LIST = [place for place in PLACES if not STREAM_ONLY.search(place.data)]


@pytest.mark.slow
@needing("goreaders")
@pytest.mark.parametrize("place", IN_A_LIST, ids=[place.name for place in IN_A_LIST])
def test_an_item_of_a_function_is_sealed_or_comes_back_with_an_error(place: Place) -> None:
    listed = HEAD + place.data.replace(b"\n", b"\n  ").rstrip(b" ")
    ran = called("fn", *CONFIGURATION, stdin=listed)
    gives(ran, listed, place.gives, "<stdin>")
    assert ran.code == 0 or ran.out.startswith(listed.rstrip(b"\n"))


def test_every_file_of_the_corpus_has_its_row() -> None:
    assert sorted(path.stem for path in CORPUS.iterdir()) == sorted(IDS)
    assert all(place.why for place in PLACES)


NO_WAY_BACK = ("items-alias", "items-merged")  # a whole list behind an alias is written anew, its records with it
SEALED = [place for place in PLACES if place.gives == "sealed" and place.name not in NO_WAY_BACK]


@pytest.mark.slow
@needing("goreaders")
@pytest.mark.parametrize("place", SEALED, ids=[place.name for place in SEALED])
def test_what_was_sealed_renders_to_itself_and_can_be_taken_back(place: Place) -> None:
    once = called("generate", *CONFIGURATION, stdin=place.data).ok()
    assert called("generate", *CONFIGURATION, stdin=once).ok() == once
    back = called("uninject", stdin=once).ok()
    assert [pod["spec"] for pod in go_reads(back)] == [pod["spec"] for pod in go_reads(place.data)]
