# The function as a container image: no argument, no network, any user, a read-only root; Python and the program, no
# shell. docs/how-to/container-image.md has the commands.
#
# BASE has the Python, 3.11 or newer, on Debian or another glibc system. Here it is a tag, which gets its fixes; a release
# is built with the digest of that day. The label contrast-krm.dev/base says what the image was made of.
ARG BASE=python:3.13-slim

# Wheels at hand: `--build-context wheels=DIRECTORY`, with `--build-arg PIP_NO_INDEX=1` where there is no index. Another
# index: `--secret id=pip.conf,src=FILE`.
FROM scratch AS wheels

FROM ${BASE} AS build
WORKDIR /src
COPY requirements/run.txt requirements/run.txt
# The libraries by their hashes, the build backend as well. What is not a wheel would run its own code: refused.
ARG PIP_NO_INDEX
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PYTHONHASHSEED=0
RUN --mount=type=bind,from=wheels,target=/wheels --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    python3 -m venv /opt/build \
 && python3 -m venv --without-pip /opt/contrast-krm \
 && /opt/build/bin/pip download --find-links /wheels --dest /locked --only-binary :all: --require-hashes -r requirements/run.txt \
 && /opt/build/bin/pip install --no-index --find-links /locked hatchling pyyaml shtab
COPY pyproject.toml README.md LICENSE ./
COPY krm_function krm_function
COPY helm_plugin helm_plugin
COPY tools/build_hook.py tools/build_hook.py
ARG EXTRAS=lock,html,settings,completion
RUN /opt/build/bin/pip wheel --wheel-dir /locked --no-deps --no-build-isolation . \
 && /opt/build/bin/pip --python /opt/contrast-krm/bin/python install --no-compile --no-index --find-links /locked "contrast-krm[${EXTRAS}]"
COPY tools/image_root.py tools/image_root.py
ARG SOURCE_DATE_EPOCH=0
RUN python3 tools/image_root.py /image /opt/contrast-krm/bin/contrast-krm \
 && chroot /image /opt/contrast-krm/bin/contrast-krm version

FROM scratch
ARG BASE
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
# Artifact Hub lists an image that says when it was built, what it is, and where its page is; categories are its own.
LABEL io.artifacthub.package.readme-url="https://raw.githubusercontent.com/contrast-krm/contrast-krm/${REVISION}/docs/how-to/container-image.md" \
      io.artifacthub.package.category="security" \
      io.artifacthub.package.keywords="kustomize,helm,kpt,krm-function,confidential-computing,sev-snp,tdx" \
      io.artifacthub.package.license="Apache-2.0" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.documentation="https://github.com/contrast-krm/contrast-krm/tree/main/docs" \
      org.opencontainers.image.title="contrast-krm" \
      org.opencontainers.image.description="Confidential workloads for Contrast: KRM function and Helm post-renderer" \
      org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="https://github.com/contrast-krm/contrast-krm" \
      org.opencontainers.image.licenses="Apache-2.0" \
      contrast-krm.dev/base="${BASE}"
COPY --from=build /image /
# SSL_CERT_FILE: only `lock` connects to anything.
ENV PATH=/opt/contrast-krm/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    HOME=/nonexistent
# `nobody`, by number: what kustomize and kpt run functions as.
USER 65534:65534
WORKDIR /
ENTRYPOINT ["/opt/contrast-krm/bin/contrast-krm"]
