#!/usr/bin/env bash
# The documentation builds without warnings: with only the validator, and as on docs.rs. In the latter, no link is broken, and the
# search finds the words of users (.ci/documentation, with Node).
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

export RUSTDOCFLAGS="-D warnings"
of_docs_rs=$(sed -n '/^\[package.metadata.docs.rs\]/,$ s/^features = \[\(.*\)\]/\1/p' Cargo.toml | tr -d '" ')
[[ -n $of_docs_rs ]] || fail "Cargo.toml names no features"

cargo doc --quiet --locked --no-deps -p envd-sdk --no-default-features
read -ra packages <<<"$libraries"
all=(cargo doc --quiet --locked --no-deps "${packages[@]}" --features "$of_docs_rs,sqlite,conformance")
# The links of private items, which maintainers follow. Public pages need some targets that a private page does not.
RUSTDOCFLAGS+=" -A rustdoc::redundant-explicit-links" "${all[@]}" --document-private-items
# Pages of an earlier build would hide broken links. rustdoc links to another crate only if its folder already exists, and cargo, which
# documents the four at the same time, removes a folder before it writes it anew. So the crates that link to others are written once
# more, one after another. Features have no package names: `envd-sync/sqlite` would mean its dev-dependency on itself.
rm -rf "$CARGO_TARGET_DIR/doc"
for linking in envd_sync envd_postgres ''; do
    "${all[@]}"
    [[ -z $linking ]] || rm -r "$CARGO_TARGET_DIR/doc/$linking"
done

command -v node >/dev/null || debian nodejs
node .ci/documentation/links.mjs "$CARGO_TARGET_DIR/doc"
node .ci/documentation/search.mjs "$CARGO_TARGET_DIR/doc"
