#!/bin/sh
# Two roles of a PostgreSQL server that take turns, so that both values work until the end. The value is
# an address: postgres://ROLE:PASSWORD@HOST:PORT/DATABASE
# For --from-command, --apply, --check and --revoke.
#
# Wants ROLES, two names parted by a blank, DATABASE, and the usual PGHOST, PGPORT, PGUSER, PGPASSFILE of an
# administrator.
set -eu
url=$(cat)
rest=${url#postgres://}
role=${rest%%:*}
rest=${rest#*:}
password=${rest%%@*}
case " $ROLES " in
*" $role "*) ;;
*)
    echo "the value names none of the two roles" >&2
    exit 1
    ;;
esac
case "$password" in
*[!A-Za-z0-9]*)
    echo "the password has characters other than letters and digits" >&2
    exit 1
    ;;
esac

as_administrator() {
    psql -X -q -v ON_ERROR_STOP=1 -d "$DATABASE" >/dev/null
}

case "${ZG_ENV_STEP:-}" in
"")
    # The other role, with a new password.
    for other in $ROLES; do
        [ "$other" = "$role" ] || break
    done
    new=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
    printf 'postgres://%s:%s@%s\n' "$other" "$new" "${rest#*@}"
    ;;
apply | undo)
    printf "ALTER ROLE \"%s\" LOGIN PASSWORD '%s';\n" "$role" "$password" | as_administrator
    ;;
check)
    PGUSER=$role PGPASSWORD=$password PGPASSFILE=/dev/null \
        psql -X -q -w -d "$DATABASE" -c 'SELECT 1' >/dev/null
    ;;
revoke)
    printf 'ALTER ROLE "%s" NOLOGIN;\n' "$role" | as_administrator
    ;;
esac
