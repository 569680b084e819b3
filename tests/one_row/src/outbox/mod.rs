//! The outbox keeps one row for each declaration: what is wanted of the service, and what is known of it.
//!
//! - A *row* holds the wish, the state that the wish builds on (its *base*), and what may be under way.
//! - A *request* is the one next call that brings the service nearer to the wish: [`row::Row::next_request`].
//! - [`decide`](decide::decide) takes a row, what was read for it and the time, and says what is next.
//! - [`apply`](apply::apply) changes a row by an event. Nothing else does.
//! - [`compare`](compare::compare) is the one place that looks at fields.
//!
//! All of it is pure: no clock, no store, no request.

mod apply;
mod compare;
mod decide;
mod row;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod model;
