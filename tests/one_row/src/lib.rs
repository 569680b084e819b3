//! The decisions of the outbox, without a store, a clock or a request.
#![allow(dead_code, unreachable_pub)] // OK because the loop of envd-sync uses the rest.
#![allow(clippy::indexing_slicing, clippy::string_slice)]
// OK because the model indexes JSON that it made.
// OK because laws and scopes are tables that are read from top to bottom, and states of a small world are flags and options.
#![allow(
    clippy::too_many_lines,
    clippy::too_many_arguments,
    clippy::struct_excessive_bools,
    clippy::option_option,
    clippy::large_enum_variant,
    clippy::needless_range_loop,
    clippy::trivially_copy_pass_by_ref
)]

mod outbox;
