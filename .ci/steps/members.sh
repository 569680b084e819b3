#!/usr/bin/env bash
# The packages of the workspace that `cargo test` leaves out: applications, real processes (kills, full disks, big files, measured
# memory), the generator. One command: apart from each other each of them builds the libraries with features of its own.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo build --quiet --locked --examples
tidily cargo test --quiet --locked -p codegen -p generated -p apps -p processes
