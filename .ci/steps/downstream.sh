#!/usr/bin/env bash
# Builds an application outside the workspace. First without its tests, which enable the feature `fake`. One test builds the pages' code.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

manifest=tests/downstream/Cargo.toml
cargo check --quiet --locked --manifest-path "$manifest"
tidily cargo test --quiet --locked --manifest-path "$manifest"
cargo clippy --quiet --locked --all-targets --manifest-path "$manifest" -- -D warnings
