#!/usr/bin/env bash
# Alone each feature shows what it forgot to ask for, and together whether they agree; a warning counts. So does one of the
# documentation as README builds it.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

pkg-config --exists openssl 2>/dev/null || debian libssl-dev pkg-config
lib() {
    printf -- '-- %s\n' "$*"
    cargo clippy --quiet --locked --lib "$@" -- -D warnings
}
all=$(awk '/^\[/ { is = $0 == "[features]" } is && /^[a-z0-9-]+ = / { print $1 }' Cargo.toml)
[[ $(wc -w <<<"$all") -gt 9 ]] || fail "the features are not where this script looks for them"
lib -p envd-sdk --no-default-features
lib -p envd-sdk
# Those for dates share no code with any other.
lib -p envd-sdk --no-default-features --features chrono04,jiff02,time03
for feature in $all; do
    case $feature in default | chrono | jiff | time) continue ;; esac
    lib -p envd-sdk --no-default-features --features "$feature"
done
# The pair that shares code; TLS, gzip and the keyring share none with another feature.
lib -p envd-sdk --no-default-features --features fake,loopback
lib -p envd-sdk --all-features
lib -p envd-sync
lib -p envd-sync --all-features
lib -p envd-postgres
lib -p envd-codegen

of_readme=$(sed -n 's/.*`cargo doc .*--features \([a-z,-]*\)`.*/\1/p' README.md)
[[ -n $of_readme ]] || fail "README.md names no features"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps -p envd-sdk --features "$of_readme"
