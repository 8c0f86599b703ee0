"""`release show`: a summary that names every measurement and prints none."""

import json

import pytest

from tests import quick_yaml as yaml
from tests.failures.running import Zygote
from tests.wording import wording
from tools.make_examples import release as example

RELEASE = example()


def test_the_text_names_what_is_known_and_what_is_left(call: Zygote) -> None:
    run = call("release", "show", data=RELEASE.encode())
    assert (run.code, run.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in run.stdout.decode().splitlines()]
    assert lines[0] == "release v1.25.0, policy profile contrast-1.25"
    for line in (
        "metal-qemu-snp contrast-cc-metal-qemu-snp-18a1a065 memory 682Mi",
        "metal-qemu-snp-gpu Genoa TrustedMeasurement, APEIP MinimumTCB",
        "metal-qemu-tdx TDX MrTd, Rtmrs MrSeam",
        "metal-qemu-tdx RTMR0 for 1-8 vCPUs -",
        "INJECTED MEMORY",
        "initializer with secure-pv 100Mi",
        "service mesh 400Mi",
    ):
        assert line in lines


def test_no_measurement_is_printed(call: Zygote) -> None:
    text = call("release", "show", data=RELEASE.encode()).stdout.decode()
    values = [word.strip('"') for word in RELEASE.split() if len(word) > 90 and word.startswith('"')]
    assert values
    assert not [value for value in values if value in text]


def test_the_json_form_is_versioned(call: Zygote) -> None:
    run = call("release", "show", "-o", "json", data=RELEASE.encode())
    data = json.loads(run.stdout)
    assert (data["version"], data["release"]) == (1, "v1.25.0")
    assert data["images"] == yaml.safe_load(RELEASE)["spec"]["images"]
    tdx = data["platforms"]["metal-qemu-tdx"]
    assert tdx["rtmr0ForVCPUs"] == list(range(1, 9))
    assert tdx["referenceValues"] == [{"entry": "TDX", "known": ["MrTd", "Rtmrs"], "toFillIn": ["MrSeam"]}]


def test_the_profile_that_a_render_takes_is_shown_whether_it_is_written_or_follows(call: Zygote) -> None:
    """A version whose profile is not known is shown, too; the finding is the render's."""
    for version, profile, title, code in (
        ("v1.25.0", "contrast-1.25", "contrast-1.25", ""),
        ("v1.25.0", None, "contrast-1.25", ""),
        ("v0.0.0", None, "contrast-1.25", ""),
        ("v1.26.0", None, "contrast-1.25", "warning CC0651 v1.26.0 spec.version"),
        ("v1.26.0", "contrast-1.25", "contrast-1.25", "warning CC0651 v1.26.0 spec.version"),
        ("v1.24.0", None, "none", "error CC0650 v1.24.0 spec.version"),
    ):
        value = yaml.safe_load(RELEASE)
        value["metadata"]["name"] = version
        value["spec"] |= {"version": version, "policyProfile": profile}
        run = call("release", "show", data=json.dumps(value).encode())
        assert run.stdout.decode().startswith(f"release {version}, policy profile {title}\n")
        assert (run.code, run.stderr.startswith(code)) == (int(title == "none"), True)
        assert bool(run.stderr) == bool(code)
        data = json.loads(call("release", "show", "-o", "json", data=json.dumps(value).encode()).stdout)
        assert data["policyProfile"] == (None if title == "none" else title)


def test_the_memory_of_injected_containers_is_shown(call: Zygote) -> None:
    value = yaml.safe_load(RELEASE)
    value["spec"]["memory"] = {"serviceMesh": "1Gi"}
    run = call("release", "show", data=json.dumps(value).encode())
    assert "service mesh                1Gi" in run.stdout.decode()
    data = json.loads(call("release", "show", "-o", "json", data=json.dumps(value).encode()).stdout)
    assert data["memory"] == {"initializer": "50Mi", "securePv": "100Mi", "serviceMesh": "1Gi", "pvcHolder": "50Mi"}


def test_runs_of_numbers_are_ranges(call: Zygote) -> None:
    value = yaml.safe_load(RELEASE)
    table = value["spec"]["platforms"]["metal-qemu-tdx"]["rtmr0ByVCPU"]
    value["spec"]["platforms"]["metal-qemu-tdx"]["rtmr0ByVCPU"] = {
        count: table[count] for count in ("1", "3", "4", "8")
    }
    assert b"for 1, 3-4, 8 vCPUs" in call("release", "show", data=json.dumps(value).encode()).stdout
    table = value["spec"]["platforms"]["metal-qemu-tdx"]["rtmr0ByVCPU"]
    value["spec"]["platforms"]["metal-qemu-tdx"]["rtmr0ByVCPU"] = {"1": table["1"]}
    assert b"for 1 vCPU " in call("release", "show", data=json.dumps(value).encode()).stdout


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("referenceValues", "the reference values of platform metal-qemu-snp"),
        ("APEIP", "APEIP of platform metal-qemu-snp, Milan"),
        ("rtmr0ByVCPU", wording("CC1307.rtmr0", platform="metal-qemu-tdx")),
        ("mesh", "the pinned image for ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest"),
    ],
)
def test_what_is_missing_is_a_warning(field: str, said: str, call: Zygote) -> None:
    value = yaml.safe_load(RELEASE)
    platforms, images = value["spec"]["platforms"], value["spec"]["images"]
    match field:
        case "referenceValues":
            del platforms["metal-qemu-snp"][field]
        case "APEIP":
            del platforms["metal-qemu-snp"]["referenceValues"]["snp"][0][field]
        case "rtmr0ByVCPU":
            del platforms["metal-qemu-tdx"][field]
        case _:
            del images["ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest"]
    run = call("release", "show", data=json.dumps(value).encode())
    assert run.code == 0
    assert f"warning CC1307: {wording('CC1307', problem=said)}" in run.stderr


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        ("kind: ConfigMap\n", 2, "CC0903"),
        (f"{RELEASE}---\n{RELEASE}", 2, "CC0904"),
        (RELEASE.replace("v1.25.0", "one"), 2, "CC0901"),
        ("a: [\n", 1, "CC0101"),
        ("", 1, "CC0109"),
    ],
)
def test_anything_but_one_release_is_an_error(data: str, code: int, said: str, call: Zygote) -> None:
    run = call("release", "show", data=data.encode())
    assert (run.code, run.stdout) == (code, b"")
    assert f"error {said}" in run.stderr
