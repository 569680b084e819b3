#!/usr/bin/env bash
# The validator alone (`default-features = false`) on targets other than Linux and Windows. For WebAssembly it is built for browsers
# (wasm32-unknown-unknown), and its tests run under Node (wasm32-wasip1). For Android and macOS, types are checked. The client is not:
# its TLS needs a C compiler of the target.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source .ci/cross.bash

sid_tools
command -v node >/dev/null || debian nodejs
target=$CARGO_TARGET_DIR/other
only=(--quiet --locked -p envd-sdk --no-default-features --lib)

sid_cargo "$target" build "${only[@]}" --target wasm32-unknown-unknown
CARGO_TARGET_WASM32_WASIP1_LINKER=wasm-ld sid_cargo "$target" test --quiet --locked --no-run --target wasm32-wasip1 \
    --manifest-path tests/validator-only/Cargo.toml --message-format=json >"$work/built.json"
tests=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$work/built.json")
[[ -f $tests ]] || fail "no tests were built: $tests"
node --no-warnings .ci/wasi.mjs "$tests"

for triple in aarch64-linux-android aarch64-apple-darwin; do
    sid_cargo "$target" check "${only[@]}" -Zbuild-std=std,panic_unwind --target "$triple"
    printf -- '-- %s: types checked\n' "$triple"
done
