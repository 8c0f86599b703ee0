"""What the previous version rendered: secrets that every container could write, and a service mesh without memory.

data/previous-rendered.yaml is what it made of data/previous-input.yaml with the options of TO.
"""

from pathlib import Path

from krm_function.config.generate import ManifestOptions, PolicyOptions
from krm_function.render.read import read
from krm_function.text.parse import parse
from tests.world import config, documents, good, stream, values

DATA = Path(__file__).parent / "data"
INPUT = (DATA / "previous-input.yaml").read_text()
RENDERED = (DATA / "previous-rendered.yaml").read_text()
TO = config(
    platform="metal-qemu-tdx",
    image_store=True,
    policy=PolicyOptions(engine="none"),
    manifest=ManifestOptions(emit="none"),
)


def test_it_is_rendered_as_if_it_had_never_been() -> None:
    today = good(INPUT, to=TO)
    assert good(RENDERED, to=TO).texts == today.texts
    assert values(today) != [parse(RENDERED).value]


def test_it_can_still_be_taken_back_to_the_byte() -> None:
    source = read(stream(RENDERED))
    assert source.findings == ()
    assert documents(source)[0].text == f"---\n{INPUT}"


def test_a_mount_that_somebody_wrote_is_replaced_and_comes_back() -> None:
    mine = INPUT.replace(
        "mountPath: /scratch}", "mountPath: /scratch}\n        - {name: contrast-secrets, mountPath: /contrast} # mine"
    )
    (value,) = values(good(mine, to=TO))
    (web,) = value["spec"]["template"]["spec"]["containers"]
    assert web["volumeMounts"] == [
        {"name": "scratch", "mountPath": "/scratch"},
        {"name": "contrast-secrets", "mountPath": "/contrast", "readOnly": True},
    ]
    (text,) = good(mine, to=TO).texts
    assert documents(read(stream(str(text).removeprefix("---\n"))))[0].text == f"---\n{mine}"
