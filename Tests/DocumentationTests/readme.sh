# What README.md does not show: a server in place of Vercel, a vault with a pushed project, and then a
# second one without it, whose commands get what a person types.
mkdir -p ~/web ~/bin && cd ~/web
printf '%s\n' "$PASSPHRASE" >~/passphrase && chmod 600 ~/passphrase
zg-env-sandbox --port 0 --build-seconds 0.5 >~/sandbox.json &
until [ -s ~/sandbox.json ]; do sleep 0.1; done
ZG_ENV_API_URL=$(sed -E 's/.*"url":"([^"]*)".*/\1/' ~/sandbox.json)
token=$(sed -E 's/.*"token":"([^"]*)".*/\1/' ~/sandbox.json)
export ZG_ENV_API_URL ZG_ENV_PASSPHRASE_FILE=~/passphrase token
printf 'DATABASE_URL=postgres://db/app\nSTRIPE_KEY=sk_live_4eC39HqLyjWDarjtT1zd\n' >.env
printf '#!/bin/sh\nexec printenv STRIPE_KEY\n' >~/bin/npm && chmod 700 ~/bin/npm

export ZG_ENV_VAULT=~/first.zgv
zg-env -q init
printf %s "$token" | zg-env -q login
zg-env -q link web
zg-env -q import .env >/dev/null
zg-env -q push --yes >/dev/null

zg-env() {
    case $1 in
    init) unset ZG_ENV_VAULT && command zg-env "$@" ;;
    login) printf %s "$token" | command zg-env "$@" ;;
    import | push | redeploy) command zg-env --yes "$@" ;;
    *) command zg-env "$@" ;;
    esac
}
export -f zg-env
