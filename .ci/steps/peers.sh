#!/usr/bin/env bash
# The benches that compare with other crates build. Run them by hand, on an idle machine.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo clippy --quiet --locked --bins --manifest-path benches/peers/Cargo.toml -- -D warnings
