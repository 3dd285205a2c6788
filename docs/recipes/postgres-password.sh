#!/bin/sh
# Changes the password of one PostgreSQL role. The variable's value is the password.
# Use it for --apply, --check and --revoke. The old password stops working when the new one is set, so a
# running deployment cannot log in until it is redeployed. To avoid that, use postgres-roles.sh.
#
# Environment:
#   ROLE, DATABASE    the role, and a database that it can connect to
#   PGHOST, PGPORT, PGUSER, PGPASSFILE
#                     an administrator's connection, as for psql
#   HEALTH_PATH       optional, such as /api/health: --check also sends a request to the deployment, which
#                     must return 200 after it has opened a new connection to the database
#   BYPASS_FILE       optional: file with Vercel's protection bypass secret
set -eu
# The old password no longer works, so a deployment that logs in has the new one.
deployment() {
    if [ -z "${HEALTH_PATH:-}" ]; then
        echo "HEALTH_PATH is not set: checked only the database, not which value the deployment uses." >&2
        return
    fi
    { [ -z "${BYPASS_FILE:-}" ] || printf 'header = "x-vercel-protection-bypass: %s"\n' "$(cat "$BYPASS_FILE")"; } |
        curl --silent --show-error --fail --max-time 20 --config - "$ZG_ENV_DEPLOYMENT_URL$HEALTH_PATH" >/dev/null
}

password=$(cat)
case "$ZG_ENV_STEP" in
apply | undo)
    # printf is a shell builtin, so the password is not in any argument list. SQL requires doubled quotes.
    quoted=$(printf '%s' "$password" | sed "s/'/''/g")
    printf "ALTER ROLE \"%s\" PASSWORD '%s';\n" "$ROLE" "$quoted" |
        psql -X -q -v ON_ERROR_STOP=1 -d "$DATABASE" >/dev/null
    ;;
check | revoke)
    works=1
    PGUSER=$ROLE PGPASSWORD=$password PGPASSFILE=/dev/null \
        psql -X -q -w -d "$DATABASE" -c 'SELECT 1' >/dev/null 2>&1 || works=0
    # --check gets the new password, which must work; --revoke gets the old one, which must not.
    case "$ZG_ENV_STEP" in
    check)
        [ "$works" = 1 ]
        deployment
        ;;
    revoke) [ "$works" = 0 ] ;;
    esac
    ;;
esac
