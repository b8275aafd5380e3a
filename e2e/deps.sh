#!/usr/bin/env bash
# Install the Debian packages that the local cluster and the image builds need.
# Does nothing, and needs no root, when all are there.
set -euo pipefail

list="$(dirname "$0")/cluster/debian-packages.txt"
mapfile -t wanted < <(grep -vE '^\s*(#|$)' "$list")

if ! command -v dpkg-query >/dev/null; then
    echo "deps: this is not Debian: install what these packages hold yourself: ${wanted[*]}" >&2
    exit 1
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "deps: not root, and these Debian packages are missing: ${missing[*]}" >&2
    exit 1
fi

echo "==> Installing Debian packages: ${missing[*]}"
log=$(mktemp)
if ! { apt-get update -q && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    echo "deps: apt-get could not install ${missing[*]} (is the package index reachable?): $(grep -m1 '^E:' "$log" || tail -n 1 "$log"); log: $log" >&2
    exit 1
fi
rm -f "$log"
