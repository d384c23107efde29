#!/bin/sh
# debian.sh ROOT PACKAGE...: a bare Debian 12 by debootstrap, in ROOT. What the pages install lies in
# apt's cache there, and is not installed: the pages' own lines do that, without a network.
# The mirror is the machine's own.
set -eu
root=$1; shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
(cd "$work" && apt-get download -q debootstrap)
dpkg-deb --extract "$work"/debootstrap_*.deb "$work/program"
mirror=$(apt-get indextargets --format '$(CREATED_BY) $(CODENAME) $(REPO_URI)' |
  sed -n 's/^Packages bookworm //p' | head -1)
DEBOOTSTRAP_DIR="$work/program/usr/share/debootstrap" \
  sh "$work/program/usr/sbin/debootstrap" --include=iproute2,libnss-systemd bookworm "$root" "$mirror"
chroot "$root" apt-get update -q
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install --download-only --yes -q "$@"
