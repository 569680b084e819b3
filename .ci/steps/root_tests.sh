#!/usr/bin/env bash
# Runs `cargo test`: unit tests, tests/suite, rooms, examples, documentation.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

tidily cargo test --quiet --locked
