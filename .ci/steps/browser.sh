#!/usr/bin/env bash
# Tests the page of web_form in a real browser.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

chromium=$(command -v chromium || command -v google-chrome || true)
if [[ -z $chromium ]]; then
    debian chromium
    chromium=/usr/bin/chromium
fi
cargo build --quiet --locked -p apps --bin web_form
ENVD_SDK_TEST_CHROMIUM=$chromium cargo test --quiet --locked -p browser
