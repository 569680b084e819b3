#!/usr/bin/env bash
# The packages for crates.io: the libraries pack together without warnings, and contain the right files and no large ones. Builds an
# example from each package, because cargo does not detect a missing module.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

read -ra packages <<<"$libraries"
rm -f "$CARGO_TARGET_DIR"/package/envd-*.crate
# The examples below build them.
quietly cargo package --locked --allow-dirty --no-verify "${packages[@]}"
if grep '^warning' "$work/out"; then fail "a warning of cargo package"; fi
for crate in "$CARGO_TARGET_DIR"/package/envd-*.crate; do tar -xzf "$crate" -C "$work"; done
list=$(cd "$work" && find envd-* -type f)
for name in envd-sdk envd-sync envd-postgres envd-codegen; do
    for file in LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md src/lib.rs; do
        grep -q "^$name-[0-9.]*/$file\$" <<<"$list" || fail "the package $name lacks $file"
    done
done
# Both contain the schema, because the generator does not depend on the SDK.
for name in envd-sdk envd-codegen; do
    [[ $(grep -c "^$name-[0-9.]*/graphql/[a-z]*\.graphql\$" <<<"$list") == 3 ]] || fail "the package $name lacks graphql"
done
foreign="^envd-[^/]*/(\.ci|\.github|crates|benches/peers|examples/(apps|serve_fake/graphiql)|tests/(browser|codegen|downstream|generated|processes|validator-only))/"
if grep -E "$foreign" <<<"$list"; then fail "that does not belong into the package"; fi
large=$(find "$work"/envd-* -type f -size +150k)
[[ -z $large ]] || fail "too large for the package: $large"
mv "$work"/envd-sdk-* "$work/envd-sdk"
mv "$work"/envd-sync-* "$work/envd-sync"
mv "$work"/envd-postgres-* "$work/envd-postgres"
mv "$work"/envd-codegen-* "$work/envd-codegen"
# One workspace with our profile, resolver and versions, so that cargo reuses existing builds.
{
    printf '[workspace]\nresolver = "3"\nmembers = ["envd-sdk", "envd-sync", "envd-postgres", "envd-codegen"]\n'
    printf '[patch.crates-io]\nenvd-sdk = { path = "envd-sdk" }\nenvd-sync = { path = "envd-sync" }\n'
    printf '[profile.dev]\ndebug = "line-tables-only"\npackage."*".debug = false\n'
} >"$work/Cargo.toml"
cp Cargo.lock "$work"
cd "$work"
quietly timeout 900 cargo build --quiet "${packages[@]}" --features fake,sqlite --lib --example quickstart --example outbox
quietly timeout 60 "$CARGO_TARGET_DIR/debug/examples/quickstart"
