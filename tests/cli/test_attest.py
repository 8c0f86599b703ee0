"""`--attest`: a statement about the render that says all that decides its bytes, and nothing else."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

import krm_function
from krm_function.cli.build import this_build
from krm_function.cli.command_line import every_parser
from krm_function.cli.render_inputs import public_key
from krm_function.provenance.statement import BUILD_TYPE, Option, Role
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG, RESOURCES
from tests.failures.running import EXECUTABLE, listing, spawned
from tests.failures.world import World, canaries
from tests.wording import wording

ROOT = Path(__file__).parents[2]
STATEMENT = "statement.json"
ATTEST = ("--attest", STATEMENT)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def statement(shop: Shop, name: str = STATEMENT) -> Any:
    return json.loads((shop.directory / name).read_bytes())


def definition(shop: Shop) -> Any:
    return statement(shop)["predicate"]["buildDefinition"]


def subjects(shop: Shop) -> dict[str, str]:
    return {one["name"]: one["digest"]["sha256"] for one in statement(shop)["subject"]}


def materials(shop: Shop, role: str) -> dict[str, str]:
    """The files of one role."""
    read = definition(shop)["resolvedDependencies"]
    return {one["name"]: one["digest"]["sha256"] for one in read if one["annotations"]["role"] == role}


def digests_of(shop: Shop, *names: str) -> dict[str, str]:
    return {name: digest((shop.directory / name).read_bytes()) for name in names}


def test_the_statement_names_output_manifest_inputs_configuration_and_program(shop: Shop) -> None:
    assert shop.generate("-o", "out.yaml", *ATTEST).code == 0
    manifest = shop("manifest", "out.yaml").stdout
    assert subjects(shop) == {**digests_of(shop, "out.yaml"), "manifest.json": digest(manifest)}
    assert materials(shop, "input") == digests_of(shop, RESOURCES)
    assert materials(shop, "config") == digests_of(shop, CONFIG)
    made = definition(shop)
    assert len(made["resolvedDependencies"]) == 2
    assert made["buildType"] == BUILD_TYPE
    parameters = {"command": "generate", "paths": ["deployment"], "config": [CONFIG], "options": {}}
    assert made["externalParameters"] == parameters
    assert made["internalParameters"] == {"release": "v1.25.0", "profile": "contrast-1.25", "engine": "native"}
    version = statement(shop)["predicate"]["runDetails"]["builder"]["version"]
    build = this_build()
    assert (version["contrast-krm"], version["build"]) == (krm_function.__version__, build.kind)
    assert version.get("commit", "") == build.commit


def test_the_build_type_leads_to_the_page_that_describes_it() -> None:
    path, _, section = BUILD_TYPE.partition("/blob/main/")[2].partition("#")
    assert f"## {section}\n" in (ROOT / path).read_text()
    assert BUILD_TYPE in (ROOT / path).read_text()


def test_the_page_has_every_role_and_every_member() -> None:
    text = (ROOT / "docs/reference/render-provenance.md").read_text()
    for name in (*get_args(Role), "release", "profile", "engine", "command", "paths", "config", "options"):
        assert name in text


def test_the_same_render_gives_the_same_bytes_elsewhere_and_at_another_time(
    shop: Shop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert shop.generate("-o", "out.yaml", *ATTEST).code == 0
    other = tmp_path_factory.mktemp("other") / "place"
    other.mkdir()
    for name in (RESOURCES, CONFIG):
        (other / name).parent.mkdir(exist_ok=True)
        (other / name).write_bytes((shop.directory / name).read_bytes())
        os.utime(other / name, (0, 0))
    arguments = ("generate", "deployment", "--config", CONFIG, "-o", "out.yaml", *ATTEST)
    variables: dict[str, Any] = {
        "PYTHONHASHSEED": "7",
        "USER": "somebody",
        "HOME": str(other),
        "TZ": "Asia/Tokyo",
        "LANG": "C",
    }
    done = spawned(*arguments, directory=other, **variables)
    assert done.code == 0, done.stderr
    data = (shop.directory / STATEMENT).read_bytes()
    assert (other / STATEMENT).read_bytes() == data
    assert data.isascii()
    for private in (str(shop.directory), os.uname().nodename, str(Path.home())):
        assert private.encode() not in data


def test_no_value_of_the_input_is_in_it(shop: Shop) -> None:
    assert shop.generate("-o", "out.yaml", *ATTEST).code == 0
    assert not list(canaries((shop.directory / STATEMENT).read_text()))


def test_standard_input_and_output_are_named_so(shop: Shop) -> None:
    data = World().stream()
    run = shop("generate", "--config", CONFIG, *ATTEST, data=data)
    assert run.code == 0
    assert subjects(shop)["-"] == digest(run.stdout)
    assert materials(shop, "input") == {"-": digest(data)}
    assert definition(shop)["externalParameters"]["paths"] == ["-"]


def test_in_place_names_every_file_of_the_deployment_changed_or_not(shop: Shop) -> None:
    shop.write("deployment/other.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    before = digests_of(shop, "deployment/other.yaml", RESOURCES)
    assert shop.generate("--in-place", *ATTEST).code == 0
    after = digests_of(shop, "deployment/other.yaml", RESOURCES, "deployment/contrast-manifest.yaml")
    manifest = shop("manifest", "deployment").stdout
    assert subjects(shop) == {**after, "manifest.json": digest(manifest)}
    assert materials(shop, "input") == before
    assert after["deployment/other.yaml"] == before["deployment/other.yaml"]
    assert definition(shop)["externalParameters"]["options"] == {"in-place": True}

    assert shop.generate("--in-place", *ATTEST).code == 0, "of what is rendered already"
    assert subjects(shop) == {**after, "manifest.json": digest(manifest)}


def test_a_manifest_in_a_file_is_named_by_it_and_what_it_was_merged_with_is_an_input(shop: Shop) -> None:
    assert shop.generate("-o", "out.yaml", "-m", "m.json", *ATTEST).code == 0
    assert subjects(shop) == digests_of(shop, "out.yaml", "m.json")
    assert materials(shop, "manifest") == {}
    before = digests_of(shop, "m.json")
    assert shop.generate("-o", "out.yaml", "-m", "m.json", *ATTEST).code == 0
    assert materials(shop, "manifest") == before


def test_a_manifest_that_is_written_nowhere_is_no_output(shop: Shop) -> None:
    world = World()
    world.spec["manifest"] = {**world.spec.get("manifest", {}), "emit": "none"}
    shop.change(world)
    assert shop.generate("-o", "out.yaml", *ATTEST).code == 0
    assert set(subjects(shop)) == {"out.yaml"}


def test_options_that_change_the_output_are_in_it_with_the_files_they_name(shop: Shop) -> None:
    shop.write("replacements.txt", "".join(f"{name} = {image}\n" for name, image in WORLD_IMAGES.items()))
    assert shop("keys", "new", "--workload-owner", "--public", "owner.pub").code == 0
    flags = ("--image-replacements", "replacements.txt", "-w", "owner.pub", "--skip-service-mesh", "--namespace", "x")
    run = shop.generate("-o", "out.yaml", *flags, *ATTEST)
    assert run.code == 0, run.stderr
    assert definition(shop)["externalParameters"]["options"] == {
        "add-workload-owner-key": ["owner.pub"],
        "image-replacements": "replacements.txt",
        "namespace": "x",
        "skip-service-mesh": True,
    }
    assert materials(shop, "image-replacements") == digests_of(shop, "replacements.txt")
    assert materials(shop, "add-workload-owner-key") == digests_of(shop, "owner.pub")


WORLD_IMAGES = World()["release"]["spec"]["images"]


def test_of_a_private_key_only_the_public_half_has_a_digest(shop: Shop) -> None:
    assert shop("keys", "new", "--workload-owner", "-o", "owner.pem").code == 0
    assert shop.generate("-o", "out.yaml", "-w", "owner.pem", *ATTEST).code == 0
    private = (shop.directory / "owner.pem").read_text()
    assert materials(shop, "add-workload-owner-key") == {"owner.pem": digest(public_key(private).encode())}
    assert digest(private.encode()) not in (shop.directory / STATEMENT).read_text()


def test_every_option_of_generate_is_in_the_statement_or_known_not_to_change_the_output() -> None:
    elsewhere = {
        *("help", "paths", "config"),  # the last two have fields of their own
        *("output", "attest"),  # places
        *("format", "report", "color", "verbose", "quiet", "warnings_as_errors"),
    }
    (commands,) = (one for one in every_parser()._actions if hasattr(one, "choices") and one.choices)
    for name in ("generate", "post-render"):
        found = {one.dest for one in commands.choices[name]._actions}  # type: ignore[index]
        assert found - elsewhere <= {option.replace("-", "_") for option in get_args(Option)}
    assert {option.replace("-", "_") for option in get_args(Option)} <= {
        one.dest
        for one in commands.choices["generate"]._actions  # type: ignore[index]
    }


def test_a_name_that_is_no_unicode_is_written_with_its_bytes(shop: Shop) -> None:
    name = b"deployment/\xff.yaml"
    os.rename(os.fsencode(shop.directory / RESOURCES), os.fsencode(shop.directory) + b"/" + name)
    assert shop.generate("-o", "out.yaml", *ATTEST).code == 0
    assert list(materials(shop, "input")) == ["deployment/\\xff.yaml"]


# --- post-render


def test_a_post_renderer_says_the_same_of_its_stream(shop: Shop) -> None:
    data = World().stream()
    run = shop("post-render", "--config", CONFIG, *ATTEST, data=data)
    assert run.code == 0
    assert subjects(shop)["-"] == digest(run.stdout)
    assert materials(shop, "input") == {"-": digest(data)}
    assert materials(shop, "config") == digests_of(shop, CONFIG)
    assert definition(shop)["externalParameters"]["command"] == "post-render"
    assert run.stdout == shop("post-render", "--config", CONFIG, data=data).stdout


@pytest.mark.parametrize("options", [("--config", CONFIG), ()], ids=["configured", "not configured"])
def test_a_stream_that_passes_through_is_attested_as_well(options: tuple[str, ...], shop: Shop) -> None:
    data = b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
    run = shop("post-render", *options, *ATTEST, data=data)
    assert (run.code, run.stdout) == (0, data)
    assert subjects(shop) == {"-": digest(data)}
    assert set(materials(shop, "config")) == set(options[1:])


# --- where it may be written, and what a failure leaves

SERVICE = b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
PLACES = {
    "an input": (RESOURCES, (), wording("CC0909.attest-read", directory="deployment")),
    "an input by another path": (
        f"./deployment/../{RESOURCES}",
        (),
        "the next render would read it, because it is below",
    ),
    "the configuration": (CONFIG, (), "it is one of the inputs"),
    "the output": ("out.yaml", ("-o", "out.yaml"), wording("CC0909.lock-too")),
    "the output by another path": ("./out.yaml", ("-o", "out.yaml"), wording("CC0909.lock-too")),
    "the manifest": ("m.json", ("-o", "out.yaml", "-m", "m.json"), wording("CC0909.manifest-too")),
    "the report": ("r.txt", ("-o", "out.yaml", "--report", "r.txt"), wording("CC0909.file-of", other="--report")),
    "new objects": (
        "deployment/contrast-manifest.yaml",
        ("--in-place",),
        wording("CC0909.file-of", other="--in-place"),
    ),
    "a later input": ("deployment/new.yaml", ("-o", "out.yaml"), wording("CC0909.attest-read", directory="dep")),
    "rules": ("rules.rego", ("-o", "out.yaml", "-p", "rules.rego"), "it is one of the inputs"),
    "a drop-in": (
        "s/genpolicy-settings.d/a.json",
        ("-o", "o", "-s", "s"),
        "the next render would read it, because it is",
    ),
    "standard output": ("/dev/stdout", (), wording("CC0909.attest-printed")),
}


@pytest.mark.parametrize("place", PLACES)
def test_it_is_no_input_and_no_output(place: str, shop: Shop) -> None:
    file, options, said = PLACES[place]
    shop.write("rules.rego", "package agent_policy\n")
    (shop.directory / "s/genpolicy-settings.d").mkdir(parents=True)
    before = listing(shop.directory)
    run = shop.generate(*options, "--attest", file)
    assert run.code == 2
    assert run.stderr.startswith(f"error CC0909: --attest: {said}")
    assert run.stdout == b""
    assert {name: data for name, data in listing(shop.directory).items() if name != "r.txt"} == before


@pytest.mark.parametrize("shell", ["> out.yaml --attest out.yaml", "< in.yaml --attest in.yaml"])
def test_a_file_that_the_shell_has_opened_is_an_output_or_an_input(shell: str, shop: Shop) -> None:
    shop.write("in.yaml", World().stream())
    command = f"{EXECUTABLE} generate --config {CONFIG} {shell}"
    before = listing(shop.directory)
    done = subprocess.run(
        ["bash", "-c", command], cwd=shop.directory, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"error CC0909: --attest: " in done.stderr
    assert listing(shop.directory) == before | ({"out.yaml": b""} if ">" in shell else {})


@pytest.mark.parametrize("file", ["/dev/stderr", "/dev/fd/2", "/dev/null"])
def test_what_is_named_like_a_file_is_written_to(file: str, shop: Shop) -> None:
    run = shop.generate("-o", "out.yaml", "--attest", file)
    assert run.code == 0
    assert (json.loads(run.stderr)["_type"] if file != "/dev/null" else "") in {"", "https://in-toto.io/Statement/v1"}
    assert (shop.directory / "out.yaml").exists()


def no_digest(world: World) -> None:
    world.pod["containers"][0]["image"] = "registry.example.com/shop/web:1.0"


def broken(world: World) -> None:
    world.raw("web", lambda text: text + "  : [\n")


def no_release(world: World) -> None:
    del world.documents["release"]


@pytest.mark.parametrize("spoil", [no_digest, broken, no_release])
@pytest.mark.parametrize("options", [("-o", "out.yaml"), (), ("--in-place",)], ids=" ".join)
def test_nothing_is_written_on_a_failure(options: tuple[str, ...], spoil: Callable[[World], None], shop: Shop) -> None:
    world = World()
    spoil(world)
    shop.change(world)
    shop.write(STATEMENT, "old\n")
    before = listing(shop.directory)
    run = shop.generate(*options, *ATTEST)
    assert run.code in {1, 2}
    assert run.stdout == b""
    assert listing(shop.directory) == before
    run = shop("post-render", "--config", CONFIG, *ATTEST, data=world.stream())
    assert run.code in {1, 2}
    assert run.stdout == b""
    assert listing(shop.directory) == before


@pytest.mark.parametrize("command", ["generate", "post-render"])
def test_an_output_without_its_statement_is_not_printed(command: str, shop: Shop) -> None:
    """What cannot be written is known before the first byte of standard output."""
    run = shop(command, "--config", CONFIG, "--attest", "missing/statement.json", data=World().stream())
    assert (run.code, run.stdout) == (3, b"")
    assert "error CC1002 missing/statement.json: cannot be written: " in run.stderr


@pytest.mark.parametrize("command", ["generate", "post-render"])
def test_a_statement_about_an_output_that_no_one_has_is_not_written(command: str, shop: Shop) -> None:
    """A pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [EXECUTABLE, command, "--config", CONFIG, *ATTEST],
        cwd=shop.directory,
        input=World().stream(),
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 3, done.stderr
    assert f"so {STATEMENT} was not written either" in done.stderr.decode()
    assert not (shop.directory / STATEMENT).exists()
