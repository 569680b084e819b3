#!/usr/bin/env bash
# No test depends on the date: before the forms of today, two minutes before the end of a leap day, and months from now.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

command -v faketime >/dev/null || debian faketime
binaries=$(test_binaries)
[[ $(wc -l <<<"$binaries") == 5 ]] || fail "the tests are not where cargo says: $binaries"
for date in '2025-02-10 12:00:00' '2028-02-29 23:58:00'; do
    printf -- '-- %s\n' "$date"
    for binary in $binaries; do ENVD_SDK_TEST_SCHEDULES=50 faketime -f "@$date" "$binary" --quiet; done
done
# rustdoc compiles the programs of the documentation itself and does not start under faketime, so cargo tells it with what to run
# them. They are compiled anew, which costs more than they run: one date.
printf -- '-- 2027-03-01, documentation\n'
printf '#!/bin/sh\nexec faketime -f "@2027-03-01 12:00:00" "$@"\n' >"$work/in-march"
chmod +x "$work/in-march"
cargo --config "target.'cfg(all())'.runner = '$work/in-march'" test --quiet --locked --doc
