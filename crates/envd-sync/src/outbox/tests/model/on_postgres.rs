//! The first of the random schedules, with the entries in Postgres.

use super::run_all;
use crate::tests::postgres::TestSchema;

#[test]
fn each_entry_in_postgres_becomes_one_record_or_says_why_not() {
    if let Some(schema) = TestSchema::new() {
        run_all(100, |schedule| schema.store(schedule));
    }
}
