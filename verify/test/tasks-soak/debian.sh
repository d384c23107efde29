#!/bin/sh
# debian.sh ROOT PACKAGE...: a bare Debian 12 in ROOT. What the pages install lies in apt's cache
# there, and is not installed: the pages' own lines do that, without a network.
set -eu
root=$1; shift
sh "$(dirname "$0")/../support/debian.sh" "$root" --include=iproute2,libnss-systemd
chroot "$root" apt-get update -q
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install --download-only --yes -q "$@"
