"""The variables that steer a program before its own code runs, or whose host it trusts; none of them may be open.

A holder of an open variable chooses its value; the host chooses one that only the running pod has, within its form.
For an ordinary variable that is as far as it goes; one of this table makes a loader, shell or interpreter run other
code, or lets the program trust or reach somebody else.

Rule of this file: a name is in the table for what reads it, and the reason is part of a sentence. The list cannot be
complete: a program may have variables of its own that do the same (docs/how-to/external-sources.md).
"""

from functools import lru_cache

from krm_function.model.glob_pattern import fits

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
        *("MAKEFLAGS", "MAKEFILES", "MANPAGER"),
    ),
    "where programs look for configuration that can name other programs": (
        *("HOME", "XDG_*", "KRB5_CONFIG", "KUBECONFIG", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"),
        *("PGSERVICEFILE", "PGSYSCONFDIR"),
    ),
    "the Python interpreter": ("PYTHON*", "UWSGI_*", "GUNICORN_CMD_ARGS"),
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

# Names of the table whose value is a number, of which a program makes no more than that many of something. A number of
# the pod's resources may be all of their value.
COUNTS = (
    *("MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_"),
    *("PYTHON_CPU_COUNT", "UWSGI_PROCESSES", "UWSGI_WORKERS", "UWSGI_THREADS"),
    *("DOTNET_PROCESSOR_COUNT", "DOTNET_GCHeapCount", "DOTNET_GCHeapHardLimit", "DOTNET_GCHeapHardLimitPercent"),
)


@lru_cache(maxsize=1024)
def steered_by(name: str) -> str:
    """Return what a variable steers, "" for an ordinary one."""
    return next((what for what, patterns in STEERING.items() if any(fits(one, name) for one in patterns)), "")
