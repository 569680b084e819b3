#!/usr/bin/env bash
# The documentation builds without a warning: with the validator alone, and as docs.rs builds it. There each link leads somewhere, and
# the search finds what users look for (.ci/documentation, by Node).
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

export RUSTDOCFLAGS="-D warnings"
of_docs_rs=$(sed -n '/^\[package.metadata.docs.rs\]/,$ s/^features = \[\(.*\)\]/\1/p' Cargo.toml | tr -d '" ')
[[ -n $of_docs_rs ]] || fail "Cargo.toml names no features"

cargo doc --quiet --locked --no-deps -p envd-sdk --no-default-features
# A page that an earlier build left would hide a broken link. rustdoc links to another crate only if the folder of its pages is there, and
# cargo, which documents the four at the same time, removes a folder before it is written anew. So those that link to others are written
# once more, one after another. Features without names of packages: `envd-sync/sqlite` would mean its dev-dependency on itself.
rm -rf "$CARGO_TARGET_DIR/doc"
read -ra packages <<<"$libraries"
for linking in envd_sync envd_postgres ''; do
    cargo doc --quiet --locked --no-deps "${packages[@]}" --features "$of_docs_rs,sqlite,laws"
    [[ -z $linking ]] || rm -r "$CARGO_TARGET_DIR/doc/$linking"
done

command -v node >/dev/null || debian nodejs
node .ci/documentation/links.mjs "$CARGO_TARGET_DIR/doc"
node .ci/documentation/search.mjs "$CARGO_TARGET_DIR/doc"
