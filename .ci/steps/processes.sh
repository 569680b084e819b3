#!/usr/bin/env bash
# Tests with real processes, kills, full disks, big files and measured memory.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo build --quiet --locked --examples
tidily cargo test --quiet --locked -p processes
