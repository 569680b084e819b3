#!/usr/bin/env bash
# The applications of examples/apps, with their tests.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

tidily cargo test --quiet --locked -p apps
