#!/bin/sh
# Generates a new signing key and keeps the previous one valid until the next rotation. The variable's
# value is NEW,OLD: the application signs with the first key and accepts both.
# Use it for --from-command, which passes the current value on stdin.
set -eu
old=$(cat)
new=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
printf '%s,%s\n' "$new" "${old%%,*}"
