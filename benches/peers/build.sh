#!/usr/bin/env bash
# CPU time of a clean build of a minimal program, compared with one that uses only reqwest, serde_json and tokio.
#
#   benches/peers/build.sh [release]
#
# Creates two crates in a temporary directory, builds each from scratch, and prints the CPU time (user and system, which
# other load hardly changes), the number of crates, and the size of the stripped program. The first run fetches crates.
# Takes about as long as six builds of reqwest.
set -euo pipefail
sdk=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Build settings of the environment would change the figures.
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET RUSTFLAGS RUSTC_WRAPPER "${!CARGO_PROFILE_@}"
export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never

# crate NAME DEPENDENCIES: creates a crate with the program on standard input.
crate() {
    mkdir -p "$work/$1/src"
    cat > "$work/$1/src/main.rs"
    cat > "$work/$1/Cargo.toml" <<TOML
[package]
name = "$1"
version = "0.0.0"
edition = "2024"

[dependencies]
$2
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }

[workspace]
TOML
    (cd "$work/$1" && cargo fetch --quiet)
}

# seconds NAME FLAG..: the CPU time of a clean build.
seconds() {
    local name=$1
    shift
    rm -rf "$work/$name/target"
    # A failed build must not count as a fast one.
    (TIMEFORMAT='%U %S'; cd "$work/$name" && time cargo build --offline --quiet "$@") 2> "$work/time" || {
        cat "$work/time" >&2
        exit 1
    }
    awk 'END { printf "%.1f", $1 + $2 }' "$work/time"
}

crates() {
    (cd "$work/$1" && cargo tree --offline -e normal --prefix none) |
        sed 's/ (\*)//; s/ (proc-macro)//' | sort -u | wc -l
}

crate alone 'reqwest = "0.13"
serde_json = "1"' <<'RUST'
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = json!({"query": "{ userDetails { id } }"}).to_string();
    let request = reqwest::Client::new().post("https://envd.example/graphql").bearer_auth("a-token");
    let request = request.header("content-type", "application/json").body(body);
    let reply: Value = serde_json::from_slice(&request.send().await?.bytes().await?)?;
    println!("{reply}");
    Ok(())
}
RUST

crate sdk "envd-sdk = { path = \"$sdk\" }" <<'RUST'
use envd_sdk::Client;
use envd_sdk::auth::StaticToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::builder("https://envd.example/graphql")
        .token_source(StaticToken::new("a-token")?)
        .build()?;
    let user = client.registered_user().await?.value;
    println!("{} accounts", user.accounts.len());
    Ok(())
}
RUST

declare -A debug release count size
for name in alone sdk; do
    debug[$name]=
    if [[ ${1:-} != release ]]; then debug[$name]=$(seconds "$name"); fi
    release[$name]=$(seconds "$name" --release)
    count[$name]=$(crates "$name")
    strip -o "$work/stripped" "$work/$name/target/release/$name"
    size[$name]=$(stat -c %s "$work/stripped")
    rm -rf "$work/$name/target"
done

# row CASE FIGURE GOAL LIMIT: a row as the other programs print it; met when the figure is at most the limit.
awk -v debug_alone="${debug[alone]}" -v debug_sdk="${debug[sdk]}" \
    -v release_alone="${release[alone]}" -v release_sdk="${release[sdk]}" \
    -v count_alone="${count[alone]}" -v count_sdk="${count[sdk]}" \
    -v size_alone="${size[alone]}" -v size_sdk="${size[sdk]}" '
function row(what, figure, limit, verdict) {
    verdict = figure + 0 <= limit ? "met" : "missed"
    if (limit != "" && verdict == "missed") failed = 1
    printf "| clean build of a minimal program | %s | %s | %s |\n", what, figure, limit == "" ? "" : "at most " limit ", " verdict
}
BEGIN {
    row("release, CPU time beside that of one with reqwest, `serde_json` and tokio alone", sprintf("%.2f times", release_sdk / release_alone), 1.1)
    if (debug_alone) row("the same in a debug build", sprintf("%.2f times", debug_sdk / debug_alone), 1.1)
    row("release, CPU time with reqwest alone", sprintf("%.1f s", release_alone))
    row("crates", count_sdk " in all", 135)
    row("crates with reqwest alone", count_alone " in all")
    row("program, stripped", sprintf("%.2f MB", size_sdk / 1e6), 6)
    row("program with reqwest alone, stripped", sprintf("%.2f MB", size_alone / 1e6))
    exit failed
}'
