# The function as a container image: no argument needed, no network, any user, read-only root. Libraries are those of
# requirements/run.txt, by their hashes; it also holds what builds the wheel, which the image does not get.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements/run.txt requirements/run.txt
RUN pip wheel --no-cache-dir --wheel-dir /wheels --require-hashes -r requirements/run.txt \
 && pip install --no-cache-dir --no-index --find-links /wheels hatchling
COPY pyproject.toml README.md LICENSE ./
COPY krm_function krm_function
COPY helm_plugin helm_plugin
ARG EXTRAS=lock,html,settings,completion
RUN pip wheel --no-cache-dir --wheel-dir /wheels --no-deps --no-build-isolation . \
 && python -m venv /opt/contrast-krm \
 && /opt/contrast-krm/bin/pip install --no-cache-dir --compile --no-index --find-links /wheels "contrast-krm[${EXTRAS}]" \
 && /opt/contrast-krm/bin/pip uninstall --yes pip

FROM python:3.13-slim
LABEL org.opencontainers.image.title="contrast-krm" \
      org.opencontainers.image.description="Confidential workloads for Contrast: KRM function and Helm post-renderer" \
      org.opencontainers.image.version="0.2.0.dev0" \
      org.opencontainers.image.licenses="Apache-2.0"
# The base image carries no byte-code of the standard library, and nothing can be cached at run time: each start would
# compile it anew.
RUN python -m compileall -q /usr/local/lib/python3.13 -x '/(site-packages|idlelib|test)/'
COPY --from=build /opt/contrast-krm /opt/contrast-krm
ENV PATH=/opt/contrast-krm/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/nonexistent
# `nobody`, by number: what kustomize and kpt run functions as.
USER 65534:65534
ENTRYPOINT ["contrast-krm"]
