"""Start-up is part of the product: what a render of ordinary workloads loads, by name.

A render is a new process each time (kustomize and Helm start one), so every module on this path is paid for each time.
"""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.inputs import options, ordinary, plain, quickstart, resource_list, stream
from krm_function.cli.commands import GROUPS, SUMMARIES, module_of
from tests.hosts.hosts import shared_config

NEVER = frozenset(
    (
        *("argparse", "asyncio", "dataclasses", "difflib", "email", "html", "http", "importlib.metadata", "inspect"),
        *("ipaddress", "logging", "multiprocessing", "pathlib", "random", "shutil", "socket", "ssl", "subprocess"),
        *("tempfile", "textwrap", "threading", "tomllib", "urllib", "jinja2", "jsonschema", "kubernetes", "ruamel"),
        *("ruamel.yaml", "backports", "tqdm", "urllib3"),
    )
)
NEW = frozenset(("io", "_types")) if sys.version_info >= (3, 14) else frozenset()  # what an older start has loaded
CURVES = "cryptography.hazmat.primitives.asymmetric.ec"  # for ID blocks and plain P-384 owner keys
KEY_FILES = "cryptography.hazmat.primitives.serialization"  # twice as long to load, for any other owner key
ELSEWHERE = frozenset(
    f"krm_function.{name}"
    for name in (
        *("operations", "provenance", "lock", "check", "config.json_schema", "policy.compare"),
        *(f"cli.{name}" for name in ("commands", "parser", "attest", "cluster", "inputs", "existing_files")),
        *("cli.lock_task", "cli.build", "cli.outputs", "policy.open_variables"),
        *("hosts.stream", "report.plan", "kubernetes.nodes", "kubernetes.placement"),
        *("adapt.secure_pv", "adapt.undone", "adapt.gpu_names", "render.proof", "render.volume_rules"),
    )
)


def test_what_must_not_be_loaded_exists() -> None:
    assert [name for name in sorted(ELSEWHERE) if find_spec(name) is None] == []


IMPORT = "import krm_function.cli.function"
RENDER = "from krm_function.cli import main\nsys.argv = ['contrast-krm']\nassert main() == 0"


def loaded(code: str, source: str = "") -> set[str]:
    """Run code in a new interpreter, and answer the modules that it has loaded; what it prints is thrown away."""
    whole = (
        f"import sys\nbefore = set(sys.modules)\n{code}\nprint('LOADED', *set(sys.modules) - before, file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", whole], input=source, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    said, _, names = run.stderr.rpartition("LOADED ")
    assert not said, "an ordinary render has nothing to say"
    return set(names.split())


@pytest.mark.parametrize("code", [IMPORT, RENDER])
def test_a_render_loads_nothing_that_it_does_not_need(code: str) -> None:
    names = loaded(code, quickstart(2))
    assert names & NEVER == set()
    assert names & ELSEWHERE == set()
    assert (CURVES in names) == (code == RENDER)
    assert KEY_FILES not in names


def test_a_render_without_policies_loads_nothing_that_makes_them() -> None:
    accepted = "acknowledged: [{code: CC0716, reason: another generator seals it}]"
    source = resource_list(plain(2), options(policies=False)).replace("policy: {", f"{accepted}\n    policy: {{", 1)
    names = loaded(RENDER, source)
    assert {name for name in names if name.split(".")[:2] == ["krm_function", "policy"]} == set()
    assert "krm_function.render.policies" not in names
    assert "krm_function.render.policies" in loaded(RENDER, quickstart(2))


def test_a_stream_of_which_nothing_is_contrasts_loads_next_to_nothing() -> None:
    code = "from krm_function.cli import main\nsys.argv = ['contrast-krm', 'post-render']\nassert main() == 0"
    names = loaded(code, stream(ordinary(10_000)))
    assert {name for name in names if "cython" not in name} - NEW == {
        *(
            "krm_function",
            "krm_function.text.libyaml",
            "krm_function.text.plain_values",
            "krm_function.text.separators",
            "krm_function.text",
            "krm_function.contrast",
            "krm_function.contrast.class_in_text",
            "krm_function.kubernetes",
            "krm_function.kubernetes.kinds",
        ),
        *("krm_function.hosts", "krm_function.hosts.pass_through"),
        *(f"krm_function.cli{name}" for name in ("", ".exits", ".main", ".streams", ".unconfigured")),
        *("yaml", "yaml._yaml", "yaml.error", "yaml.events", "yaml.nodes", "yaml.tokens", "__future__", "gc", "types"),
    }


def test_a_configured_stream_of_which_nothing_is_contrasts_loads_no_pipeline() -> None:
    code = (
        "from krm_function.cli import main\n"
        f"sys.argv = ['contrast-krm', 'post-render', '--config', {str(shared_config())!r}]\nassert main() == 0"
    )
    names = loaded(code, stream(ordinary(10_000)))
    assert "krm_function.config" in names
    assert {name for name in names if name.startswith("krm_function.render.")} == set()


def test_a_resource_list_of_which_nothing_is_contrasts_loads_no_pipeline() -> None:
    optional = f"{options(policies=True)}  workloads: optional\n"
    names = loaded(RENDER, resource_list(ordinary(10_000), optional))
    assert {name for name in names if name.startswith(("krm_function.render", "krm_function.policy"))} == set()


def test_more_of_openssl_is_loaded_for_owner_keys_other_than_plain_p384() -> None:
    bytes_of_a_p256_key = (
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt"
        "6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q=="
    )
    source, keys = re.subn("MHYw[^-]+", f"{bytes_of_a_p256_key}\n          ", quickstart(2))
    assert keys == 1
    names = loaded(RENDER, source)
    assert KEY_FILES in names
    assert names & NEVER <= {"dataclasses", "inspect", "random"}, "what OpenSSL's bindings need"


HEAVY = NEVER.union(("cryptography", "jsonpatch", "shtab"))
QUICK = Path(__file__).parents[1] / "examples" / "quickstart"
CONFIG = ("--config", str(QUICK / "config"))
COLOURED = ("dataclasses", "inspect") if sys.version_info >= (3, 14) else ()  # argparse loads them, coloured or not
PARSER = frozenset(("argparse", *COLOURED))
COMMAND_FILES = frozenset(module_of(name) for name in SUMMARIES if name not in GROUPS)
LIBRARIES = frozenset(("cryptography", "jinja2", "jsonpatch", "kubernetes", "ruamel", "tqdm", "urllib3"))
CURVED = PARSER.union(("cryptography",))
CALLS = {
    "generate": (str(QUICK / "resources"), *CONFIG),
    "plan": (str(QUICK / "resources"), *CONFIG),
    "assess": (str(QUICK / "resources"),),
    "explain": ("Deployment/web", str(QUICK / "resources"), *CONFIG),
    "diff": (str(QUICK / "resources"), *CONFIG),
    "check": ("RENDERED",),
    "guard": (),
    "uninject": ("RENDERED",),
    "manifest": ("RENDERED",),
    "schema": ("ContrastGenerate",),
    "policy settings": CONFIG,
    "release show": (str(QUICK / "config" / "release.yaml"),),
}
LOADS = {
    "generate": CURVED,
    "plan": CURVED.union(("textwrap",)),
    "assess": PARSER,
    "explain": CURVED,
    "diff": CURVED.union(("difflib",)),
    "check": CURVED.union(("tomllib",)),
    "guard": PARSER,
    "uninject": PARSER,
    "manifest": PARSER,
    "schema": PARSER,
    "policy settings": PARSER,
    "release show": PARSER,
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The quickstart, rendered."""
    file = str(tmp_path_factory.mktemp("startup") / "rendered.yaml")
    command = [sys.executable, "-c", "from krm_function.cli import main\nmain()"]
    subprocess.run([*command, "generate", *CALLS["generate"], "-o", file], capture_output=True, check=True)
    return file


@pytest.mark.parametrize("command", CALLS)
def test_every_command_loads_what_it_needs_and_nothing_else(command: str, rendered: str) -> None:
    arguments = [*command.split(), *(rendered if word == "RENDERED" else word for word in CALLS[command])]
    names = loaded(quiet(arguments))
    assert names & HEAVY == LOADS[command]
    assert "yaml.constructor" not in names, "the half of PyYAML that is written in Python"
    assert commands(names) == {command.replace(" ", "_")}
    assert {name for name in names if name.startswith("krm_function.provenance")} == set(), "only for attestations"


def quiet(arguments: list[str]) -> str:
    """The code of a call without what it says on standard error."""
    return (
        "import contextlib, io\nfrom krm_function.cli import main\n"
        f"sys.argv = ['contrast-krm', *{arguments!r}]\n"
        "with contextlib.redirect_stderr(io.StringIO()):\n    assert main() == 0"
    )


def commands(names: set[str]) -> set[str]:
    """The files of commands among some modules."""
    return {name.rpartition(".")[2] for name in names if ".commands." in name and name.startswith("krm_function.")}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["release", "--help"]], ids=" ".join)
def test_the_list_of_commands_loads_none_of_them(arguments: list[str]) -> None:
    assert commands(loaded(quiet(arguments))) == set()


def test_the_help_of_a_command_loads_that_command_alone_and_no_heavy_library() -> None:
    for name in SUMMARIES:
        if name in GROUPS:
            continue
        names = loaded(quiet([*name.split(), "--help"]))
        assert commands(names) == {name.replace(" ", "_").replace("-", "_")}
        assert names & LIBRARIES == set(), name


def test_completion_loads_every_command_and_no_heavy_library() -> None:
    names = loaded(quiet(["completion", "bash"]))
    assert names >= COMMAND_FILES
    assert names & LIBRARIES == set()


def test_assess_loads_nothing_that_writes_or_makes_a_manifest() -> None:
    names = loaded(quiet(["assess", *CALLS["assess"]]))
    unused = ("text.splice", "hosts.resource_list", "krm.kube_object")
    stages = ("render.pipeline", "render.write")
    never = {"locale", *(f"krm_function.{name}" for name in (*unused, *stages))}
    assert names & never == set()
    assert len(names) < 190, "each costs a fiftieth of a start of Python, and assess of one workload may take six"
