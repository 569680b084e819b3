//! The code that is written, compiled and run on a fake.

mod command;
#[rustfmt::skip]
mod generated;
mod operations;
