#!/usr/bin/env bash
# The documentation builds without a warning: with all that docs.rs shows, and with the validator alone.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

export RUSTDOCFLAGS="-D warnings"
cargo doc --quiet --locked --no-deps --features "fake,loopback-https,sqlite,$more"
cargo doc --quiet --locked --no-deps --no-default-features
