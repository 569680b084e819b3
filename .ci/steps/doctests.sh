#!/usr/bin/env bash
# The programs of the documentation on another date as well. rustdoc compiles them itself, does not start under faketime, and needs
# longer than they run; so cargo tells it to run each of them twice.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

command -v faketime >/dev/null || debian faketime
printf '#!/bin/sh\n"$@" && exec faketime -f "@2027-03-01 12:00:00" "$@"\n' >"$work/twice"
chmod +x "$work/twice"
tidily cargo --config "target.'cfg(all())'.runner = '$work/twice'" test --quiet --locked --doc
