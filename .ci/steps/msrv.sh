#!/usr/bin/env bash
# The libraries build with the oldest compiler that Cargo.toml promises, with default features and with all.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
[[ -n $version ]] || fail "Cargo.toml promises no version"
rustup run "$version" rustc --version 2>/dev/null || quietly rustup toolchain install "$version" --profile minimal --no-self-update
read -ra packages <<<"$libraries"
for features in '' --all-features; do
    rustup run "$version" cargo check --quiet --locked --lib "${packages[@]}" $features
done
