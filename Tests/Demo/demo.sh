#!/usr/bin/env bash
# The main workflow, end to end: a .env file becomes an encrypted vault, its values are read back, and a
# change reaches Vercel and is redeployed. Shows every command with its output, and compares bytes.
#
#   Tests/Demo/demo.sh ZG_ENV ZG_ENV_SANDBOX
#
# Works in a temporary home, with a passphrase file and the sandbox, so it needs no terminal,
# network or keyring. Exits with status 1 at the first step that fails.
# Uses only bash and coreutils: requests to the sandbox go through /dev/tcp.
set -euo pipefail

[[ $# -eq 2 ]] || { echo "usage: demo.sh ZG_ENV ZG_ENV_SANDBOX" >&2; exit 2; }
zg_env=$(realpath -- "$1")
sandbox=$(realpath -- "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Bytes, not characters: lengths and comparisons below are of bytes.
export LC_ALL=C

project=web
marker='rk_demo_new_7f"$#3' # the value of STRIPE_KEY for production after `set`
token=
port=
sandbox_pid=
step_name=preparation
step_number=0
has_said_why=

home=$(mktemp -d "${TMPDIR:-/tmp}/zg-env-demo-XXXXXX")
clean_up() {
    local status=$?
    if [[ $status -ne 0 && -z $has_said_why ]]; then
        printf '\ndemo: stopped at step %d, %s (status %d)\n' \
            "$step_number" "$step_name" "$status" >&2
    fi
    [[ -z $sandbox_pid ]] || kill "$sandbox_pid" 2>/dev/null || true
    rm -rf -- "$home"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---------------------------------------------------------------- showing and stopping

step() {
    step_name=$1
    step_number=$((step_number + 1))
    printf '\n== %d. %s: %s\n' "$step_number" "$1" "$2"
}

ok() { printf '   ok: %s\n' "$1"; }

stop() {
    has_said_why=yes
    printf '\ndemo: stopped at step %d, %s: %s\n' "$step_number" "$step_name" "$1" >&2
    exit 1
}

# The words of a command as typed.
typed() {
    local word text=
    for word; do
        [[ $word =~ ^[A-Za-z0-9_./:=@%+,-]+$ ]] || word="'${word//\'/\'\\\'\'}'"
        text+=" $word"
    done
    printf '%s' "${text# }"
}

# Runs zg-env with its own environment and the caller's PATH only: no desktop keyring is touched,
# and no token of the caller is used.
zg() {
    env -i HOME="$home" PATH="$PATH" LC_ALL=C.UTF-8 NO_COLOR=1 \
        ZG_ENV_PASSPHRASE_FILE="$home/passphrase" ZG_ENV_API_URL="http://127.0.0.1:$port" \
        "$zg_env" "$@"
}

# show ARGUMENT…: runs a command, and shows it with its output. Its stdout stays in $home/out.
show() {
    local status=0
    printf '\n   $ zg-env %s\n' "$(typed "$@")"
    zg "$@" >"$home/out" 2>"$home/err" || status=$?
    indent <"$home/err"
    indent <"$home/out"
    [[ $status -eq 0 ]] || stop "zg-env $1 ended with exit code $status"
}

indent() {
    local line
    while IFS= read -r line || [[ -n $line ]]; do printf '   %s\n' "$line"; done
}

# ---------------------------------------------------------------- reading JSON texts

# json_string TEXT: decodes the JSON string at the start of TEXT to $decoded, and puts the rest in
# $rest. Returns 1 if there is no string.
json_string() {
    local text=$1 piece
    decoded=
    [[ $text == \"* ]] || return 1
    text=${text:1}
    while true; do
        piece=${text%%[\"\\]*}
        decoded+=$piece
        text=${text:${#piece}}
        case "$text" in
        \"*)
            rest=${text:1}
            return 0
            ;;
        \\n*) decoded+=$'\n' ;;
        \\r*) decoded+=$'\r' ;;
        \\t*) decoded+=$'\t' ;;
        \\[\"\\/]*) decoded+=${text:1:1} ;;
        *) return 1 ;;
        esac
        text=${text:2}
    done
}

# members TEXT ARRAY: reads the JSON object at the start of TEXT, whose members are all strings,
# into an associative array.
members() {
    local rest=$1 name decoded
    local -n into=$2
    into=()
    rest=${rest#*\{}
    while true; do
        rest=${rest#"${rest%%[![:space:],]*}"}
        [[ $rest != \}* ]] || return 0
        json_string "$rest" || return 1
        name=$decoded
        rest=${rest#"${rest%%[![:space:]:]*}"}
        json_string "$rest" || return 1
        into[$name]=$decoded
    done
}

# member NAME TEXT: the string member NAME of a JSON text, by its first occurrence.
member() {
    local rest decoded
    [[ $2 == *"\"$1\":"* ]] || return 1
    json_string "${2#*"\"$1\":"}" || return 1
    printf '%s' "$decoded"
}

# count TEXT WORD: the number of occurrences of WORD in TEXT.
count() {
    local without=${1//"$2"/}
    printf '%d' "$(((${#1} - ${#without}) / ${#2}))"
}

# ---------------------------------------------------------------- comparing

# compare WHERE ARRAY: stops unless the array has exactly the expected names and values, byte by byte.
compare() {
    local name
    local -n found=$2
    for name in "${names[@]}"; do
        [[ -n ${found[$name]+there} ]] || stop "$name is not $1"
        same "$1" "$name" "${found[$name]}"
    done
    for name in "${!found[@]}"; do
        [[ -n ${expected[$name]+there} ]] || stop "$name is $1, but was never imported"
    done
    ok "all ${#names[@]} values $1 are equal, byte for byte"
}

same() {
    [[ $3 == "${expected[$2]}" ]] ||
        stop "the value of $2 $1 is wrong (${#3} bytes instead of ${#expected[$2]})"
}

# holds FILE NAME: whether the start of that value is in the file. Searches part of one line, as
# grep treats lines as separate patterns; a short value could be there by chance.
holds() {
    local start=${expected[$2]%%$'\n'*}
    [[ ${#start} -ge 12 ]] && grep -aqF -- "${start:0:24}" "$1"
}

# platform PATH: sends a GET with the token to the sandbox, and puts the response in $body.
platform() {
    local answer line length=0
    exec {connection}<>"/dev/tcp/127.0.0.1/$port" || stop "the sandbox is gone"
    printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' \
        "$1" "$port" "$token" >&"$connection"
    IFS= read -r -t 20 answer <&"$connection" || stop "the sandbox does not answer"
    while IFS= read -r -t 20 line <&"$connection" && [[ $line != $'\r' ]]; do
        line=${line,,}
        [[ $line != content-length:* ]] || length=${line//[!0-9]/}
    done
    IFS= read -r -t 20 -N "$length" body <&"$connection" || stop "the sandbox's answer is cut"
    exec {connection}>&-
    [[ $answer == *' 200 '* ]] || stop "the sandbox answers ${answer%$'\r'} to $1"
}

# pushed MEMBER: reads the values in that member of $body, without those that were on Vercel before
# the demo, into the array platform_values.
pushed() {
    local name
    members "${body#*"\"$1\":"}" platform_values || stop "the sandbox's answer cannot be read"
    for name in "${!platform_values[@]}"; do
        [[ $name != SEED_* ]] || unset "platform_values[$name]"
    done
}

# ---------------------------------------------------------------- the workflow

declare -A expected=() platform_values=()
names=()
members "$(<"$here/real-world.json")" expected || stop "real-world.json cannot be read"
mapfile -t names < <(printf '%s\n' "${!expected[@]}" | LC_ALL=C sort)
[[ ${#names[@]} -ge 10 ]] || stop "real-world.json holds ${#names[@]} values"

printf 'correct horse battery staple\n' >"$home/passphrase"
chmod 600 "$home/passphrase"
cp -- "$here/real-world.env" "$home/.env"
cd "$home"

printf 'zg-env keeps the environment variables of projects in one encrypted file, and Vercel in sync.\n'
step sandbox "a local server that behaves like Vercel's API"
printf '\n   $ zg-env-sandbox --build-seconds 0.5 &\n'
mkfifo "$home/sandbox.out"
"$sandbox" --port 0 --build-seconds 0.5 >"$home/sandbox.out" 2>"$home/sandbox.err" &
sandbox_pid=$!
exec {started}<"$home/sandbox.out"
IFS= read -r -t 20 line <&"$started" || { cat "$home/sandbox.err" >&2; stop "it did not start"; }
url=$(member url "$line") && token=$(member token "$line") || stop "unexpected output: $line"
[[ $url =~ ^http://127\.0\.0\.1:([0-9]+)$ ]] || stop "it listens on $url"
port=${BASH_REMATCH[1]}
ok "it listens on $url"

step init "a vault with a passphrase (cheap to check, for the demo only)"
show init --kdf 8MiB,1
vault="$home/.local/share/zg-env/vault.zgv"
[[ -f $vault ]] || stop "there is no vault"
[[ $(stat -c %a "$vault") == 600 ]] || stop "other users can read the vault"
[[ $(head -c 7 "$vault") == ZGVAULT ]] || stop "the file is not a vault"
ok "there is a vault that no other user can read"

step import "a typical .env file: comments, export, CRLF, a BOM, a duplicate"
show import .env -p "$project"
for name in "${names[@]}"; do
    ! holds "$vault" "$name" || stop "the value of $name is in the vault in plain text"
done
zg list -p "$project" --json >"$home/out" || stop "its variables cannot be listed"
records=$(count "$(<"$home/out")" '"key":')
[[ $records -eq ${#names[@]} ]] ||
    stop "the vault holds $records variables, the file ${#names[@]}"
ok "the vault holds ${#names[@]} variables, none of them in plain text"
rm -- .env

step list "the names, without values"
show list -p "$project"
for name in "${names[@]}"; do
    grep -qw -- "$name" "$home/out" || stop "$name is not listed"
    ! holds "$home/out" "$name" || stop "the value of $name is shown"
done
ok "all ${#names[@]} names, no values"

step reveal "one value, which requires the passphrase"
show reveal DATABASE_URL -p "$project" -t production
for name in "${names[@]}"; do
    zg reveal "$name" -p "$project" -t production >"$home/out" || stop "$name cannot be revealed"
    printf %s "${expected[$name]}" | cmp -s - "$home/out" ||
        stop "the value of $name is wrong ($(wc -c <"$home/out") bytes)"
done
ok "all ${#names[@]} values match motdotla/dotenv byte for byte"

step run "a program with the variables in its environment"
show run -p "$project" -t production -- printenv STRIPE_KEY
# The kernel's copy of a child's environment: NAME=value, each ended by a zero byte.
zg run -p "$project" -t production --no-inherit -- /bin/cat /proc/self/environ >"$home/out" ||
    stop "the child did not run"
declare -A child=()
while IFS= read -r -d '' entry; do child[${entry%%=*}]=${entry#*=}; done <"$home/out"
compare "in the child" child

step set "a new value for production only; the other targets keep theirs"
printf '\n   $ printf %%s … | zg-env set STRIPE_KEY -p %s -t production\n' "$project"
printf %s "$marker" | zg set STRIPE_KEY -p "$project" -t production >"$home/out" 2>&1 || {
    indent <"$home/out"
    stop "zg-env set failed"
}
indent <"$home/out"
old=${expected[STRIPE_KEY]}
expected[STRIPE_KEY]=$marker
zg reveal STRIPE_KEY -p "$project" -t production >"$home/out" || stop "it cannot be revealed"
same "for production" STRIPE_KEY "$(<"$home/out")"
[[ $(zg reveal STRIPE_KEY -p "$project" -t preview) == "$old" ]] ||
    stop "the value for preview was changed too"
ok "production has the new value, preview the old one"

step login "a token, checked with Vercel before it is stored"
printf '\n   $ printf %%s … | zg-env login\n'
printf %s "$token" | zg login >"$home/out" 2>&1 || {
    indent <"$home/out"
    stop "zg-env login failed"
}
indent <"$home/out"
zg status --json >"$home/out" || stop "the vault's status cannot be shown"
account=$(member account "$(<"$home/out")") || stop "the vault holds no account"
! grep -aqF -- "$token" "$vault" || stop "the token is in the vault in plain text"
ok "the vault holds the account $account"

step push "a plan; then Vercel has what the vault has"
show push -p "$project" --dry-run
show push -p "$project" --yes
platform "/v3/env/pull/$project/production"
pushed env
compare "on Vercel" platform_values

step redeploy "a new deployment with the values, followed until it is live"
platform "/v9/projects/$project/production-deployment"
before=$(member id "$body") || stop "nothing is deployed"
show redeploy -p "$project" --wait --yes --json
id=$(member id "$(<"$home/out")") || stop "the output has no deployment id"
[[ $id != "$before" ]] || stop "the output has the previous deployment"
platform "/v9/projects/$project/production-deployment"
live=$(member id "$body") || stop "nothing is deployed"
[[ $live == "$id" ]] || stop "production runs $live instead of $id"
platform "/v13/deployments/$id"
state=$(member readyState "$body") || stop "its state cannot be read"
[[ $state == READY ]] || stop "$id is $state"
ok "production runs $id"
platform "/v3/env/pull/$id"
pushed buildEnv
compare "in the deployment" platform_values

step live "the vault knows that everything is pushed and live"
show list -p "$project"
zg list -p "$project" --json >"$home/out" || stop "the variables cannot be listed"
listing=$(<"$home/out")
records=$(count "$listing" '"key":')
[[ $records -eq $((${#names[@]} + 1)) ]] || stop "the vault holds $records records"
[[ $(count "$listing" '"sync":"synced"') -eq $records ]] || stop "not every variable is pushed"
wanted='"key":"STRIPE_KEY",[^{}]*"targets":\["production"\][^{}]*"live":true'
[[ $listing =~ $wanted ]] || stop "the production variable is not live"
[[ $listing != *'"live":false'* ]] || stop "a variable is not live"
show push -p "$project" --yes
[[ $(<"$home/out") == "Nothing to push." ]] || stop "there is still something to push"
ok "nothing is left to do"

printf '\nAll %d steps of the demo passed.\n' "$step_number"
