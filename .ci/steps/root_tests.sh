#!/usr/bin/env bash
# What `cargo test` runs for everybody: unit tests, tests/suite, rooms. Its other half is doctests.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

tidily cargo test --quiet --locked --tests
