#!/bin/sh
# Alternates between two PostgreSQL roles, so that the old value works until the rotation has finished.
# The variable's value is a URL: postgres://ROLE:PASSWORD@HOST:PORT/DATABASE
# Use it for --from-command, --apply, --check and --revoke.
#
# Environment:
#   ROLES             the two roles, separated by a space
#   DATABASE          a database that both can connect to
#   PGHOST, PGPORT, PGUSER, PGPASSFILE
#                     an administrator's connection, as for psql
#   HEALTH_PATH       optional, such as /api/health: --check also sends a request to the deployment, which
#                     must return 200 and the role that it connects as (SELECT current_user)
#   BYPASS_FILE       optional: file with Vercel's protection bypass secret
set -eu
url=$(cat)
rest=${url#postgres://}
role=${rest%%:*}
rest=${rest#*:}
password=${rest%%@*}
case " $ROLES " in
*" $role "*) ;;
*)
    echo "the value is not for one of the roles in ROLES" >&2
    exit 1
    ;;
esac
case "$password" in
*[!A-Za-z0-9]*)
    echo "the password contains characters other than letters and digits" >&2
    exit 1
    ;;
esac

as_administrator() {
    psql -X -q -v ON_ERROR_STOP=1 -d "$DATABASE" >/dev/null
}

# Both roles can log in until the old one is revoked, so only the deployment knows which one it uses.
deployment() {
    if [ -z "${HEALTH_PATH:-}" ]; then
        echo "HEALTH_PATH is not set: checked only the database, not which value the deployment uses." >&2
        return
    fi
    { [ -z "${BYPASS_FILE:-}" ] || printf 'header = "x-vercel-protection-bypass: %s"\n' "$(cat "$BYPASS_FILE")"; } |
        curl --silent --show-error --fail --max-time 20 --config - "$ZG_ENV_DEPLOYMENT_URL$HEALTH_PATH" |
        grep -q -w -F -e "$role"
}

case "${ZG_ENV_STEP:-}" in
"")
    # Print the next value: the other role with a new password.
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
