//! A test server for the laws of stores and the random schedules of replica and outbox. `tests/processes/postgres` has the other tests of this store.

mod blocking_store;

pub(in crate::sync) use self::blocking_store::TestSchema;
