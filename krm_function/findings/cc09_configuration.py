"""CC09: the configuration, and options of the command line."""

from krm_function.findings.row import Row

ROWS: dict[str, Row] = {
    "CC0901": Row(
        "error",
        "{kind} {name}: {field}: {problem}",
        "{remedy}",  # without a variant in the words of the schemas of krm_function/config
        {
            "rules": (
                "{profile} consists of its own rules, and other rules are given",
                "use the profile of the release, or leave out policy.rules, --policy and --genpolicy",
            ),
            "engine": (
                "{profile} consists of its own rules, and genpolicy has its own",
                "use the profile of the release, or leave out policy.rules, --policy and --genpolicy",
            ),
            "open-profile": (
                "{profile} lets the host choose no value",
                "leave out policy.profile: {profile}, or policy.externalSources",
            ),
            "open-rules": (
                "has no effect with rules of your own, which do not know open variables",
                "leave out policy.rules and --policy, or policy.externalSources",
            ),
            "open-engine": (
                "has no effect with genpolicy, which refuses a variable without a value",
                "leave out --genpolicy, or policy.externalSources",
            ),
            "no-engine": ("has no effect with policy.engine: none", "remove one of the two"),
        },
    ),
    "CC0902": Row("error", "{kind} {name}: unknown field {field}", "did you mean {suggestion}?"),
    "CC0903": Row(
        "error",
        "no ContrastRelease in the configuration",
        "pass one with --config, or add one to the resources with the local-config annotation",
    ),
    "CC0904": Row(
        "error",
        "two objects of kind {kind} in the configuration",
        "keep one; if the second stands in rendered output, give the first config.kubernetes.io/local-config",
    ),
    "CC0905": Row("error", "unknown kind {kind} in group contrast-krm.dev", "did you mean {suggestion}?"),
    "CC0906": Row(
        "error",
        "no ImageLock in the configuration",
        "make one with contrast-krm lock and pass it with --config, or set policy.engine: none",
    ),
    "CC0907": Row("error", "apiVersion {found} is not supported", "use contrast-krm.dev/v1alpha1"),
    "CC0908": Row("error", "functionConfig of kind {kind} is not understood", "use a ContrastGenerate or a ConfigMap"),
    "CC0909": Row(
        "error",
        "{option}: {problem}",
        "{remedy}",
        {
            # files and standard streams
            "terminal": ("it is a terminal", "name files, or pipe the input in"),
            "stdin-twice": ("standard input is read once", "name two outputs"),
            "stdin-no-file": ("standard input is no file", "name a file"),
            "stdin-resources": ("standard input holds the resources", "name files for one of the two"),
            "stdin-in-place": ("standard input cannot be rewritten", "name files or directories"),
            "input": ("it is one of the inputs", "name another file"),
            "input-directory": (
                "it is one of the inputs, below a directory that is read",
                "name a file outside of that directory, and delete the old one",
            ),
            "input-in-place": ("it is one of the inputs", "name another file, or use --in-place"),
            "manifest-too": ("it is the file of --manifest too", "name two files"),
            "file-of": ("it is the file of {other} too", "name two files"),
            "attest-printed": ("it is standard output, where the rendered resources go", "name a file"),
            "attest-read": (
                "the next render would read it, as it is below {directory}",
                "name a file outside of that directory",
            ),
            "no-manifest": ("no manifest was made", "see manifest.emit"),
            # the explanation of a code
            "no-report": (
                "the file has no findings as text or JSON",
                "name the file that another command wrote with --report FILE, with --format text or json",
            ),
            "not-in-report": ("the report has no {text}", "leave the option out, or name another code"),
            "no-words": (
                "no problem of {text} is described with {known}",
                "use other words, or none: contrast-krm explain {text}",
            ),
            # a workload, as KIND/NAME or KIND/NAMESPACE/NAME
            "no-address": (
                "{text} is not a workload name (KIND/NAME, e.g. Deployment/web)",
                "name a workload of the input as KIND/NAME or KIND/NAMESPACE/NAME",
            ),
            "no-address-known": (
                "{text} is not a workload name (KIND/NAME, e.g. Deployment/web)",
                "use one of {known}",
            ),
            "no-address-near": (
                "{text} is not a workload name (KIND/NAME, e.g. Deployment/web)",
                "did you mean {near}?",
            ),
            "absent": (
                "{text} is not in the input",
                "name a workload of the input as KIND/NAME or KIND/NAMESPACE/NAME",
            ),
            "absent-known": ("{text} is not in the input", "use one of {known}"),
            "absent-near": ("{text} is not in the input", "did you mean {near}?"),
            "several": ("{text} means {count} objects", "use one of {known}"),
            # what `adopt` is asked for
            "no-generate": (
                "no file there has a ContrastGenerate to write into",
                "name the file of one, or make one: contrast-krm init",
            ),
            "generates": ("more than one file there has a ContrastGenerate", "name the files of one configuration"),
            "selects-none": ("{address} is none of the pods that do not ask for Contrast", "name one of {known}"),
            "no-code": ("{text} is no code of a finding", "name one as messages have it, such as CC0304"),
            "no-code-near": ("{text} is no code of a finding", "did you mean {near}?"),
            # a platform, a release, a manifest
            "platform": ("unknown platform {platform}", "use {known}"),
            "no-platform": (
                "the ContrastRelease has no platform",
                "fill it in: `contrast-krm release import` reads the files of a release",
            ),
            "tcb": (
                "it is not four numbers from 0 to 255, each with its name",
                (
                    "write BootloaderVersion=B,TEEVersion=T,SNPVersion=S,MicrocodeVersion=M with the numbers that"
                    " `snphost show tcb` prints on a node"
                ),
            ),
            "mr-seam": ("it is not 96 hex digits", "write the measurement of the TDX module that you accept"),
            "version": ("is no version", "write it like v1.25.0"),
            "vcpus": ("must be from 1 to {limit}", "say how many vCPUs the pods have"),
            "no-tdx": ("it has no entry for Metal-QEMU-TDX", "give a manifest made for TDX pods of this one size"),
            "sizes": ("it was made for pods of several sizes", "give a manifest made for TDX pods of this one size"),
            "no-release": ("it has no ContrastRelease", "name a new file, or one that has a ContrastRelease"),
            "releases": ("{error}", "keep one of the two"),  # in the words of release/release_text
            "base": ("{error}", "name a manifest.json"),  # in the words of manifest/decode
            "replacement": ("not `image = replacement@sha256:<digest>`", "correct the line"),
            # policies
            "rules": ("{error}", "name a rules.rego"),  # in the words of config/generate
            "rules-encoding": ("is not UTF-8", "name a rules.rego"),
            "settings": ("{error}", "name a genpolicy-settings.json"),  # in the words of config/document
            "settings-encoding": ("is not UTF-8", "name a genpolicy-settings.json"),
            "settings-depth": ("is nested too deeply", "name a genpolicy-settings.json"),
            "drop-in": (
                "{error}",  # in the words of config/document and of policy/settings
                "correct the drop-in: a JSON list of operations add, remove, replace, move, copy, test",
            ),
            "drop-in-encoding": (
                "is not UTF-8",
                "correct the drop-in: a JSON list of operations add, remove, replace, move, copy, test",
            ),
            "drop-in-depth": (
                "is nested too deeply",
                "correct the drop-in: a JSON list of operations add, remove, replace, move, copy, test",
            ),
            "drop-in-root": (
                "puts something else in place of the settings",
                "correct the drop-in: a JSON list of operations add, remove, replace, move, copy, test",
            ),
            "genpolicy-name": (
                "{program} has no slash, and programs are not searched for",
                "name genpolicy's executable by its path, such as ./genpolicy",
            ),
            "genpolicy-file": ("{program} is no file", "name genpolicy's executable by its path, such as ./genpolicy"),
            "genpolicy-mode": (
                "{program} is not executable",
                "name genpolicy's executable by its path, such as ./genpolicy",
            ),
            # policy replay
            "engine-file": ("{program} is no file", "name a program by its path, or use opa or regorus"),
            "engine-mode": ("{program} is not executable", "name a program by its path, or use opa or regorus"),
            "log-long": ("{error}", "cut out the lines of one pod"),  # in the words of replay/log_text
            "log-empty": (
                "it has no request and no denial",
                "give it the agent's log at debug level, or text that quotes it",
            ),
            "log-pods": ("none of its pods is named like the workload", "name one with --pod: {known}"),
            "log-no-pod": ("the log has no pod {text}", "use one of {known}"),
            # keys
            "key": (
                "{error}",
                "name a file with one key in PEM, without a password",
            ),  # by manifest/owner_keys
            "no-updates": ("contradicts --add-workload-owner-key", "use one of the two"),
            "public-key": ("the public key would go to standard output as well", "name a file with --public"),
            "add-to": ("{error}", "name the file with the ContrastGenerate"),  # in the words of wiring/owner_key
            # nodes
            "package": ("the Python package {package} is not installed", "pip install 'contrast-krm[{extra}]'"),
            "package-copy": (
                "the Python package {package} is not in this copy of contrast-krm",
                "pipx install 'contrast-krm[{extra}]', and run that contrast-krm",
            ),
            "facts-alone": ("says more of nodes, and no nodes are given", "add --nodes FILE or --cluster"),
            "no-node": ("there is no Node in it", "give what `kubectl get nodes -o yaml` prints"),
            # lock
            "source": ("names no source", "use {known} or {last}"),
            "registry": ("is not host or host:port", "write it as in the image's name, no scheme"),
            "layer-size": ("is not a number of bytes", "write a number, or one with Ki, Mi or Gi: 8Gi"),
            "jobs": ("must be 1 to {limit}", "write a number between"),
            "timeout": ("must be 1 to {limit} seconds", "write a number between"),
            "pins": ("{error}", "name the kustomization of the outermost overlay, or a file of Helm values"),
            "lock-too": ("it is the file of --output too", "name two files"),
            "prune": ("has no lock to drop entries from", "name it with -o"),
            "check-what": ("has no lock to look at", "name it with -o"),
            "check": ("with --check nothing is looked up or written", "use one of the two"),
            "no-lock": ("the file has no ImageLock", "name a file with one, or a new file"),
            "locks": ("the file has {count} ImageLocks", "name a file with one, or a new file"),
            # install
            "python": (
                "must be an absolute path, or a name without a slash",
                "name the Python where the copy runs",
            ),
        },
    ),
    # another finding, about a file of the configuration
    "CC0910": Row("error", "the configuration cannot be read: {problem}", "{remedy}"),
    "CC0911": Row("info", "the environment gives --config: {variable}={value}"),
    "CC0912": Row(
        "error",
        "this {kind} would be applied to the cluster, which does not know the kind",
        (
            'give it the annotation config.kubernetes.io/local-config: "true", which keeps it out, or pass its file'
            " with --config and take it out of the resources"
        ),
    ),
}
