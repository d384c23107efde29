#!/bin/sh
# rootfs.sh ROOT: a root of what the market's Node needs, out of Debian's packages, and nothing else.
# No shell, no package manager, no set-user-id program. The Containerfile and the soak use it.
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
(cd "$work" && apt-get download -q libc6 libgcc-s1 libstdc++6)
mkdir -p "$root"
for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$root"; done
# Of these, libraries and licences are wanted.
rm -rf "$root/usr/share/doc-base" "$root/usr/share/lintian" "$root/usr/share/gdb" \
  "$root/usr/share/gcc" "$root"/usr/lib/*/gconv "$root"/usr/lib/*/audit
mkdir -p "$root/etc" "$root/tmp" "$root/var/lib/parley" "$root/run" "$root/proc" "$root/dev" \
  "$root/opt/parley"
chmod 1777 "$root/tmp"
chmod 700 "$root/var/lib/parley"
printf 'parley:x:65532:65532:Parley:/var/lib/parley:/nonexistent\n' > "$root/etc/passwd"
printf 'parley:x:65532:\n' > "$root/etc/group"
printf 'hosts: files dns\n' > "$root/etc/nsswitch.conf"
chown 65532:65532 "$root/var/lib/parley"
