//! The code that is written, compiled and run on a fake.

#[rustfmt::skip]
mod generated;
mod operations;
