#!/bin/sh
# First process of a node, alone in new network and mount namespaces: gives the node directories of its own, then holds
# the namespaces open. When it ends, and nothing else lives in them, the kernel takes every mount and interface away.
# Argument: the directory that holds the node's var-lib and var-log.
set -eu
mount -t tmpfs -o mode=755 tmpfs /run
mount --bind "$1/var-lib" /var/lib
mount --bind "$1/var-log" /var/log
# The kubelet insists on these machine-wide settings. It is shown what it wants, so that the host's stay as they are.
mkdir /run/kernel-settings
while read -r file value; do
  shown=/run/kernel-settings/$(basename "$file")
  echo "$value" > "$shown"
  [ ! -e "$file" ] || mount --bind "$shown" "$file"
done <<SETTINGS
/proc/sys/vm/overcommit_memory 1
/proc/sys/vm/panic_on_oom 0
/proc/sys/kernel/panic 10
/proc/sys/kernel/panic_on_oops 1
/proc/sys/kernel/keys/root_maxkeys 1000000
/proc/sys/kernel/keys/root_maxbytes 25000000
SETTINGS
ip link set lo up
echo 1 > /proc/sys/net/ipv4/ip_forward
: > /run/orthrus-node-ready
exec sleep infinity
