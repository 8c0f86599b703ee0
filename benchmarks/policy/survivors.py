"""Rule of this file: a condition whose loss no request can show stands here, with the reason.

(rule, regular expression for the whole condition, reason)
"""

ENUMERATES = "the call after it enumerates by itself, in all engines but rego-cpp, for which it stands there"

EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("CreateContainerRequest", r"policy_data\.containers\[index\]", ENUMERATES),
    ("mount_choices", r"p\.OCI\.Mounts\[index\]", ENUMERATES),
    (
        "path_matches",
        r'contains\(pattern, "\$\(sandbox-id\)"\)',
        "without that token the pattern is the one of the body before, or holds `$(bundle-id)`, which matches no text",
    ),
    ("device_permitted", r"wanted\.container_path != gpu_prefix", "no path equals it that does not start with it"),
    ("device_permitted", r'regex\.match\("\^\[0-9\]\+\$", suffix\)', "the numbers that are announced have digits only"),
    ("gpus_permitted", r"count\(gpu_numbers\) == 0", "for no GPU: device_permitted then denies each; else: see below"),
    ("gpus_permitted", "wanted > 0", "for no GPU the first body says the same"),
    (
        "ExecProcessRequest",
        r"usable_id\(input\.container_id\)",
        "our own keys hold texts, and no container has such an index",
    ),
)
