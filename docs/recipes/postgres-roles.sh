#!/bin/sh
# Two roles of a PostgreSQL server that take turns, so that both values work until the end. The value is
# an address: postgres://ROLE:PASSWORD@HOST:PORT/DATABASE
# For --from-command, --apply, --check and --revoke.
#
# Wants ROLES, two names parted by a blank, DATABASE, and the usual PGHOST, PGPORT, PGUSER, PGPASSFILE of an
# administrator.
# With HEALTH_PATH, such as /api/health, --check asks the deployment too: it must answer 200 with the name of
# the role that it logs in with (SELECT current_user). BYPASS_FILE is a file with the secret of Vercel's
# protection bypass.
set -eu
url=$(cat)
rest=${url#postgres://}
role=${rest%%:*}
rest=${rest#*:}
password=${rest%%@*}
case " $ROLES " in
*" $role "*) ;;
*)
    echo "the value belongs to neither role" >&2
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

# Both roles can log in until the end, so only the deployment can tell which one it has.
deployment() {
    if [ -z "${HEALTH_PATH:-}" ]; then
        echo "HEALTH_PATH is not set: this proves the database alone, not what the deployment uses." >&2
        return
    fi
    { [ -z "${BYPASS_FILE:-}" ] || printf 'header = "x-vercel-protection-bypass: %s"\n' "$(cat "$BYPASS_FILE")"; } |
        curl --silent --show-error --fail --max-time 20 --config - "$ZG_ENV_DEPLOYMENT_URL$HEALTH_PATH" |
        grep -q -w -F -e "$role"
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
    deployment
    ;;
revoke)
    printf 'ALTER ROLE "%s" NOLOGIN;\n' "$role" | as_administrator
    ;;
esac
