#!/bin/sh
# Rotates an API key of a service that accepts several keys at the same time.
# Use it for --from-command, --check and --revoke. Change the three requests to those of your service.
#
# Environment:
#   SERVICE           URL of the service's API
#   ADMIN_TOKEN_FILE  file with a token that is allowed to create keys
#   HEALTH_PATH       optional, such as /api/health: --check also sends a request to the deployment, which
#                     must answer 200 with the first eight characters of the key that it uses
#   BYPASS_FILE       optional: file with the secret of Vercel's protection bypass
set -eu
# curl reads secrets from a configuration on stdin, because other users can see its arguments.
request() {
    printf 'header = "Authorization: Bearer %s"\n' "$1" |
        curl --silent --show-error --fail --max-time 20 --config - "$SERVICE$3" --request "$2"
}
# The service accepts both keys until the end, so only the deployment knows which one it uses.
deployment() {
    if [ -z "${HEALTH_PATH:-}" ]; then
        echo "HEALTH_PATH is not set: checked only the service, not which value the deployment uses." >&2
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
