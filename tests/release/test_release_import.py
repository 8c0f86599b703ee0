"""`release import`: files of a release in, one ContrastRelease out, or one finding a fact that does not fit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krm_function.config.document import ConfigDocument
from krm_function.config.release import parse_release
from krm_function.config.release_files import Fact
from krm_function.config.release_text import combine
from krm_function.config.wiring import new_file
from tests import quick_yaml as yaml
from tests.failures.running import Run, Zygote, listing
from tests.wording import remedy, wording
from tools import release_assets as assets
from tools.example_release import SUFFIX
from tools.make_examples import release as example_release

Import = Callable[..., Run]


@pytest.fixture
def imported(tmp_path: Path, call: Zygote) -> Import:
    """Write files, and import all of them, or those that are named, with further arguments."""

    def run(files: dict[str, str], *arguments: str, names: tuple[str, ...] = ()) -> Run:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return call("release", "import", *(names or files), *arguments, directory=tmp_path)

    return run


def spec(data: bytes) -> dict[str, Any]:
    release, findings = parse_release(ConfigDocument(yaml.safe_load(data)))
    assert release is not None, findings
    found: dict[str, Any] = yaml.safe_load(data)["spec"]
    return found


def codes(run: Run) -> list[str]:
    return [line.split()[1].rstrip(":") for line in run.stderr.splitlines() if line.startswith(("error", "warning"))]


def said(run: Run) -> str:
    assert run.stdout == b""
    return run.stderr


def test_all_files_together_give_the_release_of_the_examples(imported: Import) -> None:
    values = json.dumps(assets.by_handler(*assets.PLATFORMS))
    run = imported({**assets.files(), "values.json": values})
    assert (run.code, codes(run)) == (0, [])
    assert spec(run.stdout) == yaml.safe_load(example_release())["spec"]


def test_the_order_of_the_files_says_nothing(imported: Import) -> None:
    files = assets.files()
    forth = imported(files, names=tuple(files))
    back = imported(files, names=tuple(reversed(files)))
    assert spec(forth.stdout) == spec(back.stdout)
    assert forth.code == back.code == 0


def test_without_the_values_of_the_cli_only_rtmr0_is_missing(imported: Import) -> None:
    run = imported(assets.files())
    assert codes(run) == ["CC1307"]
    assert "RTMR0 of platform metal-qemu-tdx" in run.stderr


def test_rtmr0_comes_from_manifests_one_size_after_the_other(imported: Import, tmp_path: Path) -> None:
    assert imported(assets.files(assets.TDX), "-o", "release.yaml").code == 0
    for vcpus in (1, 2, 5):
        text = json.dumps(assets.manifest(assets.TDX, vcpus=vcpus))
        run = imported({"m.json": text}, "--vcpus", str(vcpus), "-o", "release.yaml")
        assert (run.code, codes(run)) == (0, [])
    table = yaml.safe_load(example_release())["spec"]["platforms"][assets.TDX]["rtmr0ByVCPU"]
    made = spec((tmp_path / "release.yaml").read_bytes())["platforms"][assets.TDX]["rtmr0ByVCPU"]
    assert made == {count: table[count] for count in ("1", "2", "5")}


def test_a_manifest_for_pods_of_several_sizes_tells_no_rtmr0(imported: Import) -> None:
    manifest = assets.manifest(assets.TDX)
    manifest["ReferenceValues"]["tdx"][0]["Rtmr0Alternatives"] = ["0" * 96]
    run = imported({**assets.files(assets.TDX), "manifest.json": json.dumps(manifest)}, "--vcpus", "2")
    assert (run.code, codes(run)) == (2, ["CC0909"])
    run = imported({**assets.files(assets.SNP)}, "--vcpus", "2")
    assert run.code == 2
    assert "it has no entry for Metal-QEMU-TDX" in run.stderr


@pytest.mark.parametrize("vcpus", ["0x", "-1", "221", ""])
def test_vcpus_are_between_1_and_220(vcpus: str, imported: Import) -> None:
    run = imported(assets.files(assets.TDX), f"--vcpus={vcpus}")
    assert (run.code, run.stdout) == (2, b"")


def test_one_platform_is_a_release(imported: Import) -> None:
    run = imported(assets.files(assets.SNP))
    assert (run.code, codes(run)) == (0, [])
    assert list(spec(run.stdout)["platforms"]) == [assets.SNP]


def test_an_operators_values_stay_out_and_are_told(imported: Import) -> None:
    manifest = assets.manifest(assets.SNP, assets.TDX)
    values = manifest["ReferenceValues"]
    values["snp"][0]["MinimumTCB"] = {"BootloaderVersion": 9, "TEEVersion": 0, "SNPVersion": 21, "MicrocodeVersion": 72}
    values["tdx"][0]["MrSeam"] = "ab" * 48
    run = imported({**assets.files(assets.SNP, assets.TDX), "manifest.json": json.dumps(manifest)})
    assert run.code == 0
    assert b"MinimumTCB" not in run.stdout
    assert b"MrSeam" not in run.stdout
    assert "snp[0].MinimumTCB, tdx[0].MrSeam: left out" in run.stderr
    assert "hint: set them under spec.manifest.referenceValues" in run.stderr


def test_an_update_keeps_what_people_wrote(imported: Import, tmp_path: Path) -> None:
    files = assets.files(assets.SNP)
    assert imported(files, "-o", "release.yaml").code == 0
    path = tmp_path / "release.yaml"
    mine = path.read_text().replace("  platforms:\n", "  # compared with Jo on the phone\n  platforms: # two\n")
    mine += "  policySettings: {a: b} # ours\n"
    path.write_text(mine)
    path.chmod(0o640)
    run = imported(assets.files(assets.TDX), "-o", "release.yaml")
    assert run.code == 0
    text = path.read_text()
    assert [line for line in mine.splitlines() if line not in text.splitlines()] == []
    assert list(spec(text.encode())["platforms"]) == [assets.SNP, assets.TDX]
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_second_import_changes_nothing(imported: Import, tmp_path: Path) -> None:
    assert imported(assets.files(), "-o", "release.yaml").code == 0
    path = tmp_path / "release.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = listing(tmp_path)
    run = imported(assets.files(), "-o", "release.yaml")
    assert (run.code, run.stderr.splitlines()[-1]) == (0, "release.yaml says so already")
    assert listing(tmp_path) == before


def test_the_release_is_one_document_of_a_file(imported: Import, tmp_path: Path) -> None:
    other = "# lock\napiVersion: contrast-krm.dev/v1alpha1\nkind: ImageLock\nmetadata: {name: a}\nspec: {images: {}}\n"
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    path = tmp_path / "release.yaml"
    path.write_text(f"{other}---\n{path.read_text()}---\n{other}")
    assert imported(assets.files(assets.TDX), "-o", "release.yaml").code == 0
    text = path.read_text()
    assert text.startswith(f"{other}---\n")
    assert text.endswith(f"---\n{other}")
    assert assets.TDX in text


NEXT = {"suffix": "0badcafe", "version": "v1.26.0"}


def of_the_next_release(*names: str, measurements: bool = True) -> dict[str, str]:
    files = {f"runtime-{name}.yml": assets.runtime(name, **NEXT) for name in names}
    files |= {"coordinator.yml": assets.coordinator(NEXT["version"])}
    files |= {"version.txt": assets.version_text(**NEXT)}
    if measurements:
        text = json.dumps(assets.manifest(*names))
        for entry in assets.manifest(*names)["ReferenceValues"].values():
            for value in entry:
                for field in (value.get("TrustedMeasurement"), value.get("MrTd"), *value.get("Rtmrs", ())):
                    text = text.replace(field, field[::-1]) if field else text
        files["manifest.json"] = text
    return files


def test_another_release_takes_the_place_of_the_old_one_as_a_whole(imported: Import, tmp_path: Path) -> None:
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    path = tmp_path / "release.yaml"
    path.write_text("# mine\n" + path.read_text())
    run = imported(of_the_next_release(assets.SNP), "-o", "release.yaml")
    assert (run.code, codes(run)) == (0, ["CC0651"])
    text = path.read_text()
    assert text.startswith("# mine\n")
    assert "v1.25.0" not in text
    assert SUFFIX not in text


def test_nothing_of_the_old_release_is_left_over(imported: Import, tmp_path: Path) -> None:
    assert imported(assets.files(assets.SNP, assets.TDX), "-o", "release.yaml").code == 0
    before = listing(tmp_path)
    files = of_the_next_release(assets.SNP, measurements=False)
    run = imported(files, "-o", "release.yaml")
    assert run.code == 1
    left = {
        line.split(": ")[1].split(" is of")[0] for line in run.stderr.splitlines() if line.startswith("error CC1306")
    }
    assert left == {
        "platforms.metal-qemu-snp.referenceValues",
        "platforms.metal-qemu-tdx.overhead",
        "platforms.metal-qemu-tdx.referenceValues",
    }
    assert listing(tmp_path) == before | {name: text.encode() for name, text in files.items()}


def test_a_manifest_that_kept_the_old_measurements_is_told(imported: Import) -> None:
    """An upgrade of the CLI refreshes no manifest that is there: docs/facts/contrast-manifest.md#default-values."""
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    stale = {**of_the_next_release(assets.SNP), "manifest.json": json.dumps(assets.manifest(assets.SNP))}
    run = imported(stale, "-o", "release.yaml")
    assert (run.code, set(codes(run))) == (0, {"CC0651", "CC1308"})
    assert "generate a new manifest.json with `contrast generate` of release v1.26.0" in run.stderr


# --- the policy profile


def test_the_profile_follows_from_the_version(imported: Import) -> None:
    assert spec(imported(assets.files(assets.SNP)).stdout)["policyProfile"] == "contrast-1.25"


def test_a_newer_release_gets_the_newest_profile_and_a_warning(imported: Import) -> None:
    run = imported(of_the_next_release(assets.SNP))
    assert (run.code, codes(run)) == (0, ["CC0651"])
    assert (
        "release v1.26.0 is newer than Contrast 1.25; its nodes may refuse policies of profile contrast-1.25"
        in run.stderr
    )
    assert spec(run.stdout)["policyProfile"] == "contrast-1.25"


def test_an_older_release_is_an_error(imported: Import, tmp_path: Path) -> None:
    files = assets.files(assets.SNP)
    no_version(files)
    run = imported(files, "--release", "v1.24.3", "-o", "release.yaml")
    assert (run.code, codes(run)) == (1, ["CC0650"])
    assert "release v1.24.3 is older than Contrast 1.25" in said(run)
    assert not (tmp_path / "release.yaml").exists()


def test_a_release_file_without_a_profile_gets_it_and_keeps_the_rest(imported: Import, tmp_path: Path) -> None:
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    path = tmp_path / "release.yaml"
    whole = path.read_text()
    path.write_text(whole.replace("  policyProfile: contrast-1.25\n", "") + "  memory: {serviceMesh: 1Gi} # measured\n")
    assert path.read_text().startswith(whole.partition("  policyProfile")[0])
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    assert spec(path.read_bytes())["policyProfile"] == "contrast-1.25"
    assert "  memory: {serviceMesh: 1Gi} # measured\n" in path.read_text()


@pytest.mark.parametrize(("written", "after"), [("v0.0.0", "v1.25.0"), ("ours", "ours")])
def test_a_release_that_init_made_gets_its_name_and_one_of_a_persons_own_stays(
    written: str, after: str, imported: Import, tmp_path: Path
) -> None:
    path = tmp_path / "release.yaml"
    path.write_text(new_file("ContrastRelease", "kustomize").replace("name: v0.0.0", f"name: {written} # mine"))
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    assert yaml.safe_load(path.read_text())["metadata"]["name"] == after
    assert "# mine" in path.read_text()


def test_a_profile_that_somebody_wrote_stays_as_it_stands_if_it_is_that_of_the_version(
    imported: Import, tmp_path: Path
) -> None:
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    path = tmp_path / "release.yaml"
    path.write_text(path.read_text().replace("policyProfile: contrast-1.25", "policyProfile: 'contrast-1.25' # mine"))
    before = path.read_text()
    assert "# mine" in before
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    assert path.read_text() == before


def test_a_profile_of_another_version_is_replaced_without_a_word_of_contradiction() -> None:
    """There is one profile of a release yet, so the file there is made of facts."""
    version = Fact(("version",), "v1.25.0", "new.yml", 3)
    there = [version._replace(file="release.yaml"), Fact(("policyProfile",), "contrast-1.24", "release.yaml")]
    for before in (there, [there[0]._replace(value="v1.24.0"), there[1]]):
        combined = combine([version], before)
        assert combined.findings == ()
        assert combined.facts[("policyProfile",)].value == "contrast-1.25"


def other_handler(files: dict[str, str]) -> None:
    with_replacements(files)
    files["runtime-metal-qemu-tdx.yml"] = assets.runtime(assets.TDX, "0badcafe")


def two_names(files: dict[str, str]) -> None:
    files["runtime-metal-qemu-snp.yml"] = assets.runtime(assets.SNP).replace(
        "handler: contrast", "handler: contrast", 1
    )
    files["runtime-metal-qemu-snp.yml"] = files["runtime-metal-qemu-snp.yml"].replace(
        f"\nhandler: contrast-cc-metal-qemu-snp-{SUFFIX}", "\nhandler: contrast-cc-metal-qemu-snp-00000000"
    )


def other_version(files: dict[str, str]) -> None:
    files["coordinator.yml"] = assets.coordinator("v1.24.0")


def other_overhead(files: dict[str, str]) -> None:
    files["again.yml"] = assets.runtime(assets.SNP).replace("682Mi", "1Gi")


def other_measurement(files: dict[str, str]) -> None:
    files["again.json"] = files["manifest.json"].replace("46fd2db82b2d", "000000000000")


def with_replacements(files: dict[str, str]) -> None:
    """The images in the form of `contrast generate --image-replacements` instead of `contrast --version`."""
    del files["version.txt"]
    files["image-replacements.txt"] = assets.replacements()


def no_version(files: dict[str, str]) -> None:
    with_replacements(files)
    for name, text in files.items():
        files[name] = text.replace(":v1.25.0@", "@")


def bad_measurement(files: dict[str, str]) -> None:
    files["manifest.json"] = files["manifest.json"].replace("46fd2db82b2d", "46fd")


def not_pinned(files: dict[str, str]) -> None:
    with_replacements(files)
    files["image-replacements.txt"] += "ghcr.io/edgelesssys/contrast/debugshell:latest = registry.example.com/x:1\n"


def other_line(files: dict[str, str]) -> None:
    with_replacements(files)
    image, _, pinned = files["image-replacements.txt"].splitlines()[-1].partition(" = ")
    files["image-replacements.txt"] += f"{image} = {pinned[:-4]}0000\n"


def no_platform_field(files: dict[str, str]) -> None:
    files["manifest.json"] = files["manifest.json"].replace('"Platform": "Metal-QEMU-SNP",', "")


def placeholder(files: dict[str, str]) -> None:
    files["runtime-metal-qemu-snp.yml"] = assets.runtime(assets.SNP).replace(f"-{SUFFIX}", "")


def extra(name: str, text: str) -> Callable[[dict[str, str]], None]:
    return lambda files: files.__setitem__(name, text)


@pytest.mark.parametrize(
    ("change", "code", "file", "words"),
    [
        (other_handler, "CC1302", "runtime-metal-qemu-tdx.yml:1", "are handlers of different releases"),
        (two_names, "CC1304", "", "its handler contrast-cc-metal-qemu-snp-00000000"),
        (placeholder, "CC1304", "", "is not the name of a runtime handler"),
        (other_version, "CC1301", "coordinator.yml", "version is v1."),
        (other_overhead, "CC1301", "again.yml:1", "memory: 682Mi in runtime-metal-qemu-snp.yml and memory: 1Gi"),
        (other_measurement, "CC1301", "again.json", "metal-qemu-snp.Milan.TrustedMeasurement is 46fd2db82b2d"),
        (no_version, "CC1303", "", remedy("CC1303")),
        (bad_measurement, "CC0901", "manifest.json", "must be 96 hex digits"),
        (not_pinned, "CC1304", "image-replacements.txt:7", "not `image = replacement@sha256:<digest>`"),
        (other_line, "CC1301", "image-replacements.txt:", "image-replacements.txt"),
        (no_platform_field, "CC1304", "manifest.json", "does not name its Platform"),
        (extra("a.yml", "kind: Service\n"), "CC1304", "a.yml", wording("CC1304.nothing")),
        (extra("a.yml", "a: [\n"), "CC0101", "a.yml:2", "not valid YAML"),
        (extra("a.yml", ""), "CC1304", "a.yml", "no Contrast runtime class"),
        (extra("a.json", "{}"), "CC1304", "a.json", "neither a manifest.json nor"),
        (extra("a.json", '{"a": 1, "a": 2}'), "CC1304", "a.json", "a key twice"),
        (extra("a.json", "{"), "CC1304", "a.json", "not JSON"),
        (extra("a.json", '{"a":' * 5000), "CC1304", "a.json", ""),
        (extra("a.yaml", example_release()), "CC1304", "a.yaml", "to update one, name it with -o"),
    ],
)
def test_a_fact_that_does_not_fit_is_one_located_finding(
    change: Callable[[dict[str, str]], None], code: str, file: str, words: str, imported: Import, tmp_path: Path
) -> None:
    files = assets.files(assets.SNP, assets.TDX)
    change(files)
    run = imported(files, "-o", "release.yaml")
    errors = [line for line in run.stderr.splitlines() if line.startswith("error")]
    assert run.code in {1, 2}
    assert {line.split()[1].rstrip(":") for line in errors} == {code}
    assert words in run.stderr
    assert file in run.stderr
    assert not (tmp_path / "release.yaml").exists()


def test_the_version_can_be_said(imported: Import) -> None:
    files = assets.files(assets.SNP)
    no_version(files)
    run = imported(files, "--release", "v1.25.0")
    assert (run.code, spec(run.stdout)["version"]) == (0, "v1.25.0")
    run = imported(assets.files(assets.SNP), "--release", "v1.25.1")
    assert (run.code, set(codes(run))) == (1, {"CC1301"})
    run = imported(assets.files(assets.SNP), "--release", "latest")
    assert (run.code, set(codes(run))) == (2, {"CC0909"})


def test_a_fact_of_the_same_release_never_changes(imported: Import, tmp_path: Path) -> None:
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    before = (tmp_path / "release.yaml").read_bytes()
    files = assets.files(assets.SNP)
    files["manifest.json"] = files["manifest.json"].replace("46fd2db82b2d", "000000000000")
    run = imported(files, "-o", "release.yaml")
    assert (run.code, codes(run)) == (1, ["CC1301"])
    assert (tmp_path / "release.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: ConfigMap\n", "it has no ContrastRelease"),
        (f"{example_release()}---\n{example_release()}", "two objects of kind ContrastRelease"),
        ("a: [\n", "not valid YAML"),
        (example_release().replace("v1.25.0", "one"), "must be a version"),
        (example_release().replace("  images:", "  imagse:"), "unknown field spec.imagse"),
    ],
)
def test_a_file_that_is_no_release_is_not_updated(text: str, said: str, imported: Import, tmp_path: Path) -> None:
    (tmp_path / "release.yaml").write_text(text)
    run = imported(assets.files(assets.SNP), "-o", "release.yaml")
    assert (run.code, run.stdout) == (2, b"")
    assert said in run.stderr
    assert (tmp_path / "release.yaml").read_text() == text


def test_insecure_and_unknown_platforms_are_left_out_and_told(imported: Import) -> None:
    files = assets.files(assets.SNP)
    insecure = assets.runtime(assets.SNP).replace("contrast-cc-metal-qemu-snp", "contrast-insecure-metal-qemu")
    files["runtime-insecure.yml"] = insecure
    manifest = assets.manifest(assets.SNP)
    manifest["ReferenceValues"]["snp"].append({"Platform": "K3s-QEMU-SNP", "ProductName": "Milan"})
    files["manifest.json"] = json.dumps(manifest)
    run = imported(files)
    assert (run.code, codes(run)) == (0, ["CC1305", "CC1305"])
    assert list(spec(run.stdout)["platforms"]) == [assets.SNP]


def test_reference_values_of_a_platform_without_handler_are_left_out(imported: Import) -> None:
    files = assets.files(assets.SNP)
    with_replacements(files)
    files["manifest.json"] = json.dumps(assets.manifest(assets.SNP, assets.TDX))
    run = imported(files)
    assert (run.code, codes(run)) == (0, ["CC1305"])
    assert wording("CC1305.handler", platform="metal-qemu-tdx") in run.stderr


def test_a_directory_is_not_searched_for_yaml_only(imported: Import, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    run = imported({}, names=("assets",))
    assert run.code == 3
    assert "is a directory; name the files in it" in said(run)


def test_no_directory_is_made_for_a_path_that_is_mistyped(imported: Import, tmp_path: Path) -> None:
    files = assets.files(assets.SNP)
    run = imported(files, "-o", "missing/release.yaml")
    assert run.code == 3
    assert "error CC1002 missing/release.yaml: cannot be written: there is no directory missing" in said(run)
    assert set(listing(tmp_path)) == set(files)


def test_the_file_that_is_written_names_its_schema(imported: Import, tmp_path: Path) -> None:
    assert imported(assets.files(assets.SNP), "-o", "release.yaml").code == 0
    first = (tmp_path / "release.yaml").read_text().splitlines()[0]
    key, _, path = first.partition("$schema=")
    assert key == "# yaml-language-server: "
    assert json.loads((tmp_path / path).read_text())["title"] == "ContrastRelease"


def test_standard_output_names_no_schema(imported: Import, tmp_path: Path) -> None:
    run = imported(assets.files(assets.SNP))
    assert b"$schema" not in run.stdout
    assert not (tmp_path / ".contrast-krm").exists()


# --- what a user has: the output of `contrast --version`, and resources that `contrast generate` changed


def test_the_version_text_on_standard_input_completes_the_files_of_a_release(call: Zygote, tmp_path: Path) -> None:
    files = assets.files(assets.SNP)
    text = files.pop("version.txt").encode()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    run = call("release", "import", "-", *files, directory=tmp_path, data=text)
    assert (run.code, codes(run)) == (0, [])
    assert list(spec(run.stdout)["platforms"]) == [assets.SNP], "the other platforms are only listed"
    assert spec(run.stdout)["images"] == yaml.safe_load(example_release())["spec"]["images"]


def test_the_version_text_gives_handlers_and_the_digests_that_name_a_product(imported: Import) -> None:
    files = assets.files(assets.SNP)
    del files["runtime-metal-qemu-snp.yml"]
    digest = json.loads(files["manifest.json"])["ReferenceValues"]["snp"][0]["TrustedMeasurement"]
    line = f"    - launch digest:      {digest}\n"
    files["version.txt"] = files["version.txt"].replace(line, f"{line}      product:   Milan\n")
    run = imported(files)
    assert (run.code, codes(run)) == (0, [])
    assert spec(run.stdout)["platforms"][assets.SNP]["handler"] == f"contrast-cc-metal-qemu-snp-{SUFFIX}"
    files["version.txt"] = files["version.txt"].replace(digest, "0" * 96)
    assert codes(imported(files)) == ["CC1301"]


@pytest.mark.parametrize(
    "line",
    [
        "    rtmr[1]:     00",
        "reference values for Metal-QEMU-Insecure platform:",
        "    runtime handler: contrast-cc-metal-qemu-snp-1a2b3c4d",  # of another platform
        "something",
    ],
)
def test_a_line_of_the_version_text_that_is_not_known_is_named(line: str, imported: Import) -> None:
    files = assets.files(assets.SNP)
    files["version.txt"] += f"{line}\n"
    run = imported(files)
    assert (run.code, codes(run)) == (0, ["CC1305"])
    assert f"lines {len(files['version.txt'].splitlines())}: " in run.stderr


def test_resources_with_injected_containers_have_the_images(imported: Import) -> None:
    files = assets.files(assets.SNP)
    del files["version.txt"]
    names = {"contrast-initializer": "initializer", "contrast-service-mesh": "service-mesh-proxy"}
    containers = [{"name": name, "image": assets.pinned(image)} for name, image in names.items()]
    web = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}}
    web["spec"] = {"template": {"spec": {"initContainers": containers}}}
    run = imported({**files, "web.yaml": yaml.plain(web)})
    assert (run.code, codes(run)) == (0, [])
    assert set(spec(run.stdout)["images"].values()) == set(map(assets.pinned, (*names.values(), "coordinator")))


def test_a_release_without_the_initializer_is_an_error(imported: Import, tmp_path: Path) -> None:
    files = assets.files(assets.SNP)
    del files["version.txt"]
    run = imported(files, "-o", "release.yaml")
    assert (run.code, codes(run)) == (1, ["CC0511", "CC1307"])
    assert not (tmp_path / "release.yaml").exists()
