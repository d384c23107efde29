#!/bin/sh
# debian.sh ROOT [OPTION...]: a bare Debian 12 in ROOT, by debootstrap with these options. Its sources,
# and how they are reached, are the machine's own.
set -eu
root=$1; shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download -q debootstrap || { apt-get update -q; apt-get download -q debootstrap; }
dpkg-deb --extract debootstrap_*.deb program
debian=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
  'Created-By: Packages' 'Origin: Debian')
mirror=$(echo "$debian" | sed -n 's/^deb \(.*\) bookworm main$/\1/p' | head -1)
DEBOOTSTRAP_DIR="$work/program/usr/share/debootstrap" \
  sh program/usr/sbin/debootstrap "$@" bookworm "$root" "$mirror"
echo "$debian" > "$root/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(https?|Check-)' > "$root/etc/apt/apt.conf.d/99machine" || true
