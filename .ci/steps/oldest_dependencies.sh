#!/usr/bin/env bash
# The crate builds with the oldest versions that Cargo.toml names. Cargo finds them for nightly only, unless it is told.
# Without the dev-dependencies, whose bounds are nobody's concern.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

copy=$work/oldest
mkdir "$copy"
cp -r src graphql README.md Cargo.lock "$copy"
awk '/^\[/ { skip = /^\[(workspace|lints)/ || /dev-dependencies/ || /^\[\[/ } !skip' Cargo.toml >"$copy/Cargo.toml"
RUSTC_BOOTSTRAP=1 cargo update --quiet -Z direct-minimal-versions --manifest-path "$copy/Cargo.toml"
cargo check --quiet --locked --lib --all-features --manifest-path "$copy/Cargo.toml"
