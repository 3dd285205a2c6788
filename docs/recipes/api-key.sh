#!/bin/sh
# A key of a service that lets several be valid at once. For --from-command, --check and --revoke.
# What differs from service to service are the three requests.
#
# Wants SERVICE, the address of its API, and ADMIN_TOKEN_FILE, a file with the token that may make keys.
# With HEALTH_PATH, such as /api/health, --check asks the deployment too: it must answer 200 with the first
# eight characters of the key that it uses. BYPASS_FILE is a file with the secret of Vercel's protection bypass.
set -eu
# curl reads what is secret from a configuration on its stdin, and not from its arguments.
request() {
    printf 'header = "Authorization: Bearer %s"\n' "$1" |
        curl --silent --show-error --fail --max-time 20 --config - "$SERVICE$3" --request "$2"
}
# Both keys work at the service until the end, so only the deployment can tell which one it has.
deployment() {
    if [ -z "${HEALTH_PATH:-}" ]; then
        echo "HEALTH_PATH is not set: this proves the service alone, not what the deployment uses." >&2
        return
    fi
    { [ -z "${BYPASS_FILE:-}" ] || printf 'header = "x-vercel-protection-bypass: %s"\n' "$(cat "$BYPASS_FILE")"; } |
        curl --silent --show-error --fail --max-time 20 --config - "$ZG_ENV_DEPLOYMENT_URL$HEALTH_PATH" |
        grep -q -F -e "$1"
}
administrator=$(cat "$ADMIN_TOKEN_FILE")
case "${ZG_ENV_STEP:-}" in
"") request "$administrator" POST /keys ;;
check)
    key=$(cat)
    request "$key" GET /whoami >/dev/null
    deployment "$(printf '%s' "$key" | cut -c1-8)"
    ;;
revoke) request "$administrator" DELETE "/keys/$(cat | cut -c1-8)" >/dev/null ;;
esac
