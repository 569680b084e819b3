#!/usr/bin/env bash
# Runs writes, losses, crashes and edits on both sides in random order: each declaration of the outbox becomes one record, or reports why
# not. The seed is fixed: one schedule in some ten thousand finds a rare failure, which must not block an unrelated change.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

for binary in $(test_binaries); do
    # With the loop, the store and the fake.
    ENVD_SDK_TEST_SCHEDULES=2000 quietly "$binary" --quiet outbox::tests::model
    # Processes that share a session: killed, suspended, with lost replies and failing stores.
    ENVD_SDK_TEST_SCHEDULES=400 quietly "$binary" --quiet auth::manager::tests::schedules
    # Only the decisions, at some hundred schedules a second, and with planted mistakes.
    ENVD_SDK_TEST_SCHEDULES=10000 quietly "$binary" --quiet outbox::model
done
