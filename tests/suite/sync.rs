//! Copies of accounts, and what stands on them, against the fake.

mod banks;
mod instants;
