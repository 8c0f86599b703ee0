"""Write the pictures of docs/images: the html plan of the quickstart, whole and with two mistakes in it.

python -m tools.make_pictures
"""

import os
import shutil
import subprocess
import sys
import tempfile

from tools.cache import HERE, ToolError
from tools.page import chromium, picture

ROOT = os.path.dirname(HERE)
QUICKSTART = os.path.join(ROOT, "examples", "quickstart")
IMAGES = os.path.join(ROOT, "docs", "images")

# the mistakes: payments ask for a node of another platform, recommendations for more GPUs than any node has
MISTAKES = (
    (
        "resources/payments.yaml",
        "      runtimeClassName: contrast-cc-metal-qemu-tdx\n",
        "      runtimeClassName: contrast-cc-metal-qemu-tdx\n      nodeSelector:\n        example.com/tee: sev-snp\n",
    ),
    ("resources/recommendations.yaml", 'nvidia.com/pgpu: "1"', 'nvidia.com/pgpu: "8"'),
    ("resources/recommendations.yaml", 'cpu: "4"', 'cpu: "8"'),
)

# picture -> with mistakes, width and height of the window, colour scheme
PICTURES = {
    "plan.png": (False, 1280, 1020, "light"),
    "plan-conflict.png": (True, 1280, 1020, "light"),
    "plan-phone.png": (True, 390, 844, "dark"),
}


def quickstart_plan(directory: str, *, mistakes: bool) -> str:
    """Write the html plan of a copy of the quickstart below `directory`; return its path."""
    work = os.path.join(directory, "conflict" if mistakes else "quickstart")
    shutil.copytree(QUICKSTART, work)
    for path, old, new in MISTAKES if mistakes else ():
        with open(os.path.join(work, path), encoding="utf-8") as file:
            text = file.read()
        if text.count(old) != 1:
            raise ToolError(f"{path}: the place of a mistake is not there once")
        with open(os.path.join(work, path), "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
    command = [sys.executable, "-c", "import sys; from krm_function.cli import main; sys.exit(main())"]
    command += ["plan", "resources", "--config", "config", "--nodes", "nodes.yaml", "-o", "plan.html"]
    done = subprocess.run(command, cwd=work, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != (1 if mistakes else 0):
        raise ToolError(f"plan of the quickstart: exit code {done.returncode}: {done.stderr.strip()}")
    return os.path.join(work, "plan.html")


def main() -> int:
    """Write the pictures; 0, or 1 with one line that says what is wrong."""
    os.makedirs(IMAGES, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as directory, chromium() as browser:
            pages = {mistakes: quickstart_plan(directory, mistakes=mistakes) for mistakes in (False, True)}
            for name, (mistakes, width, height, scheme) in PICTURES.items():
                dark = scheme == "dark"
                page = browser.new_page(
                    viewport={"width": width, "height": height},
                    color_scheme="dark" if dark else "light",
                    device_scale_factor=1.5,
                )
                page.goto(f"file://{pages[mistakes]}")
                picture(page, os.path.join(IMAGES, name))
                page.close()
                print(f"wrote: docs/images/{name}", file=sys.stderr)
    except (ToolError, OSError) as problem:
        print(f"make_pictures: error: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
