//! The decisions of the outbox, without a store, a clock or a request.
#![allow(dead_code, unreachable_pub)] // OK because the loop of envd-sync uses the rest.
#![allow(clippy::indexing_slicing, clippy::string_slice)] // OK because the model indexes JSON that it made.

mod outbox;
