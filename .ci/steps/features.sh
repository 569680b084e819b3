#!/usr/bin/env bash
# Each feature builds alone, which detects missing dependencies, and all build together, without warnings. The documentation of README's
# command also builds without warnings.
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
# The features for dates share no code with other features.
lib -p envd-sdk --no-default-features --features chrono04,jiff02,time03
for feature in $all; do
    case $feature in default | chrono04 | jiff02 | time03) continue ;; esac
    lib -p envd-sdk --no-default-features --features "$feature"
done
# The only pair that shares code; TLS, gzip and the keyring share no code with other features.
lib -p envd-sdk --no-default-features --features fake,loopback
lib -p envd-sdk --all-features
lib -p envd-sync
lib -p envd-sync --all-features
lib -p envd-postgres
lib -p envd-codegen

# The backticks are those of Markdown.
# shellcheck disable=SC2016
of_readme=$(sed -n 's/.*`cargo doc .*--features \([a-z0-9,-]*\)`.*/\1/p' README.md)
[[ -n $of_readme ]] || fail "README.md names no features"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps -p envd-sdk --features "$of_readme"
