#!/usr/bin/env bash
# The public items, with all features, are those of tests/public_api/listing.txt; UPDATE_PUBLIC_API=1 writes them there.
# cargo-public-api reads the JSON of rustdoc: this version reads that of Rust 1.95. It is installed into target/tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=0.52.0
listing=tests/public_api/listing.txt
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
tools=$target/tools
export PATH=$tools/bin:$PATH
if [[ $(cargo-public-api --version 2>/dev/null) != *" $version" ]]; then
    cargo install --quiet --locked --debug --root "$tools" --target-dir "$tools/target" "cargo-public-api@$version"
fi

# The JSON is unstable. Only rustdoc gets the variable that allows it: rustc with it would build all dependencies anew.
mkdir -p "$tools"
printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n' >"$tools/rustdoc-json"
chmod +x "$tools/rustdoc-json"
RUSTDOC=$tools/rustdoc-json cargo rustdoc --quiet --locked --lib --all-features -- \
    -Z unstable-options --output-format json --cap-lints allow
# What belongs to two types, such as a conversion, is printed at both: once is enough.
cargo-public-api --rustdoc-json "$target/doc/envd_sdk.json" -sss | awk '!seen[$0]++' >"$tools/listing.txt"

if [[ -n ${UPDATE_PUBLIC_API:-} ]]; then
    cp "$tools/listing.txt" "$listing"
elif ! diff -u "$listing" "$tools/listing.txt"; then
    printf 'FAILED: the public items differ from %s; after an intended change run UPDATE_PUBLIC_API=1 %s\n' "$listing" "$0" >&2
    exit 1
fi
