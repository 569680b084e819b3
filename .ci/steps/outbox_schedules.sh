#!/usr/bin/env bash
# Writes, losses, crashes and edits on both sides in any order: each declaration of the outbox becomes one record, or says why not.
# Always with the same seed: a schedule in some ten thousand finds something rare, which must not stop an unrelated change.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

for binary in $(test_binaries); do
    # Through the loop, the store and the fake.
    ENVD_SDK_TEST_SCHEDULES=2000 quietly "$binary" --quiet outbox::tests::model
    # Processes that share a session: killed, suspended, with lost replies and failing stores.
    ENVD_SDK_TEST_SCHEDULES=400 quietly "$binary" --quiet auth::manager::tests::schedules
done
# The decisions alone, some hundred schedules a second, and mistakes that are planted into them.
ENVD_SDK_TEST_SCHEDULES=10000 cargo test --quiet --locked -p one_row
