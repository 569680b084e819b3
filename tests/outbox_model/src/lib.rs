//! The pure functions of the outbox, compiled without a store, a clock or a request, and the models that check them.
// OK because the loop of envd-sync uses the rest.
#![allow(dead_code, unreachable_pub)]
// OK because the models only index JSON that they created.
#![allow(clippy::indexing_slicing, clippy::string_slice)]
// OK because invariants and scopes are long tables, and the state of a small world is mostly flags and options.
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
