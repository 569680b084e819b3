#!/usr/bin/env bash
# A program that only validates has no HTTP client in its tree.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo test --quiet --locked --manifest-path tests/validator-only/Cargo.toml
