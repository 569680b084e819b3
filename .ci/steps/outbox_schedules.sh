#!/usr/bin/env bash
# Writes, losses, crashes and edits on both sides in any order: each entry of the outbox becomes one record, or says why not.
# Always with the same seed: a schedule in some ten thousand finds something rare, which must not stop an unrelated change.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

for binary in $(test_binaries); do
    ENVD_SDK_TEST_SCHEDULES=10000 quietly "$binary" --quiet outbox::tests::model
    # Processes that share a session: killed, suspended, with lost replies and failing stores.
    ENVD_SDK_TEST_SCHEDULES=400 quietly "$binary" --quiet auth::manager::tests::schedules
done
cargo test --quiet --locked -p one_row
