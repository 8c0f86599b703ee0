"""`init`: what is there stays, what is missing is added, once."""

import json
from pathlib import Path

import pytest
import yaml

from krm_function.config.collect import collect
from krm_function.config.document import ConfigDocument
from krm_function.config.wiring import NEW_FILES
from tests.failures.running import Run, Zygote, listing
from tests.wording import wording

MINE = """# Production. Ask Jo before you change anything.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../prod      # the shop

# the coordinator
- coordinator.yaml
images: [{name: web, newTag: "1"}]   # keep
"""
PACKAGE = """apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop # ours
pipeline:
  mutators:
    - image: example.com/set-labels:v1 # first
      configMap: {app: shop}
"""


class Deployment:
    def __init__(self, directory: Path, call: Zygote) -> None:
        self.directory = directory
        self._call = call

    def init(self, *arguments: str) -> Run:
        run = self._call("init", *arguments, directory=self.directory)
        assert "Traceback" not in run.stderr
        return run

    def write(self, name: str, text: str) -> None:
        (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (self.directory / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.directory / name).read_text()


@pytest.fixture
def here(tmp_path: Path, call: Zygote) -> Deployment:
    return Deployment(tmp_path, call)


def test_schemas_are_not_written_through_a_link(here: Deployment) -> None:
    here.write("over/kustomization.yaml", "resources: []\n")
    (here.directory / "elsewhere").mkdir()
    (here.directory / "over/.contrast-krm").symlink_to("../elsewhere")
    run = here.init("over")
    assert run.code == 3
    assert "CC1002" in run.stderr
    assert not list((here.directory / "elsewhere").iterdir())
    assert not (here.directory / "over/contrast.yaml").exists()


def without(text: str, *lines: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() not in lines)


def test_a_kustomization_keeps_its_text(here: Deployment) -> None:
    here.write("kustomization.yaml", MINE)
    assert here.init().code == 0
    after = here.read("kustomization.yaml")
    added = ("- release.yaml", "- images.yaml", "transformers:", "- contrast.yaml")
    assert without(after, *added) == MINE
    value = yaml.safe_load(after)
    assert value["resources"] == ["../prod", "coordinator.yaml", "release.yaml", "images.yaml"]
    assert value["transformers"] == ["contrast.yaml"]


def test_a_kptfile_keeps_its_text(here: Deployment) -> None:
    here.write("Kptfile", PACKAGE)
    assert here.init(".").code == 0
    added = "    - exec: contrast-krm\n      configPath: contrast.yaml\n"
    assert here.read("Kptfile") == PACKAGE + added


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization", "Kptfile"])
def test_a_second_time_changes_nothing(name: str, here: Deployment) -> None:
    here.write(f"shop/{name}", PACKAGE if name == "Kptfile" else MINE)
    assert here.init("shop").code == 0
    before = listing(here.directory)
    run = here.init("shop")
    assert (run.code, run.stdout) == (0, b"")
    assert run.stderr.startswith("nothing to do\nnext:\n")
    assert listing(here.directory) == before


@pytest.mark.parametrize("host", ["kustomize", "kpt"])
@pytest.mark.parametrize("platform", ["", "metal-qemu-tdx"])
def test_the_new_files_are_a_configuration(host: str, platform: str, here: Deployment) -> None:
    assert here.init(f"--{host}", *(("--platform", platform) if platform else ())).code == 0
    documents = [ConfigDocument(yaml.safe_load(here.read(name)), name) for name in NEW_FILES.values()]
    config, findings = collect(documents)
    assert findings == ()
    assert config is not None
    assert config.generate.platform == platform
    assert config.generate.manifest.emit == ("ConfigMap" if host == "kustomize" else "LocalConfig")
    for document in documents:
        assert document.value["metadata"]["annotations"]["config.kubernetes.io/local-config"] == "true"


@pytest.mark.parametrize("kind", NEW_FILES)
def test_every_new_file_names_a_schema_that_is_there(kind: str, here: Deployment) -> None:
    assert here.init("--kustomize").code == 0
    first = here.read(NEW_FILES[kind]).splitlines()[0]  # type: ignore[index]
    path = first.removeprefix("# yaml-language-server: $schema=")
    assert path != first
    assert json.loads(here.read(path))["title"] == kind


def test_what_the_comments_of_a_new_file_say_can_be_taken_literally(here: Deployment) -> None:
    """Each commented field, without its `# `, is a configuration."""
    assert here.init("--kustomize").code == 0
    lines = here.read("contrast.yaml").splitlines()
    start = lines.index("  # scheduling:")
    lines[start : start + 4] = [line.replace("# ", "", 1) for line in lines[start : start + 4]]
    start = lines.index("    # referenceValues:")
    lines[start : start + 3] = [line.replace("# ", "", 1) for line in lines[start : start + 3]]
    value = yaml.safe_load("\n".join(lines).replace("# platform:", "platform:"))
    assert set(value["spec"]) == {"platform", "scheduling", "runtimeClasses", "manifest", "workloads"}
    assert "MinimumTCB" in value["spec"]["manifest"]["referenceValues"]["snp"]
    release = yaml.safe_load(here.read("release.yaml"))
    _, findings = collect([ConfigDocument(value), ConfigDocument(release)])
    assert findings == ()


@pytest.mark.parametrize(
    ("there", "arguments", "said"),
    [
        ((), (), f"{wording('CC1310.neither')} in ."),
        (("kustomization.yaml", "Kptfile"), (), f"{wording('CC1310.both')} in ."),
        (("kustomization.yaml", "Kustomization"), (), "more than one Kustomization: kustomization.yaml, Kustomization"),
        (("kustomization.yaml",), ("--platform", "metal-qemu-tdy"), "use metal-qemu-tdx"),
        (("kustomization.yaml",), ("--kustomize", "--kpt"), "not allowed with"),
        (("kustomization.yaml",), ("nowhere",), "no such directory"),
        (("kustomization.yaml",), ("kustomization.yaml", "--kpt"), "not a directory"),
        (("kustomization.yaml",), ("config", "--files", "kustomization.yaml"), "not a directory"),
        (("kustomization.yaml",), ("config", "--files", "nowhere"), "nowhere"),
        (("kustomization.yaml",), ("config", "--files", "--kpt"), "not allowed with"),
    ],
)
def test_a_choice_that_is_not_clear_is_the_users(
    there: tuple[str, ...], arguments: tuple[str, ...], said: str, here: Deployment
) -> None:
    for name in there:
        here.write(name, PACKAGE if name == "Kptfile" else MINE)
    before = listing(here.directory)
    run = here.init(*arguments)
    assert run.code in {1, 2, 3}
    assert said in run.stderr
    assert listing(here.directory) == before


@pytest.mark.parametrize(("flag", "file"), [("--kustomize", "kustomization.yaml"), ("--kpt", "Kptfile")])
def test_a_flag_decides(flag: str, file: str, here: Deployment) -> None:
    here.write("kustomization.yaml", MINE)
    here.write("Kptfile", PACKAGE)
    other = "Kptfile" if file != "Kptfile" else "kustomization.yaml"
    before = here.read(other)
    assert here.init(flag).code == 0
    assert "contrast.yaml" in here.read(file)
    assert here.read(other) == before


def test_a_new_kustomization_lists_the_resources_that_are_there(here: Deployment) -> None:
    here.write("web.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    here.write("notes.yaml", "not: an object\n")
    here.write("broken.yaml", "a: [\n")
    here.write("values.txt", "a: b\n")
    assert here.init("--kustomize").code == 0
    assert yaml.safe_load(here.read("kustomization.yaml"))["resources"] == ["web.yaml", "release.yaml", "images.yaml"]


def test_configuration_that_is_there_is_used_where_it_is(here: Deployment) -> None:
    assert here.init("--kustomize").code == 0
    files = {kind: here.read(name) for kind, name in NEW_FILES.items()}
    shop = Deployment(here.directory / "shop", here._call)
    shop.write("kustomization.yaml", MINE)
    shop.write("facts/lock.yaml", files["ImageLock"])
    shop.write("my-release.yaml", files["ContrastRelease"])
    shop.write("options.yaml", "# mine\n" + without(files["ContrastGenerate"]))
    shop.write("kustomization.yaml", MINE.replace("images:", "- ./facts/lock.yaml\nimages:"))
    assert shop.init().code == 0
    value = yaml.safe_load(shop.read("kustomization.yaml"))
    assert value["resources"] == ["../prod", "coordinator.yaml", "./facts/lock.yaml", "my-release.yaml"]
    assert value["transformers"] == ["options.yaml"]
    assert not any((shop.directory / name).exists() for name in NEW_FILES.values())


def test_a_configuration_for_files_gets_the_program_that_kustomize_runs(here: Deployment) -> None:
    for metadata in ("metadata:\n  name: a # mine\n", "metadata: {name: a, annotations: {b: c}}\n"):
        plain = f"# mine\napiVersion: contrast-krm.dev/v1alpha1\nkind: ContrastGenerate\n{metadata}"
        here.write("kustomization.yaml", MINE)
        here.write("contrast.yaml", plain)
        assert here.init().code == 0
        value = yaml.safe_load(here.read("contrast.yaml"))
        function = yaml.safe_load(value["metadata"]["annotations"]["config.kubernetes.io/function"])
        assert function == {"exec": {"path": "contrast-krm"}}
        assert here.read("contrast.yaml").startswith("# mine\n")


def test_the_coordinator_that_lies_there_is_listed(here: Deployment) -> None:
    coordinator = (Path(__file__).parents[2] / "examples/quickstart/resources/coordinator.yaml").read_text()
    here.write("kustomization.yaml", "resources:\n- web.yaml\n")
    here.write("my-coordinator.yml", coordinator)
    assert here.init().code == 0
    resources = ["web.yaml", "my-coordinator.yml", "release.yaml", "images.yaml"]
    assert yaml.safe_load(here.read("kustomization.yaml"))["resources"] == resources


def test_a_second_coordinator_is_not_listed(here: Deployment) -> None:
    coordinator = (Path(__file__).parents[2] / "examples/quickstart/resources/coordinator.yaml").read_text()
    here.write("kustomization.yaml", "resources:\n- one.yml\n")
    here.write("one.yml", coordinator)
    here.write("other.yml", coordinator)
    assert here.init().code == 0
    resources = ["one.yml", "release.yaml", "images.yaml"]
    assert yaml.safe_load(here.read("kustomization.yaml"))["resources"] == resources


@pytest.mark.parametrize("host", ["kustomize", "kpt"])
def test_a_platform_is_added_to_a_configuration_that_has_none(host: str, here: Deployment) -> None:
    assert here.init(f"--{host}").code == 0
    before = here.read("contrast.yaml")
    assert here.init("--platform", "Metal-QEMU-TDX").code == 0
    assert without(here.read("contrast.yaml"), "platform: metal-qemu-tdx") == before
    run = here.init("--platform", "metal-qemu-tdx")
    assert (run.code, run.stderr.splitlines()[0]) == (0, "nothing to do")
    run = here.init("--platform", "metal-qemu-snp")
    assert run.code == 1
    assert "spec.platform is metal-qemu-tdx already" in run.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("kustomization.yaml", "kind: Component\n", "its kind is Component"),
        ("kustomization.yaml", "- a\n", "it is not a map"),
        ("kustomization.yaml", "resources: a.yaml\n", "resources is not a list"),
        ("kustomization.yaml", "transformers: {}\n", "transformers is not a list"),
        ("kustomization.yaml", "a: [\n", "not valid YAML"),
        ("Kptfile", "kind: Kustomization\n", "its kind is not Kptfile"),
        ("Kptfile", "kind: Kptfile\npipeline: []\n", "pipeline is not a map"),
        ("Kptfile", "kind: Kptfile\npipeline: {mutators: {}}\n", "pipeline.mutators is not a list"),
    ],
)
def test_a_file_that_cannot_be_wired_stays(name: str, text: str, said: str, here: Deployment) -> None:
    here.write(name, text)
    run = here.init()
    assert (run.code, run.stdout) == (1, b"")
    assert said in run.stderr
    assert listing(here.directory) == {name: text.encode()}


def test_a_file_of_that_name_that_is_something_else_stays(here: Deployment) -> None:
    here.write("kustomization.yaml", MINE)
    here.write("images.yaml", "images: []\n")
    before = listing(here.directory)
    run = here.init()
    assert run.code == 1
    assert "images.yaml" in run.stderr
    assert wording("CC1311.taken", kind="ImageLock") in run.stderr
    assert listing(here.directory) == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "resources: []\n",
        "resources:\n",
        "resources: [a.yaml] # c\n",
        "resources:\r\n- a.yaml\r\n",
        "\ufeffkind: Kustomization\n",
    ],
    ids=["empty", "empty list", "null", "flow", "CRLF", "BOM"],
)
def test_any_form_of_list_is_appended_to(text: str, here: Deployment) -> None:
    (here.directory / "kustomization.yaml").write_bytes(text.encode())
    assert here.init().code == 0
    data = (here.directory / "kustomization.yaml").read_bytes()
    value = yaml.safe_load(data.decode("utf-8-sig"))
    assert value["resources"][-2:] == ["release.yaml", "images.yaml"]
    assert value["transformers"] == ["contrast.yaml"]
    assert data.startswith(b"\xef\xbb\xbf") == text.startswith("\ufeff")
    assert data.count(b"\n") == data.count(b"\r\n") or "\r" not in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kustomization.yaml", "transformers: [contrast.yaml, later.yaml]\n"),
        ("Kptfile", PACKAGE.replace("    - image:", "    - exec: /opt/contrast-krm\n    - image:")),
    ],
)
def test_something_after_the_function_is_a_warning(name: str, text: str, here: Deployment) -> None:
    here.write(name, text)
    run = here.init()
    assert run.code == 0
    assert "warning CC1312" in run.stderr


@pytest.mark.parametrize(
    "mutator", ["exec: contrast-krm", "exec: /opt/bin/contrast-krm --x", "image: r.example/contrast-krm:v1"]
)
def test_a_mutator_that_is_there_is_recognised(mutator: str, here: Deployment) -> None:
    text = f"kind: Kptfile\npipeline:\n  mutators:\n    - {mutator}\n"
    here.write("Kptfile", text)
    assert here.init().code == 0
    assert here.read("Kptfile") == text


def test_a_dry_run_writes_nothing_and_shows_all(here: Deployment) -> None:
    here.write("kustomization.yaml", MINE)
    before = listing(here.directory)
    run = here.init("--dry-run")
    assert run.code == 0
    assert listing(here.directory) == before
    assert here.init().code == 0
    shown = run.stdout.decode()
    for name in (*NEW_FILES.values(), "kustomization.yaml"):
        assert f"+++ ./{name}\n" in shown
        assert all(f"+{line}\n" in shown for line in here.read(name).splitlines() if line not in MINE.splitlines())
    assert here.init("--dry-run").stdout == b""


def test_next_steps_go_away_one_by_one(here: Deployment) -> None:
    here.write("kustomization.yaml", "resources: [coordinator.yaml]\n")
    said = here.init().stderr
    assert [line[2] for line in said.split("next:\n")[1].splitlines()[::2]] == [*"123456789"]
    here.write(
        "coordinator.yaml", (Path(__file__).parents[2] / "examples/quickstart/resources/coordinator.yaml").read_text()
    )
    here.write("contrast.yaml", here.read("contrast.yaml").replace("# platform:", "platform:"))
    here.write("images.yaml", here.read("images.yaml").replace("{}", "{a: {digest: x}}"))
    left = here.init().stderr.split("next:\n")[1].splitlines()[1::2]
    assert [line.split()[:3] for line in left] == [
        ["kustomize", "build", "--enable-alpha-plugins"],
        ["contrast", "--version", "|"],
        ["contrast-krm", "keys", "new"],
        ["contrast-krm", "keys", "new"],
        ["contrast-krm", "init", "."],
        ["contrast-krm", "release", "runtime-classes"],
        ["kustomize", "build", "--enable-alpha-plugins"],
    ]


# --- values, Helm, and what the steps say


@pytest.mark.parametrize("host", ["kustomize", "kpt", "helm"])
def test_runtime_classes_are_left_to_the_owner_of_the_cluster(host: str, here: Deployment) -> None:
    here.write("chart/Chart.yaml", "name: shop\n")
    asked = ("config", "--helm", "chart") if host == "helm" else (".", f"--{host}")
    assert here.init(*asked).code == 0
    lines = here.read("config/contrast.yaml" if host == "helm" else "contrast.yaml").splitlines()
    at = lines.index("  runtimeClasses: check")
    assert "contrast-krm release runtime-classes" in lines[at - 2]


def test_the_schemas_are_announced_once(here: Deployment) -> None:
    here.write("kustomization.yaml", MINE)
    assert "created ./.contrast-krm: JSON Schemas for editors" in here.init().stderr
    assert ".contrast-krm" not in here.init().stderr


TCB = "BootloaderVersion=9,TEEVersion=0,SNPVersion=21,MicrocodeVersion=72"
SEAM = "Ab" * 48


@pytest.mark.parametrize("host", ["kustomize", "kpt"])
def test_values_of_an_operator_are_added_and_comments_stay(host: str, here: Deployment) -> None:
    assert here.init(f"--{host}").code == 0
    before = here.read("contrast.yaml")
    run = here.init("--minimum-tcb", TCB, "--mr-seam", SEAM)
    assert run.code == 0
    assert "changed ./contrast.yaml: reference values for SNP\n" in run.stderr
    after = here.read("contrast.yaml")
    rest = iter(after.splitlines())
    assert all(line in rest for line in before.splitlines())
    config, findings = collect([ConfigDocument(yaml.safe_load(here.read(name))) for name in NEW_FILES.values()])
    assert (findings, config is None) == ((), False)
    assert config is not None
    assert config.generate.manifest.reference_values["tdx"][0]["MrSeam"] == SEAM.lower()
    tcb = config.generate.manifest.reference_values["snp"][0]["MinimumTCB"]
    assert ",".join(f"{name}={number}" for name, number in tcb.items()) == TCB
    assert here.init("--minimum-tcb", TCB, "--mr-seam", SEAM).stderr.startswith("nothing to do\n")


def test_values_that_are_there_stay(here: Deployment) -> None:
    assert here.init("--kustomize", "--minimum-tcb", TCB).code == 0
    before = listing(here.directory)
    run = here.init("--minimum-tcb", TCB.replace("21", "22"))
    assert run.code == 1
    assert "spec.manifest.referenceValues.snp is set already; change it there" in run.stderr
    assert listing(here.directory) == before


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--minimum-tcb", TCB.replace("72", "256")),
        ("--minimum-tcb", TCB.replace("SNP", "Snp")),
        ("--minimum-tcb", f"{TCB},TEEVersion=1"),
        ("--minimum-tcb", TCB.replace("9", "-9")),
        ("--minimum-tcb", TCB.replace(",", " ")),
        ("--mr-seam", "ab" * 47),
        ("--mr-seam", "xy" * 48),
    ],
)
def test_values_of_another_form_are_refused_and_nothing_is_written(option: str, text: str, here: Deployment) -> None:
    run = here.init("--kustomize", f"{option}={text}")
    assert run.code == 2
    assert f"error CC0909: {option}: " in run.stderr
    assert listing(here.directory) == {}


def test_values_are_asked_for_by_the_hardware_in_use(here: Deployment) -> None:
    here.write("base/kustomization.yaml", "resources: [web.yaml, ../overlay]\n")
    here.write("base/web.yaml", "kind: Pod\nspec: {runtimeClassName: contrast-cc-metal-qemu-tdx}\n")
    here.write("overlay/kustomization.yaml", "resources: [../base]\n")
    said = here.init("overlay", "--platform", "metal-qemu-snp").stderr
    assert "--minimum-tcb" in said
    assert "--mr-seam HEX" in said
    said = here.init("overlay", "--minimum-tcb", TCB, "--mr-seam", SEAM).stderr
    assert "--minimum-tcb" not in said
    assert "--mr-seam" not in said


@pytest.mark.parametrize(
    ("ignored", "command"),
    [
        (None, "echo '*-owner.pem' >> .gitignore && contrast-krm keys new --workload-owner"),
        ("out\n", "echo '*-owner.pem' >> .gitignore && contrast-krm keys new --workload-owner"),
        ("out", "printf '\\n%s\\n' '*-owner.pem' >> .gitignore && contrast-krm keys new --workload-owner"),
        ("out\n*.pem\n", "     contrast-krm keys new --workload-owner"),
        ("*-owner.pem\n", "     contrast-krm keys new --workload-owner"),
    ],
)
def test_private_keys_stay_out_of_git(ignored: str | None, command: str, here: Deployment) -> None:
    here.write(".git/HEAD", "ref: refs/heads/main\n")
    if ignored is not None:
        here.write(".gitignore", ignored)
    said = here.init("--kustomize").stderr
    assert command in said
    assert said.count(".gitignore") == ("gitignore" in command)


def test_a_chart_gets_its_configuration_in_a_directory_of_its_own(here: Deployment) -> None:
    here.write("my chart/Chart.yaml", "name: shop\nversion: 1.0.0\n")
    before = listing(here.directory)
    run = here.init("config", "--helm", "my chart", "--dry-run")
    assert run.code == 0
    assert listing(here.directory) == before
    run = here.init("config", "--helm", "my chart")
    assert run.code == 0
    assert {name for name in listing(here.directory) if "schema" not in name} == {
        "my chart/Chart.yaml", "config/contrast.yaml", "config/release.yaml", "config/images.yaml"
    }  # fmt: skip
    assert "helm template shop 'my chart' | contrast-krm lock --config config -o config/images.yaml\n" in run.stderr
    here.write("my chart/values.yaml", "a: b\n")
    coordinator = "{{ if 1 }}\ncontrast.edgeless.systems/pod-role: coordinator\n{{ end }}\n"
    here.write("my chart/templates/coordinator.yml", coordinator)
    said = here.init("config", "--helm", "my chart").stderr
    assert said.startswith("nothing to do\n")
    assert "--write-values 'my chart/values.yaml'" in said
    assert "coordinator.yml" not in said.split("release import")[0]
    here.write("config/more.yaml", "a: b\n")
    assert (
        "--config config/contrast.yaml --config config/release.yaml" in here.init("config", "--helm", "my chart").stderr
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("config", "--helm", "nowhere"), f"{wording('CC1310.no-chart')} in nowhere"),
        (("chart",), f"{wording('CC1310.chart')} in chart"),
        (("a/b", "--helm", "chart"), "a/b"),
        (("chart/Chart.yaml", "--helm", "chart"), "not a directory"),
        (("config", "--helm", "chart", "--kpt"), "not allowed with"),
    ],
)
def test_a_chart_that_is_not_there_is_named(arguments: tuple[str, ...], says: str, here: Deployment) -> None:
    here.write("chart/Chart.yaml", "name: shop\n")
    before = listing(here.directory)
    run = here.init(*arguments)
    assert run.code in {1, 2, 3}
    assert says in run.stderr
    assert listing(here.directory) == before


@pytest.mark.parametrize("host", [("--kustomize",), ("--kpt",), ("--files",), ("--files", "res")], ids=" ".join)
def test_a_directory_that_is_missing_is_made(host: tuple[str, ...], here: Deployment) -> None:
    here.write("res/web.yaml", "a: b\n")
    run = here.init("config", *host)
    assert run.code == 0, run.stderr
    assert (here.directory / "config/images.yaml").is_file()


def test_plain_files_have_steps_of_their_own(here: Deployment) -> None:
    here.write("my res/deep/web.yaml", "a: b # contrast-cc-metal-qemu-tdx\n")
    said = here.init("config", "--files", "my res").stderr
    commands = [line.strip() for line in said.splitlines() if line.startswith("     ")]
    assert "cp coordinator.yml 'my res'" in commands
    assert "contrast-krm init config --files 'my res' --mr-seam HEX" in commands, "by the placeholders"
    lock = "contrast-krm lock 'my res' --config config -o config/images.yaml --write-files 'my res'"
    assert lock in commands
    generate = "contrast-krm generate 'my res' --config config -o rendered.yaml"
    assert commands[-1] == f"{generate} && contrast-krm check rendered.yaml --config config"
    assert listing(here.directory).keys() >= {"config/contrast.yaml", "config/release.yaml", "config/images.yaml"}


@pytest.mark.parametrize(
    ("arguments", "render"),
    [
        (("shop", "--files"), "contrast-krm generate shop -o rendered.yaml"),
        (
            (".", "--files", "shop"),
            "contrast-krm generate shop "
            + " ".join(f"--config ./{name}.yaml" for name in ("contrast", "release", "images"))
            + " -o rendered.yaml",
        ),
        ((".", "--files"), "contrast-krm generate . -o ../rendered.yaml"),
        (("config", "--files", "."), "contrast-krm generate . --config config -o ../rendered.yaml"),
    ],
    ids=["with-them", "above-them", "here", "below-them"],
)
def test_rendered_output_is_put_where_it_is_no_input(arguments: tuple[str, ...], render: str, here: Deployment) -> None:
    here.write("shop/web.yaml", "a: b\n")
    assert f"     {render} && contrast-krm check" in here.init(*arguments).stderr


def test_paths_with_spaces_are_quoted_in_each_argument(here: Deployment) -> None:
    here.write("chart/Chart.yaml", "name: shop\n")
    here.write("my config/more.yaml", "a: b\n")
    said = here.init("my config", "--helm", "chart").stderr
    files = ("contrast", "release", "images")
    wanted = "".join(f" --post-renderer-args --config --post-renderer-args 'my config/{name}.yaml'" for name in files)
    assert f"--post-renderer contrast-krm --post-renderer-args post-render{wanted}\n" in said


def test_a_default_platform_is_one_of_the_release(here: Deployment) -> None:
    assert here.init("--kustomize").code == 0
    assert " init . --platform metal-qemu-snp\n" in here.init().stderr
    here.write(
        "release.yaml", here.read("release.yaml").replace("platforms: {}", "platforms: {metal-qemu-tdx: {handler: x}}")
    )
    said = here.init().stderr
    assert "contrast-cc: this one:\n     contrast-krm init . --platform metal-qemu-tdx\n" in said
