#!/bin/sh
# A key of a service that lets several be valid at once. For --from-command, --check and --revoke.
# What differs from service to service are the three requests.
#
# Wants SERVICE, the address of its API, and ADMIN_TOKEN_FILE, a file with the token that may make keys.
set -eu
# curl reads what is secret from a configuration on its stdin, and not from its arguments.
request() {
    printf 'header = "Authorization: Bearer %s"\n' "$1" |
        curl --silent --show-error --fail --max-time 20 --config - "$SERVICE$3" --request "$2"
}
administrator=$(cat "$ADMIN_TOKEN_FILE")
case "${ZG_ENV_STEP:-}" in
"") request "$administrator" POST /keys ;;
check) request "$(cat)" GET /whoami >/dev/null ;;
revoke) request "$administrator" DELETE "/keys/$(cat | cut -c1-8)" >/dev/null ;;
esac
