#!/usr/bin/env bash
# Clippy on all that the workspace builds, also what a feature hides.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo clippy --quiet --locked --workspace --all-targets --features "$more" -- -D warnings
