#!/usr/bin/env bash
# Explores every interleaving of a small model of the outbox to its full depth: each promise holds in all of them.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

ENVD_SDK_TEST_LONG=1 ENVD_SDK_TEST_THREADS=2 cargo test --quiet --locked --release -p outbox-model --lib the_promises_hold -- --nocapture
