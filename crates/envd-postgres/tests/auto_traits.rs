//! Which public handles may be shared and cloned, and which futures may be spawned. The compiler checks it.

use std::fmt::Debug;

use envd_postgres::{PostgresBuilder, PostgresPool, PostgresStore, PostgresSync};

const fn is_handle<T: Clone + Debug + Send + Sync + 'static>() {}
const fn is_sent<T: Send + 'static>() {}

const _: () = {
    is_handle::<PostgresPool>();
    is_handle::<PostgresStore>();
    is_handle::<PostgresSync>();
    is_sent::<PostgresBuilder<PostgresStore>>();
    is_sent::<PostgresBuilder<PostgresSync>>();
};

fn may_be_spawned<T>(_future: impl Future<Output = T> + Send) {}

#[expect(dead_code, reason = "only the compiler reads it")]
fn futures_may_be_spawned(tokens: &PostgresStore, copies: &PostgresSync) {
    may_be_spawned(tokens.migrate());
    may_be_spawned(copies.migrate());
}
