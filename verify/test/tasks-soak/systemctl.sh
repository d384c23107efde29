#!/bin/sh
# In the place of systemctl, where no systemd is process 1. It checks the units by systemd-analyze
# verify, and starts ExecStart with the unit's user, environment, credentials and state folder. It
# waits for READY=1. It starts nothing again that ended: that is systemd's own. Programs of Debian
# are started by their init scripts.
set -eu
action=$1; shift
now=no
names=
for each; do
  case $each in
    --now) now=yes ;;
    *) names="$names ${each%.service}" ;;
  esac
done
run=/run/units
mkdir -p "$run" /var/log/units /run/credentials

unit_text() {
  for file in "/etc/systemd/system/$1.service" "/lib/systemd/system/$1.service"; do
    if [ -f "$file" ]; then cat "$file"; break; fi
  done
  cat "/etc/systemd/system/$1.service.d"/*.conf 2> /dev/null || true
}
values() { unit_text "$1" | sed -n "s/^$2=//p"; }

stop_own() {
  pid=$(cat "$run/$1.pid" 2> /dev/null || true)
  [ -n "$pid" ] || return 0
  kill -TERM "$pid" 2> /dev/null || true
  while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
  rm -f "$run/$1.pid"
}

start_own() {
  name=$1
  pid=$(cat "$run/$name.pid" 2> /dev/null || true)
  if [ -n "$pid" ] && kill -0 "$pid" 2> /dev/null; then return 0; fi
  [ -n "$(values "$name" ExecStart)" ] || { echo "Unit $name.service not found." >&2; exit 5; }
  if [ "$(values "$name" Type)" = oneshot ]; then sh -c "$(values "$name" ExecStart)"; return; fi
  user=$(values "$name" User)
  id "$user" > /dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$user"
  state=/var/lib/$(values "$name" StateDirectory)
  install -d -m 700 -o "$user" -g "$user" "$state"
  secrets=/run/credentials/$name.service
  rm -rf "$secrets"
  install -d -m 500 -o "$user" "$secrets"
  for each in $(values "$name" LoadCredential); do
    install -m 400 -o "$user" "${each#*:}" "$secrets/${each%%:*}"
  done
  set -- "PATH=$PATH" "CREDENTIALS_DIRECTORY=$secrets" "NOTIFY_SOCKET=$run/$name.sock"
  for each in $(values "$name" Environment); do set -- "$@" "$each"; done
  for file in $(values "$name" EnvironmentFile); do
    while IFS= read -r line; do
      case $line in [A-Z]*=*) set -- "$@" "$line" ;; esac
    done < "${file#-}"
  done
  rm -f "$run/$name.sock" "$run/$name.said"
  perl -MSocket -e 'socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])) or die;
    chmod 0666, $ARGV[0]; open(F, ">", $ARGV[1]); F->autoflush(1);
    while (defined recv(S, $m, 4096, 0)) { print F "$m\n" }' "$run/$name.sock" "$run/$name.said" \
    < /dev/null > /dev/null 2>&1 &
  listener=$!
  until [ -S "$run/$name.sock" ] && [ -f "$run/$name.said" ]; do sleep 0.05; done
  files=$(values "$name" LimitNOFILE)
  (
    cd /
    # Where the machine allows no more, as many as it does.
    ulimit -n "$files" 2> /dev/null || ulimit -n "$(ulimit -Hn)"
    # shellcheck disable=SC2046
    exec setsid env -i "$@" setpriv --reuid="$user" --regid="$user" --clear-groups \
      --no-new-privs --bounding-set=-all $(values "$name" ExecStart)
  ) < /dev/null >> "/var/log/units/$name.log" 2>&1 &
  pid=$!
  echo "$pid" > "$run/$name.pid"
  until grep -q '^READY=1' "$run/$name.said"; do
    if ! kill -0 "$pid" 2> /dev/null; then
      kill "$listener"
      rm -f "$run/$name.pid"
      echo "Job for $name.service failed." >&2
      exit 1
    fi
    sleep 0.1
  done
}

act() {
  case $2 in
    postgresql@*)
      cluster=${2#postgresql@}
      pg_ctlcluster --skip-systemctl-redirect "${cluster%%-*}" "${cluster#*-}" "$1"
      return ;;
  esac
  if [ -x "/etc/init.d/$2" ]; then
    "/etc/init.d/$2" "$1" < /dev/null > /dev/null
    return
  fi
  case $1 in
    start) start_own "$2" ;;
    stop) stop_own "$2" ;;
    restart) stop_own "$2"; start_own "$2" ;;
    *) echo "$1 is not stood in for" >&2; exit 2 ;;
  esac
}

case $action in
  daemon-reload)
    for file in /etc/systemd/system/*.service; do systemd-analyze verify --man=no "$file"; done ;;
  enable) [ "$now" = no ] || for name in $names; do act start "$name"; done ;;
  disable) [ "$now" = no ] || for name in $names; do act stop "$name"; done ;;
  *) for name in $names; do act "$action" "$name"; done ;;
esac
