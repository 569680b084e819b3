#!/usr/bin/env bash
# Tests the stores in Postgres, pgbouncer, sealing, the keyring and dates of other crates; then the example with many hosts.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

[[ -x /usr/sbin/pgbouncer ]] || debian pgbouncer
postgres_server
cargo build --quiet --locked --examples
cargo test --quiet --locked -p processes --features postgres postgres
cargo test --quiet --locked -p envd-postgres
cargo test --quiet --locked -p envd-sdk --features "$more" --lib -- sealed:: keyring days_and_instants
cargo test --quiet --locked -p envd-sdk --features "$more" --doc -- sealed keyring with_

cargo test --quiet --locked -p apps --features postgres many_hosts

cargo build --quiet --locked -p apps --bin many_hosts
run=(timeout 120 cargo run --quiet --locked -p apps --bin many_hosts)
{ "${run[@]}" 2>&1 || true; } | grep -q 'DATABASE_URL is not set' || fail "many_hosts without a database"
DATABASE_URL=$ENVD_SDK_TEST_POSTGRES "${run[@]}"
