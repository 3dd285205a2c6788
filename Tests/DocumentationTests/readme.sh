# What README.md does not show: a server in place of Vercel, a vault with a pushed project, which the
# rotation has, and a second one without it, whose commands get what a person types.
mkdir -p ~/web ~/bin && cd ~/web
printf '%s\n' "$PASSPHRASE" >~/passphrase && chmod 600 ~/passphrase
zg-env-sandbox --port 0 --build-seconds 0.5 >~/sandbox.json &
until [ -s ~/sandbox.json ]; do sleep 0.1; done
ZG_ENV_API_URL=$(sed -E 's/.*"url":"([^"]*)".*/\1/' ~/sandbox.json)
token=$(sed -E 's/.*"token":"([^"]*)".*/\1/' ~/sandbox.json)
export ZG_ENV_API_URL ZG_ENV_PASSPHRASE_FILE=~/passphrase token
key=$(printf 'a%.0s' $(seq 64))
printf 'DATABASE_URL=postgres://db/app\nSESSION_KEY=%s\n' "$key" >.env
# An app that starts only with a key of 32 bytes, in hexadecimal digits.
printf 'grep -Eq "^[0-9a-f]{64}$"\n' >smoke-test.sh
printf '#!/bin/sh\nexec printenv SESSION_KEY\n' >~/bin/npm && chmod 700 ~/bin/npm

export ZG_ENV_VAULT=~/first.zgv
zg-env -q init
printf %s "$token" | zg-env -q login
zg-env -q link web
zg-env -q import .env >/dev/null
zg-env -q push --yes >/dev/null

zg-env() {
    case $1 in
    init) unset ZG_ENV_VAULT && command zg-env "$@" ;;
    rotate) ZG_ENV_VAULT=~/first.zgv command zg-env "$@" ;;
    login) printf %s "$token" | command zg-env "$@" ;;
    pull | import | push | redeploy) command zg-env --yes "$@" ;;
    *) command zg-env "$@" ;;
    esac
}
export -f zg-env
