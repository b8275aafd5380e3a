#!/usr/bin/env bash
# Make .venv from the pinned requirements; a no-op when they have not changed.
set -euo pipefail

cd "$(dirname "$0")/.."
cache="${ORTHRUS_CACHE:-$HOME/.cache/orthrus}"
stamp=.venv/.made-from
# The folder too: the environment of a tree that was copied or moved runs the code of the other.
key=$({ pwd -P; cat requirements/dev.txt pyproject.toml; } | sha256sum | cut -d' ' -f1)
[ "$(cat "$stamp" 2>/dev/null || true)" = "$key" ] && exit 0

mkdir -p "$cache"
log="$cache/venv.log"
fail() {
    echo "venv: $1: $(grep -vE '^\s*$' "$log" | tail -n 1); log: $log" >&2
    exit 1
}

command -v python3 >/dev/null || { echo "venv: python3 is missing" >&2; exit 1; }
uv=$(command -v uv || echo "$cache/uv/bin/uv")
if [ ! -x "$uv" ]; then
    python3 -c 'import ensurepip' 2>/dev/null ||
        { echo "venv: python3-venv is missing: run make deps as root, or install uv" >&2; exit 1; }
    echo "==> Installing uv"
    { python3 -m venv "$cache/uv" && "$cache/uv/bin/pip" install -q uv; } >"$log" 2>&1 ||
        fail "uv could not be installed (is the package index reachable?)"
fi

echo "==> Installing Python packages into .venv (6 GB, about two minutes)"
"$uv" venv -q --clear --python '>=3.11,<3.12' .venv >"$log" 2>&1 || fail "no Python 3.11 found"
"$uv" pip install --no-deps --compile-bytecode -r requirements/dev.txt >"$log" 2>&1 ||
    fail "Python packages could not be installed (is the package index reachable?)"
"$uv" pip install -q --no-deps --no-build-isolation -e . >"$log" 2>&1 ||
    fail "the project itself could not be installed"
echo "$key" >"$stamp"
