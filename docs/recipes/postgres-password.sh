#!/bin/sh
# One role of a PostgreSQL server, whose password is the variable's value. For --apply and --check.
# The old password ends as soon as the new one is taught: use two roles where that must not be.
#
# Wants ROLE and DATABASE, and the usual PGHOST, PGPORT, PGUSER, PGPASSFILE of an administrator.
# With HEALTH_PATH, such as /api/health, --check asks the deployment too: it must answer 200 once it has made
# a new connection to the database. BYPASS_FILE is a file with the secret of Vercel's protection bypass.
set -eu
# The old password does not work any more, so a deployment that logs in has the new one.
deployment() {
    if [ -z "${HEALTH_PATH:-}" ]; then
        echo "HEALTH_PATH is not set: this proves the database alone, not what the deployment uses." >&2
        return
    fi
    { [ -z "${BYPASS_FILE:-}" ] || printf 'header = "x-vercel-protection-bypass: %s"\n' "$(cat "$BYPASS_FILE")"; } |
        curl --silent --show-error --fail --max-time 20 --config - "$ZG_ENV_DEPLOYMENT_URL$HEALTH_PATH" >/dev/null
}

password=$(cat)
case "$ZG_ENV_STEP" in
apply | undo)
    # printf is the shell's own: the password is in no argument. Quotes are doubled, as SQL wants it.
    quoted=$(printf '%s' "$password" | sed "s/'/''/g")
    printf "ALTER ROLE \"%s\" PASSWORD '%s';\n" "$ROLE" "$quoted" |
        psql -X -q -v ON_ERROR_STOP=1 -d "$DATABASE" >/dev/null
    ;;
check | revoke)
    works=1
    PGUSER=$ROLE PGPASSWORD=$password PGPASSFILE=/dev/null \
        psql -X -q -w -d "$DATABASE" -c 'SELECT 1' >/dev/null 2>&1 || works=0
    # The check is of the value that must work, the revocation of the one that must not.
    case "$ZG_ENV_STEP" in
    check)
        [ "$works" = 1 ]
        deployment
        ;;
    revoke) [ "$works" = 0 ] ;;
    esac
    ;;
esac
