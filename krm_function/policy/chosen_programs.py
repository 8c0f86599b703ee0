"""Values of the running pod must not choose what runs: in variables, commands and scripts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from krm_function.contrast.gpus import asked_gpus
from krm_function.findings import Finding, Path
from krm_function.kubernetes.objects import fits
from krm_function.policy.expansion import FIELDS
from krm_function.policy.pod_metadata import PodMetadata, problem

# --- The variables that steer a program before its own code runs, or whose host it trusts; none of them may be open
#
# A holder of an open variable chooses its value; the host chooses one that only the running pod has, within its form.
# For an ordinary variable that is as far as it goes; one of this table makes a loader, shell or interpreter run other
# code, or lets the program trust or reach another party.
#
# Rule: the table groups names by what reads them, and the reason is part of a sentence. The list cannot be
# complete: a program may have variables of its own that do the same (docs/how-to/external-sources.md).


# What libc leaves out of the environment of a program with raised privileges (ld.so(8), section "Environment"), and the
# rest by the documentation of what reads it. What they steer -> the names; `*` stands for any text.
STEERING = {
    "the C library and its loader": (
        *("LD_*", "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH", "MALLOC_*"),
        *("NIS_PATH", "NLSPATH", "RESOLV_HOST_CONF", "RES_OPTIONS", "TMPDIR", "TZDIR", "NIX_LD", "NIX_LD_*"),
    ),
    "the shell": (
        *("PATH", "IFS", "ENV", "BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "SHELLOPTS", "CDPATH", "GLOBIGNORE", "PS4"),
        *("PROMPT_COMMAND", "FPATH", "ZDOTDIR"),
    ),
    "which programs others start": (
        *("SHELL", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "*_ASKPASS", "GIT_*"),
        *("MAKEFLAGS", "MAKEFILES", "MANPAGER", "PSQL_PAGER", "SYSTEMD_PAGER"),
    ),
    "where programs look for configuration that can name other programs": (
        *("HOME", "XDG_*", "KRB5_CONFIG", "KUBECONFIG", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"),
        *("PGSERVICEFILE", "PGSYSCONFDIR"),
    ),
    "the Python interpreter": (
        *("PYTHON*", "UWSGI_*", "GUNICORN_CMD_ARGS", "FLASK_APP", "DJANGO_SETTINGS_MODULE", "CELERY_CONFIG_MODULE"),
        *("IPYTHONDIR", "JUPYTER_CONFIG_DIR"),
    ),
    "the Perl interpreter": ("PERL5*", "PERLLIB", "PERL_*"),
    "the Ruby interpreter": ("RUBY*", "GEM_*", "BUNDLE_*"),
    "Bun": ("BUN_OPTIONS",),
    "Node.js": ("NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NPM_CONFIG_*", "npm_config_*"),
    "the Java virtual machine": (
        *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "*JAVA_OPTS", "*JVM_OPTS", "*JVM_OPTIONS"),
        *("*JVM_ARGS", "CATALINA_*", "KAFKA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS", "CLASSPATH", "JAVA_HOME"),
    ),
    "Spring, which takes any of its settings from there": ("SPRING_APPLICATION_JSON", "LOGGING_CONFIG"),
    "the .NET runtime": ("DOTNET_*", "COMPlus_*", "CORECLR_*", "COR_*", "ASPNETCORE_HOSTINGSTARTUPASSEMBLIES"),
    "the Go runtime": ("GODEBUG", "GOTRACEBACK"),
    "the go command, which starts programs that its flags name": ("GOFLAGS",),
    "the PHP interpreter": ("PHPRC", "PHP_INI_SCAN_DIR"),
    "the Lua interpreter": ("LUA_*",),
    "the Erlang virtual machine": ("ERL_*", "ELIXIR_ERL_OPTIONS"),
    "the Julia interpreter": ("JULIA_LOAD_PATH", "JULIA_DEPOT_PATH"),
    "the Tcl interpreter": ("TCLLIBPATH",),
    "PowerShell": ("PSModulePath",),
    "the R interpreter": ("R_HOME", "R_LIBS*", "R_PROFILE*", "R_ENVIRON*"),
    "a library that loads modules": (
        *("OPENSSL_*", "CUDA_INJECTION*", "NCCL_*PLUGIN*", "GTK_MODULES", "QT_PLUGIN_PATH", "GST_PLUGIN*"),
        *("GIO_EXTRA_MODULES", "SASL_PATH", "OCL_ICD_*", "VK_LAYER_PATH", "LIBGL_DRIVERS_PATH"),
    ),
    "a library of GPUs, MPI or machine learning that loads code": (
        *("NVTX_INJECTION*", "NCCL_CONF_FILE", "OMP_TOOL_LIBRARIES", "OMPI_MCA_*", "PMIX_MCA_*", "FI_PROVIDER_PATH"),
        *("TPU_LIBRARY_PATH", "PJRT_NAMES_AND_LIBRARY_PATHS", "HSA_TOOLS_LIB", "ROCP_TOOL_LIBRARIES", "VLLM_PLUGINS"),
        *("TRITON_CACHE_DIR", "TRITON_LIBCUDA_PATH", "TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR"),
    ),
    "where a program writes the keys of its connections": ("SSLKEYLOGFILE",),
    "which certificates a program trusts": (
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "*_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED"),
    ),
    "where requests go, also those meant for the service mesh in the VM": (
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    ),
}

# Names of the table whose value is a number: a program makes at most that many of something. A number of
# the pod's resources may be all of their value.
COUNTS = (
    *("MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_"),
    *("PYTHON_CPU_COUNT", "UWSGI_PROCESSES", "UWSGI_WORKERS", "UWSGI_THREADS"),
    *("DOTNET_PROCESSOR_COUNT", "DOTNET_GCHeapCount", "DOTNET_GCHeapHardLimit", "DOTNET_GCHeapHardLimitPercent"),
)


@lru_cache(maxsize=1024)
def steered_by(name: str) -> str:
    """Return what a variable steers, "" for an ordinary one."""
    return next(
        (program for program, patterns in STEERING.items() if any(fits(pattern, name) for pattern in patterns)), ""
    )


# --- Tell which containers run code that a variable of no list may choose: an interpreter, a shell or a GPU stack
#
# Rule: there an open variable needs its name in the reviewed configuration. The image shows it by what it starts, or by
# what it sets itself, such as PYTHON_VERSION, JAVA_HOME or LD_LIBRARY_PATH.


# programs that run the code, or the program, that another word names; without their directory and version
_STARTERS = frozenset(
    (
        *("sh", "ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "runuser", "su", "zsh", "pwsh", "powershell"),
        *("python", "pypy", "node", "nodejs", "bun", "deno", "perl", "ruby", "lua", "luajit", "julia", "Rscript"),
        *("elixir", "erl", "php", "java", "busybox", "catatonit", "dumb-init", "env", "nohup", "setsid", "sudo"),
        *("tini", "tini-static", "xargs"),
    )
)


def reads_code_from_variables(container: Mapping[str, Any], image: Mapping[str, Any]) -> bool:
    """Tell whether a container starts an interpreter or a shell, has a GPU, or its image is made for one of these.

    image: its OCI config.
    """
    words = container.get("command") or [
        *(image.get("Entrypoint") or ()),
        *(container.get("args") or image.get("Cmd") or ()),
    ]
    variables = [text.partition("=")[0] for text in image.get("Env") or ()]
    return (
        any(_program_name(text) in _STARTERS or text.endswith(".sh") for text in words[:1])
        or any(asked_gpus(dict(container)))
        or any(name != "PATH" and steered_by(name) for name in variables)
    )


# --- Refuse values of the running pod where they would choose what runs: in steering variables, commands and scripts
#
# Such a value has a form (policy/expansion.py) and within it the host chooses. As the value of an ordinary variable, or
# in an argument, that is as far as it goes. What a value may be part of, by its kind:
#
#                                        names: node, uid,    numbers,      the pod's own name,
#                                        hash of a template   addresses     its namespace
#     all of a steering variable         refused              refused       refused      but a number for a count
#     text in a steering variable        refused              taken         taken
#     the first word of a process        refused              refused       refused
#     a word that a shell, interpreter
#     or launcher starts or runs:
#       all of it                        refused              refused       refused
#       a part of it                     refused              taken         taken        `--node=$(NODE)`: taken
#     any other word                     taken                taken         taken
#
# The name of a pod is its own only if the policy knows it; else it is one of the names. Such a word is each one up to
# the first that is no option. In a script, no command is called like an address, a number or the pod.
#
# Rule: a script, and a program, can read the variable itself; so what is refused always has another form.


# token -> its description; any other is a variable of a Service, whose form is an address or a number
_WHAT = {
    "sandbox-name": "the pod's name",
    "sandbox-namespace": "the pod's namespace",
    "pod-uid": "the pod's uid",
    "node-name": "the name of its node",
    "host-ip": "the address of its node",
    "host-ips": "the addresses of its node",
    "pod-ip": "the pod's address",
    "pod-ips": "the pod's addresses",
    "resource-field": "a number of its resources",
    "pod-index": "the pod's index",
    "completion-index": "the pod's index",
    "template-hash": "the hash of its template",
    "generated": "the letters of a generated name",
    "minutes": "the time of its Job",
    "node-label": "the zone or region of its node",
    "todo-annotation": "an annotation of the running pod",
}
_NAMES = frozenset(("node-name", "pod-uid", "template-hash", "generated", "node-label", "todo-annotation"))
_NUMBERS = frozenset(("resource-field", "pod-index", "completion-index", "minutes"))

_LOOKED_AT = 256  # characters of a script before a value; a longer script never allows more
# what is before a value; as text: `re` compiles it at its first use, which few pods need
_OPTION = r"""(?:\A|\s)--?(?!eval=|print=)[A-Za-z][\w.-]*=["']?[^\s;&|()`"']*\Z"""


def steering_problem(name: str, value: str, pod: PodMetadata, at: Path) -> Finding | None:
    """Return CC0680 if a variable that steers a program has a value of the running pod. value: with markers."""
    pieces = value.split("\0")  # text, token, text, ... text
    tokens = pieces[1::2]
    program = steered_by(name) if tokens else ""
    if not program:
        return None
    if not re.search("[A-Za-z0-9]", "".join(pieces[::2])):
        count = set(tokens) <= _NUMBERS and any(fits(pattern, name) for pattern in COUNTS)
        chosen = None if count else tokens[0]
    else:
        chosen = next((token for token in tokens if _is_name(token, pod)), None)
    if chosen is None:
        return None
    return problem(pod, at, "CC0680", variable=name, value=_describe(chosen), what=program)


def command_problems(words: Sequence[tuple[str, Path]], pod: PodMetadata) -> Iterator[Finding]:
    """Yield CC0681 for each word of a process that lets a value of the running pod choose what runs.

    words: all words of the process, with markers, and their paths; words of the image are included.
    """
    program = ""  # the last word that is no option
    for text, at in words:
        if "\0" in text:
            pieces = text.split("\0")
            token = _find_choice(pieces, pod) if program in _STARTERS else "" if program else pieces[1]
            if token:
                code = "CC0681.code" if program else "CC0681.program"
                yield problem(pod, at, code, value=_describe(token))
        if not text.startswith("-"):
            program = _program_name(text)


def _find_choice(pieces: Sequence[str], pod: PodMetadata) -> str:
    """Return a token that is all of the word, or a name that is not the value of an option; "" without one.

    pieces: text, token, text, ... text.
    """
    if not re.search("[A-Za-z0-9]", "".join(pieces[::2])):
        return pieces[1]
    script = ""
    for text, token in zip(pieces[::2], pieces[1::2], strict=False):
        script = (script + text)[-_LOOKED_AT:]
        if _is_name(token, pod) and not re.search(_OPTION, script):
            return token
        script += "x"  # for the value
    return ""


def _program_name(text: str) -> str:
    """Return `python` for `/usr/bin/python3.12`."""
    name = text.rsplit("/", 1)[-1]
    return name.rstrip("0123456789.") or name


def _is_name(token: str, pod: PodMetadata) -> bool:
    return token in _NAMES or (token == FIELDS["metadata.name"] and not pod.name_pattern)


def _describe(token: str) -> str:
    return _WHAT.get(token, "a variable of a Service")
