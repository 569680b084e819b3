//! A test server for the laws of stores and the random schedules of replica and outbox. `tests/processes/postgres` has the other tests of this store.

mod blocking_store;

pub(crate) use self::blocking_store::TestSchema;
