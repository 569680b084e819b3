#!/usr/bin/env bash
# The libraries build with the oldest versions that Cargo.toml allows, and none of these has a known advisory. Cargo resolves them only
# on nightly, hence RUSTC_BOOTSTRAP. Leaves out dev-dependencies, whose bounds do not affect users.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

copy=$work/oldest
mkdir "$copy"
cp -r src graphql crates README.md Cargo.lock "$copy"
lean() {
    awk '/^\[/ { skip = /^\[lints/ || /dev-dependencies/ || /^\[\[/ } !skip' "$1" >"$copy/$1"
}
lean crates/envd-sync/Cargo.toml
lean crates/envd-postgres/Cargo.toml
lean crates/envd-codegen/Cargo.toml
lean Cargo.toml
sed -i -e 's|^members = .*|members = [".", "crates/envd-sync", "crates/envd-postgres", "crates/envd-codegen"]|' -e '/^test-support = /d' "$copy/Cargo.toml"
RUSTC_BOOTSTRAP=1 cargo update --quiet -Z direct-minimal-versions --manifest-path "$copy/Cargo.toml"
advisories --manifest-path "$copy/Cargo.toml"
cargo check --quiet --locked --lib --all-features --workspace --manifest-path "$copy/Cargo.toml"
