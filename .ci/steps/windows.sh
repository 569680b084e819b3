#!/usr/bin/env bash
# Builds for Windows and runs the unit tests, both suites, and the tests with processes: those of the token file, kills, locks, SQLite,
# the examples and the applications. On Windows it uses the system's toolchain; elsewhere a cross compiler and Wine, for which it needs
# root on Debian.
#
# .ci/windows_skips.txt lists every test that Wine or Windows cannot run, with the reason. Further tests need Unix and are compiled only
# there (`cfg(unix)`): modes, owners, links and pipes of files, signals, terminals.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source .ci/cross.bash

windows_tools
windows_build

# Random schedules do not depend on the system.
export ENVD_SDK_TEST_SCHEDULES=10
windows_tests 'envd-sdk, unit tests' src/lib.rs
windows_tests 'envd-sync, unit tests' crates/envd-sync/src/lib.rs
windows_tests 'envd-postgres, unit tests' crates/envd-postgres/src/lib.rs
windows_tests 'envd-codegen, unit tests' crates/envd-codegen/src/lib.rs
windows_tests 'envd-sdk, suite' tests/suite/main.rs
windows_tests 'envd-sync, suite' crates/envd-sync/tests/suite/main.rs
windows_tests 'processes: token file, SQLite' tests/processes/main.rs stores::
windows_tests 'processes: examples' tests/processes/main.rs programs::
windows_tests 'applications' examples/apps/tests/apps/main.rs
windows_table
