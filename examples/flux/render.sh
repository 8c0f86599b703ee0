#!/usr/bin/env bash
# What CI runs before Flux: render.sh OVERLAY DIRECTORY. Renders the overlay, checks it, and puts the resources and the
# manifest into the directory. If anything fails, the directory stays as it was.
set -euo pipefail
overlay=$1
directory=$2
mkdir -p "$directory"
made=$(mktemp -d "$directory.XXXXXX")
trap 'rm -rf "$made"' EXIT
kustomize build --enable-alpha-plugins --enable-exec "$overlay" > "$made/rendered.yaml"
contrast-krm check "$made/rendered.yaml"
contrast-krm manifest "$made/rendered.yaml" > "$made/manifest.json"
mv "$made/rendered.yaml" "$made/manifest.json" "$directory"
