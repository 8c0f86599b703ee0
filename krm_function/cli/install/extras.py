"""The Python packages that single commands need, and the extra of this distribution that installs them.

Rule of this file: a render needs none of them. Each is imported late, where it is used, so a missing one is seen by the
one place that all commands pass through, before anything is written; it answers with the `pip install` that helps.
"""

from krm_function.findings import Finding, finding

EXTRAS = {  # package -> extra, and what of the command line needs it
    "urllib3": ("lock", "lock"),
    "tqdm": ("lock", "lock"),
    "backports": ("lock", "lock"),
    "jinja2": ("html", "--output"),
    "jsonpatch": ("settings", "--settings"),
    "shtab": ("completion", "completion"),
}


def missing_extra(error: ModuleNotFoundError) -> Finding | None:
    """Return the finding for a package that an extra installs; None for any other module, whose absence is a bug."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    extra, option = EXTRAS[package]
    return not_installed(option, package, extra)


def not_installed(option: str, package: str, extra: str) -> Finding:
    """Return the finding for an option that needs a package; its remedy is not pip in a bundle or a copy."""
    from krm_function.cli.install.build import this_build

    code = "CC0909.package-copy" if this_build().kind in {"bundle", "copy"} else "CC0909.package"
    return finding(code, option=option, package=package, extra=extra)
