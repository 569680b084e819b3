//! What a test may script: faults, replies, expectations; and what the fake received.
//!
//! A script is a queue of steps for one operation or one path. Each call takes the next step; when none is left, the fake
//! answers as it would without a script.

mod called;
mod fault;
mod on;
mod plan;
mod received;
mod step;
mod times;

pub use self::fault::Fault;
pub use self::on::{On, Untyped};
pub use self::received::Received;
pub use self::times::Times;

pub(super) use self::called::{Called, operation_name};
pub(super) use self::plan::Plan;
pub(super) use self::received::Log;
