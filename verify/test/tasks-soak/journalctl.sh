#!/bin/sh
# In the place of journalctl, beside systemctl.sh: -u UNIT -n LINES.
set -eu
while [ $# -gt 0 ]; do
  case $1 in
    -u) unit=$2; shift 2 ;;
    -n) lines=$2; shift 2 ;;
    *) shift ;;
  esac
done
tail -n "$lines" "/var/log/units/$unit.log"
