"""`contrast-krm version`: the build, the profiles that it makes policies for, and the Python that runs it.

Rule of this file: it starts no program, so a commit is known only if the installation has noted it.
"""

import json
import os
import platform
from argparse import Namespace
from importlib.util import cache_from_source

from krm_function.cli.build import this_build
from krm_function.cli.exits import OK
from krm_function.cli.parser import Parser
from krm_function.cli.streams import write_out
from krm_function.contrast.profiles import DEFAULT, PROFILES

DESCRIPTION = (
    "The kind of build is release, git, editable, package (a wheel of another origin), bundle (with a Python of its "
    "own), image, copy (by `contrast-krm install`) or source. `contrast-krm --version` prints the version alone."
)


def add_arguments(parser: Parser) -> None:
    """Add the form."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="the same as JSON, with the Contrast release of each profile; a commit that is not known is left out",
    )


def run(options: Namespace) -> int:
    """Print what this program is."""
    build = this_build()
    if options.json:
        data = {
            "version": build.version,
            **({"commit": build.commit} if build.commit else {}),
            "build": build.kind,
            "profiles": [
                {
                    "name": profile.name,
                    "default": profile is DEFAULT,
                    **({"release": ".".join(map(str, profile.release))} if profile.release else {}),
                    "means": profile.means,
                }
                for profile in PROFILES.values()
            ],
            "python": {"version": platform.python_version(), "implementation": platform.python_implementation()},
        }
        text = json.dumps(data, indent=2)
    else:
        profiles = [
            f"{profile.name} (default)" if profile is DEFAULT else profile.name for profile in PROFILES.values()
        ]
        rows = {
            f"contrast-krm {build.version}": "",
            "commit": build.commit or "unknown",
            "build": build.kind,
            "policy profiles": ", ".join(profiles),
            "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        }
        if not os.path.exists(cache_from_source(__file__)):  # Python writes this file with the import, where it can
            rows["byte code"] = "none, and none can be written, so each start compiles all modules anew"
        text = "\n".join(f"{name}: {value}" if value else name for name, value in rows.items())
    write_out(f"{text}\n".encode())
    return OK
