# Sourced by .ci/steps/*.sh: settings for all builds, two temporary folders, Debian packages, a Postgres server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One target folder and one profile, so that the steps share builds. Incremental state and debug information would only cost time.
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}
# macOS has no `realpath -m`.
[[ $CARGO_TARGET_DIR == /* ]] || CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR
export CARGO_TARGET_DIR
postgres_url=${ENVD_SDK_TEST_POSTGRES:-}
postgres_restart=${ENVD_SDK_TEST_POSTGRES_RESTART:-}
# Without settings every example starts a fake.
for setting in "${!ENVD_@}"; do unset "$setting"; done
unset UPDATE_GENERATED UPDATE_PUBLIC_API DATABASE_URL

# The libraries, and their optional features: one set, so that it is built only once. Commands with features also name packages:
# otherwise cargo enables the features of all default members, even with `--no-default-features`.
export libraries='-p envd-sdk -p envd-sync -p envd-postgres -p envd-codegen'
export more=sealed,keyring,chrono04,jiff02,time03
work=$(mktemp -d)
left=$(mktemp -d)
chmod 755 "$left"
cluster=
tidy() {
    if [[ -n $cluster ]]; then
        as_postgres "$postgres_bin/pg_ctl" -D "$cluster/data" -m immediate stop >/dev/null 2>&1 || true
        rm -rf "$cluster"
    fi
    rm -rf "$work" "$left"
}
trap tidy EXIT

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# public_features CRATE: prints the arguments with which the checks of its public items see all of them.
public_features() {
    case $1 in
        envd-sdk) printf '%s\n' "--features fake,loopback-https,$more" ;;
        envd-sync) printf '%s\n' '--features conformance,sqlite' ;;
        envd-postgres) printf '%s\n' '--features deadpool_postgres014' ;;
    esac
}

# tidily COMMAND..: runs the command with a temporary folder that it must leave empty.
tidily() {
    TMPDIR=$left "$@"
    [[ -z $(ls -A "$left") ]] || { ls -A "$left"; fail "that was left in the temporary folder"; }
}

# quietly COMMAND..: shows what the command prints only if it fails.
quietly() {
    "$@" >"$work/out" 2>&1 || { cat "$work/out"; fail "$*"; }
}

# debian PACKAGE..: installs Debian packages.
debian() {
    local root=()
    if [[ $(id -u) != 0 ]]; then root=(sudo -n); fi
    quietly "${root[@]}" apt-get update -qq
    quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "$@"
}

# advisories ARGUMENT..: checks a Cargo.lock against the advisory database, if cargo-deny and the database are available. The arguments
# are those of cargo deny, such as a manifest.
advisories() {
    if cargo deny --version >/dev/null 2>&1 && timeout 120 cargo deny "$@" --config .ci/deny.toml fetch db >"$work/out" 2>&1; then
        cargo deny "$@" --config .ci/deny.toml --log-level error check advisories
    else
        printf 'cargo-deny or its database cannot be had here: advisories were NOT checked\n'
    fi
}

# The binaries of the unit tests and suites of the libraries; builds them if necessary.
test_binaries() {
    # Skips the programs that a suite runs as processes, which are built with it.
    cargo test --quiet --locked --no-run --lib --test suite --message-format=json \
        | sed -n 's/.*"executable":"\([^"]*\/deps\/[^"]*\)".*/\1/p'
}

# without_pure_modules BINARY: the arguments to skip the unit tests of rooms that read neither clock nor files nor settings. Other dates
# and users do not affect them.
without_pure_modules() {
    if [[ $(basename "$1") == envd_sdk-* ]]; then printf -- '--skip\n%s::\n' model validate graphql register; fi
}

# Postgres refuses to run as root.
as_postgres() {
    if [[ $(id -u) == 0 ]]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --init-groups -- "$@")
    else
        "$@"
    fi
}

# Starts a temporary server on a free loopback port, unless ENVD_SDK_TEST_POSTGRES names a server.
postgres_server() {
    if [[ -z $postgres_url ]]; then start_postgres; fi
    export ENVD_SDK_TEST_POSTGRES=$postgres_url ENVD_SDK_TEST_POSTGRES_RESTART=$postgres_restart
}

start_postgres() {
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || debian postgresql
    postgres_bin=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1)
    cluster=$(mktemp -d)
    if [[ $(id -u) == 0 ]]; then chown postgres: "$cluster"; fi
    quietly as_postgres "$postgres_bin/initdb" -D "$cluster/data" -U envd --auth=trust --no-sync -E UTF8
    local port tries=0
    while true; do
        port=$((20000 + RANDOM % 20000))
        if as_postgres "$postgres_bin/pg_ctl" -D "$cluster/data" -w -l "$cluster/log" \
            -o "-c listen_addresses=127.0.0.1 -p $port -k $cluster -c fsync=off -c max_connections=200" \
            start >/dev/null 2>&1 </dev/null; then break; fi
        tries=$((tries + 1))
        [[ $tries -lt 5 ]] || { cat "$cluster/log"; fail "postgres did not start"; }
    done
    postgres_url=postgres://envd@127.0.0.1:$port/postgres
    postgres_restart="'$postgres_bin/pg_ctl' -D '$cluster/data' -w -l '$cluster/log' -m immediate restart >/dev/null 2>&1"
    if [[ $(id -u) == 0 ]]; then
        postgres_restart="cd / && setpriv --reuid=postgres --regid=postgres --init-groups -- $postgres_restart"
    fi
}
