#!/usr/bin/env bash
# What `cargo test` runs for everybody: unit tests, tests/suite, rooms, examples, documentation.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

tidily cargo test --quiet --locked
