#!/usr/bin/env bash
# The parts that depend on the operating system, on Linux and macOS: the libraries build, and unit tests and suites pass, including those of
# the token file, the keyring, the loopback listener and the store in SQLite. Windows has a step of its own.
#
# Not run on macOS: kills, full disks, measured memory and wiping (tests/processes), Postgres, browsers, other dates and users, which need
# Linux tools. The system's keyring is never opened, because a job has no session to unlock it.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

read -ra packages <<<"$libraries"
cargo build --quiet --locked "${packages[@]}" --features keyring,sealed,loopback-https,sqlite
cargo test --quiet --locked "${packages[@]}" --features keyring,sealed,loopback-https,sqlite --lib --test suite
