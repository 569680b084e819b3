#!/usr/bin/env bash
# Tests the packages that `cargo test` leaves out: applications, real processes (kills, full disks, big files, measured memory), the
# generator. In one command, because separately each would build the libraries with different features.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo build --quiet --locked --examples
tidily cargo test --quiet --locked -p codegen -p generated -p apps -p processes
