#!/usr/bin/env bash
# Runs the random tests with other cases than `cargo test`. The seed comes from the commit: a new commit gets a new seed, and the
# same commit always gets the same. Add a failing case as a fixed case.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

seed=$((0x$(git rev-parse 'HEAD^{tree}' | cut -c1-5)))
printf -- '-- ENVD_SDK_EXPLORE=%d\n' "$seed"
for binary in $(test_binaries); do
    ENVD_SDK_EXPLORE=$seed ENVD_SDK_TEST_SCHEDULES=500 quietly "$binary" --quiet \
        validator:: validate:: graphql::tests register:: single_flight replica:: bank:: outbox:: --skip outbox::tests::model
done
