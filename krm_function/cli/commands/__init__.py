"""The commands, one file each: its arguments (`add_arguments`) and what it does (`run`) side by side.

Rule of this package: a file is imported when its command is called, so it imports at its top what every call needs.
Commands do not import each other; `cli` has what two of them need. This table lists the commands in the order of the
help; `release import` is in release_import.py.
"""

SUMMARIES = {
    "fn": "KRM function: ResourceList from standard input to standard output (the default)",
    "post-render": "Helm post-renderer: documents from standard input to standard output",
    "assess": "list the pods of an application that are, could be and cannot be confidential; writes nothing",
    "adopt": "write the configuration and the lock that the pods of an application need",
    "generate": "render files and directories into confidential pods",
    "plan": "show what a render would change, one line per workload; writes nothing",
    "explain": "explain every edit of one workload, or the code of a finding; writes nothing",
    "diff": "show what a render would change, or how the policies of two outputs differ; writes nothing",
    "check": "verify rendered output: placeholders, policies, images, manifest",
    "why": "explain why a pod does not start, by its status, events and sealed policy, and what to do",
    "upgrade": "plan the upgrade to another Contrast release: waves of commands and checks; runs nothing",
    "guard": "print admission policies that make a cluster reject pods that were not rendered",
    "uninject": "turn rendered output back into its input",
    "policy": "print the policy of one workload or the settings of all, or replay a log against a policy",
    "policy show": "print the policy that is sealed into a workload",
    "policy settings": "print the settings that the policies of a configuration have in common",
    "policy replay": "show the requests in an agent's log that the policy of a workload denies, and why",
    "lock": "look up every image of the Contrast workloads, and write an ImageLock",
    "manifest": "extract manifest.json, byte for byte, from rendered output",
    "manifest keep": "write the deployed manifest into the configuration, so that the next render keeps its policies",
    "manifest workloads": "print the workloads that contrast set needs",
    "manifest prune": "print the manifest without the policies of the earlier render",
    "schema": "print the JSON Schema of a kind",
    "release": "create or show a ContrastRelease, the facts of one Contrast release, and print its RuntimeClasses",
    "release import": "create a ContrastRelease from the files of a Contrast release",
    "release runtime-classes": "print the RuntimeClass objects of a release with the configured scheduling",
    "release show": "show the content of a ContrastRelease, and the values that it lacks",
    "init": "create the configuration, add the function to kustomization.yaml or Kptfile, and print the next commands",
    "keys": "create owner keys",
    "keys new": "create the key pair of an owner; the public key goes to standard output",
    "install": "copy contrast-krm and its dependencies into a directory, for Argo CD and legacy plugins",
    "completion": "print the completion script of a shell",
    "version": "print the version, the build, the policy profiles and the Python that runs it",
    "help": "print the help of a command",
}
OPERATIONS = frozenset(("why", "upgrade", "guard", "policy replay", "manifest prune"))
GROUPS = frozenset(("policy", "release", "keys"))  # words that need a second word to be a command


def module_of(name: str) -> str:
    """Return the module of a command; this package has only the names of commands in operations."""
    package = "operations" if name in OPERATIONS else "cli"
    return f"krm_function.{package}.commands.{name.replace(' ', '_').replace('-', '_')}"
