#!/bin/sh
# parley-ops COMMAND: the operator's commands with the settings of the unit, for root.
# docs/install.md puts it into /usr/local/sbin. Lines of parley.env are read as systemd does, not run.
set -eu
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    [A-Z]*=\"*\") value=${line#*=\"} && export "${line%%=*}=${value%\"}" ;;
    [A-Z]*=\'*\') value=${line#*=\'} && export "${line%%=*}=${value%\'}" ;;
    [A-Z]*=*) export "$line" ;;
  esac
done < /etc/parley/parley.env
export PARLEY_HOME="${PARLEY_HOME:-/var/lib/parley}"
export CREDENTIALS_DIRECTORY="${CREDENTIALS_DIRECTORY:-/etc/parley/credentials}"
export PARLEY_CALLED_AS=parley-ops
exec /opt/parley/bin/parley-server ops "$@"
