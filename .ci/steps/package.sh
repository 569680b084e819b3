#!/usr/bin/env bash
# What would go to crates.io: it packs without a warning, holds what it should and nothing large, and its first example runs.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

name=envd-sdk
rm -f "$CARGO_TARGET_DIR"/package/$name-*.crate
# The example below builds it.
quietly cargo package --locked --allow-dirty --no-verify -p $name
if grep '^warning' "$work/out"; then fail "a warning of cargo package"; fi
tar -xzf "$CARGO_TARGET_DIR"/package/$name-*.crate -C "$work"
list=$(cd "$work" && find $name-* -type f)
for file in LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md graphql/schema.graphql examples/quickstart.rs; do
    grep -q "^$name-[^/]*/$file\$" <<<"$list" || fail "the package lacks $file"
done
foreign="^$name-[^/]*/(\.ci|\.github|benches/peers|examples/(apps|serve_fake/graphiql)|tests/(browser|codegen|downstream|processes|validator-only))/"
if grep -E "$foreign" <<<"$list"; then fail "that does not belong into the package"; fi
large=$(find "$work"/$name-* -type f -size +150k)
[[ -z $large ]] || fail "too large for the package: $large"
cd "$work"/$name-*
quietly timeout 600 cargo run --quiet --locked --features fake --example quickstart
