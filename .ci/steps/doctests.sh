#!/usr/bin/env bash
# Runs the programs of the documentation today and on another date. rustdoc compiles them, which takes longer than running them, and
# does not start under faketime; so cargo makes it run each program twice.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

command -v faketime >/dev/null || debian faketime
printf '#!/bin/sh\n"$@" && exec faketime -f "@2027-03-01 12:00:00" "$@"\n' >"$work/twice"
chmod +x "$work/twice"
tidily cargo --config "target.'cfg(all())'.runner = '$work/twice'" test --quiet --locked --doc
