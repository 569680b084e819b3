#!/usr/bin/env bash
# No test depends on the date. Tries a date before today's forms, and two minutes before the end of a leap day. doctests.sh has a third.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

command -v faketime >/dev/null || debian faketime
binaries=$(test_binaries)
[[ $(wc -l <<<"$binaries") == 7 ]] || fail "the tests are not where cargo says: $binaries"
for date in '2025-02-10 12:00:00' '2028-02-29 23:58:00'; do
    printf -- '-- %s\n' "$date"
    for binary in $binaries; do
        # The decisions of the outbox read no clock.
        [[ $(basename "$binary") != outbox_model-* ]] || continue
        # The tests of replica and outbox use their own clocks, so one date is enough to find a test that does not.
        [[ $date == 2028* || $(basename "$binary") != envd_sync-* ]] || continue
        mapfile -t left_out < <(without_pure_modules "$binary")
        ENVD_SDK_TEST_SCHEDULES=10 faketime -f "@$date" "$binary" --quiet "${left_out[@]}"
    done
done
