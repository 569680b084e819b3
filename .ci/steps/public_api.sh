#!/usr/bin/env bash
# Compares the public items with the lists in .ci/public_api, so that a review shows each change of them. After a change that is
# meant, UPDATE_PUBLIC_API=1 .ci/steps/public_api.sh writes the lists. Needs a nightly toolchain, for the JSON of rustdoc.
update=${UPDATE_PUBLIC_API:-}
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

rustup toolchain list | grep -q '^nightly' || quietly rustup toolchain install nightly --profile minimal
command -v cargo-public-api >/dev/null || quietly cargo install --quiet --locked cargo-public-api --version 0.52.0
for crate in ${libraries//-p /}; do
    read -ra features < <(public_features "$crate") || true
    cargo +nightly public-api -sss --color never -p "$crate" "${features[@]}" >"$work/$crate.txt" 2>"$work/out" \
        || { cat "$work/out"; fail "cargo public-api -p $crate"; }
    if [[ -n $update ]]; then cp "$work/$crate.txt" .ci/public_api/; fi
    diff -u ".ci/public_api/$crate.txt" "$work/$crate.txt" || fail "the public items of $crate have changed"
done
