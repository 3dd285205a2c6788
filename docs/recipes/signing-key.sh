#!/bin/sh
# A signing key of which the old one stays valid for a while. The value is NEW,OLD: the application signs
# with the first key and accepts both. For --from-command: the old value is on stdin, and its first key
# becomes the second one.
set -eu
old=$(cat)
new=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
printf '%s,%s\n' "$new" "${old%%,*}"
