#!/usr/bin/env bash
# What would go to crates.io: the libraries pack together without a warning and hold what they should and nothing large. From each
# package an example is built as a stranger builds it: cargo does not notice when a module of one is missing.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

read -ra packages <<<"$libraries"
rm -f "$CARGO_TARGET_DIR"/package/envd-*.crate
# The examples below build it.
quietly cargo package --locked --allow-dirty --no-verify "${packages[@]}"
if grep '^warning' "$work/out"; then fail "a warning of cargo package"; fi
for crate in "$CARGO_TARGET_DIR"/package/envd-*.crate; do tar -xzf "$crate" -C "$work"; done
list=$(cd "$work" && find envd-* -type f)
for name in envd-sdk envd-sync envd-postgres; do
    for file in LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md src/lib.rs; do
        grep -q "^$name-[0-9.]*/$file\$" <<<"$list" || fail "the package $name lacks $file"
    done
done
foreign="^envd-[^/]*/(\.ci|\.github|crates|benches/peers|examples/(apps|serve_fake/graphiql)|tests/(browser|codegen|downstream|processes|validator-only))/"
if grep -E "$foreign" <<<"$list"; then fail "that does not belong into the package"; fi
large=$(find "$work"/envd-* -type f -size +150k)
[[ -z $large ]] || fail "too large for the package: $large"
mv "$work"/envd-sdk-* "$work/envd-sdk"
mv "$work"/envd-sync-* "$work/envd-sync"
mv "$work"/envd-postgres-* "$work/envd-postgres"
patch=$(printf '[patch.crates-io]\nenvd-sdk = { path = "%s" }\nenvd-sync = { path = "%s" }\n' "$work/envd-sdk" "$work/envd-sync")
(cd "$work/envd-sdk" && quietly timeout 600 cargo run --quiet --locked --features fake --example quickstart)
for one in envd-sync:'--features sqlite --example outbox' envd-postgres:--lib; do
    cd "$work/${one%%:*}"
    printf '%s\n' "$patch" >>Cargo.toml
    read -ra arguments <<<"${one#*:}"
    quietly timeout 600 cargo build --quiet "${arguments[@]}"
done
