#!/usr/bin/env bash
# Every example runs without arguments and without an account, and does not panic if its output is closed.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo build --quiet --locked --examples
for file in {,crates/*/}examples/*.rs {,crates/*/}examples/*/main.rs; do
    name=${file#*examples/}
    name=${name%/main.rs}
    name=${name%.rs}
    grep -qx "## \`$name\`" examples/README.md || fail "examples/README.md has no heading for $name"
    [[ $name != serve_fake ]] || continue
    printf -- '-- %s\n' "$name"
    tidily quietly timeout 60 cargo run --quiet --locked --example "$name" </dev/null
    { timeout 60 "$CARGO_TARGET_DIR/debug/examples/$name" </dev/null 2>"$work/out" || true; } | true
    if grep 'panicked' "$work/out"; then fail "the example $name, with a closed stdout"; fi
done
