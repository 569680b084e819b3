#!/usr/bin/env bash
# The validator alone (`default-features = false`) on targets other than Linux and Windows. For WebAssembly it is built for browsers
# (wasm32-unknown-unknown), and its unit tests run under Node (wasm32-wasip1). For Android and macOS, types are checked. The client is
# not: its TLS needs a C compiler of the target.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source .ci/cross.bash

sid_tools
command -v node >/dev/null || debian nodejs
target=$CARGO_TARGET_DIR/other
only=(--quiet --locked -p envd-sdk --no-default-features --lib)

sid_cargo "$target" build "${only[@]}" --target wasm32-unknown-unknown
# Node's WASI crashes once the memory has grown, so the memory has its full size from the start.
export CARGO_TARGET_WASM32_WASIP1_LINKER=wasm-ld CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS='-C link-arg=--initial-memory=1073741824'
sid_cargo "$target" test --quiet --locked --no-run --target wasm32-wasip1 \
    --manifest-path tests/validator-only/Cargo.toml --message-format=json >"$work/built.json"
tests=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$work/built.json")
[[ $(wc -l <<<"$tests") == 2 ]] || fail "expected the tests of the package and those of the validator, found: $tests"
for binary in $tests; do node --no-warnings .ci/wasi.mjs "$binary" --quiet; done

for triple in aarch64-linux-android aarch64-apple-darwin; do
    sid_cargo "$target" check "${only[@]}" -Zbuild-std=std,panic_unwind --target "$triple"
    printf -- '-- %s: types checked\n' "$triple"
done
