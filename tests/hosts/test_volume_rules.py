"""The rules of `spec.volumes` in each real host: the same pods and the same claim, and all is taken back."""

import re
from pathlib import Path

import pytest

from tests.hosts.documents import by_name, digests, without_original
from tests.hosts.hosts import HOSTS, Deployment, quickstart
from tests.hosts.running import Machine, called

RULES = """
  volumes:
    splitSubPaths: true
    securePV: {claims: [store]}
    hostPathCaches: {paths: [/var/cache/store]}
"""
STORE = """\
# What the shop keeps.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: store
  namespace: shop
spec:
  strategy: {type: Recreate}
  selector:
    matchLabels:
      app: store
  template:
    metadata:
      labels:
        app: store
    spec:
      runtimeClassName: contrast-cc-metal-qemu-snp
      containers:
        - name: store
          image: IMAGE
          volumeMounts:
            - name: store # the claim
              mountPath: /var/lib/store
            - name: empty-dir
              mountPath: /tmp
              subPath: tmp-dir
            - name: empty-dir
              mountPath: /opt/conf
              subPath: app-conf-dir
            - name: cache
              mountPath: /var/cache/store
      volumes:
        - name: store
          persistentVolumeClaim:
            claimName: store
        - name: empty-dir
          emptyDir: {}
        - name: cache
          hostPath:
            path: /var/cache/store
            type: DirectoryOrCreate
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: store
  namespace: shop
spec:
  accessModes:
    - ReadWriteOncePod
  resources:
    requests:
      storage: 1Gi
"""
NAMES = ("Deployment/shop/store", "PersistentVolumeClaim/shop/store")


def deployment() -> Deployment:
    shop = quickstart()
    (image,) = re.findall(r"image: (\S+/shop/web:\S+)", shop.resources["web.yaml"])
    text = shop.config["contrast.yaml"].replace("\nspec:\n", f"\nspec:{RULES}", 1)
    resources = {**shop.resources, "store.yaml": STORE.replace("IMAGE", image), "store-claim.yaml": CLAIM}
    return Deployment(resources, {**shop.config, "contrast.yaml": text})


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_every_host_gives_the_same_pods_and_the_same_claim(krm_machine: Machine, tmp_path: Path, host: str) -> None:
    files = HOSTS["files"].render(krm_machine, tmp_path / "files", deployment()).ok()
    out = HOSTS[host].render(krm_machine, tmp_path / host, deployment()).ok()

    wanted, found = (without_original(by_name(data)) for data in (files, out))
    assert {name: found[name]["spec"] for name in NAMES} == {name: wanted[name]["spec"] for name in NAMES}
    assert found[NAMES[1]]["spec"]["volumeMode"] == "Block"
    mounts = found[NAMES[0]]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    assert [one["name"] for one in mounts[:4]] == [
        "store-share", "empty-dir-tmp-dir", "empty-dir-app-conf-dir", "cache",
    ]  # fmt: skip
    assert digests(out) == digests(files)

    config = str(tmp_path / "files" / "config")
    assert digests(called("generate", "-", "--config", config, stdin=out).ok()) == digests(out)
    back = by_name(called("uninject", stdin=out).ok())
    restored = HOSTS["files"].make(krm_machine, tmp_path / "input", deployment()) / "resources"
    given = by_name(b"".join(b"---\n" + (restored / name).read_bytes() for name in ("store.yaml", "store-claim.yaml")))
    assert {name: back[name]["spec"] for name in NAMES} == {name: given[name]["spec"] for name in NAMES}


def test_files_come_back_byte_for_byte(krm_machine: Machine, tmp_path: Path) -> None:
    directory = HOSTS["files"].make(krm_machine, tmp_path, deployment())
    before = {path: path.read_bytes() for path in (directory / "resources").iterdir()}
    resources = str(directory / "resources")
    called("generate", resources, "--config", str(directory / "config"), "--in-place").ok()
    assert {path.name for path, data in before.items() if path.read_bytes() == data} < {path.name for path in before}
    called("uninject", resources, "--in-place").ok()

    assert {path: path.read_bytes() for path in (directory / "resources").iterdir()} == before
