#!/usr/bin/env bash
# An application outside the workspace. Checked alone first: its tests turn the feature `fake` on. One of them builds what the pages show.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

manifest=tests/downstream/Cargo.toml
cargo check --quiet --locked --manifest-path "$manifest"
tidily cargo test --quiet --locked --manifest-path "$manifest"
cargo clippy --quiet --locked --all-targets --manifest-path "$manifest" -- -D warnings
