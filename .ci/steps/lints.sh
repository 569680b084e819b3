#!/usr/bin/env bash
# Runs clippy on the entire workspace, including code behind features.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo clippy --quiet --locked --workspace --all-targets --features "$more,postgres" -- -D warnings
