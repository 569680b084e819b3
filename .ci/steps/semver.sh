#!/usr/bin/env bash
# Finds changes since the commit in .ci/semver_baseline that would break users of the four crates. After a release that may break them,
# write its commit there. Needs the history of the repository.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

command -v cargo-semver-checks >/dev/null || quietly cargo install --quiet --locked cargo-semver-checks --version 0.51.0
baseline=$(<.ci/semver_baseline)
for crate in ${libraries//-p /}; do
    read -ra features < <(public_features "$crate") || true
    cargo semver-checks --default-features --baseline-rev "$baseline" -p "$crate" "${features[@]}"
done
