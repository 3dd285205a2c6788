#!/bin/sh
# Rotates an API key of a service that accepts several keys at the same time.
# Use it for --from-command, --check and --revoke. Replace the three requests with those of your service.
#
# Environment:
#   SERVICE           URL of the service's API
#   ADMIN_TOKEN_FILE  file with a token that may create and delete keys
#   HEALTH_PATH       optional, such as /api/health: --check also sends a request to the deployment, which
#                     must return 200 and the first eight characters of its key
#   BYPASS_FILE       optional: file with Vercel's protection bypass secret
set -eu
# curl reads secrets from a configuration on stdin, because other users can see its arguments.
request() {
    printf 'header = "Authorization: Bearer %s"\n' "$1" |
        curl --silent --show-error --fail --max-time 20 --config - "$SERVICE$3" --request "$2"
}
# Both keys work until the old one is revoked, so only the deployment knows which one it uses.
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
