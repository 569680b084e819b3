//! The outbox with one row a declaration: its decisions, without a store, a clock or a request.
#![allow(dead_code)] // OK because only the model uses it so far.
#![allow(clippy::indexing_slicing, clippy::string_slice)] // OK because the model indexes JSON that it made.

mod outbox;
