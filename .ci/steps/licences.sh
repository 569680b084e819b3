#!/usr/bin/env bash
# Checks licences, sources and duplicates by .ci/deny.toml, and the advisory database. cargo-deny takes minutes to build, so it is
# installed only if CI is set, as in the workflow.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

if ! cargo deny --version 2>/dev/null; then
    if [[ -z ${CI:-} ]]; then
        printf 'cargo-deny is not installed: licences and advisories were NOT checked\n'
        exit 0
    fi
    cargo install --quiet --locked --debug --target-dir "$CARGO_TARGET_DIR/tools" cargo-deny@0.20.2
fi
cargo deny --config .ci/deny.toml --log-level error check licenses bans sources
# shellcheck disable=SC2119
advisories
