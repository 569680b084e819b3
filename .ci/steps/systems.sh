#!/usr/bin/env bash
# What depends on the operating system, on Linux, macOS and Windows: the libraries build, and unit tests and suites pass, among them those of
# the token file, the keyring, the loopback listener and the store in SQLite.
#
# Not run on Windows: modes, owners and links of files, which it does not have (`cfg(unix)`).
# Not run on macOS and Windows: kills, full disks, measured memory and wiping (tests/processes), Postgres, browsers, other dates and users,
# which need tools of Linux. The keyring of the system itself is never opened: a job has no session that unlocks it.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

read -ra packages <<<"$libraries"
cargo build --quiet --locked "${packages[@]}" --features keyring,sealed,loopback-https,sqlite
cargo test --quiet --locked "${packages[@]}" --features keyring,sealed,loopback-https,sqlite --lib --test suite
