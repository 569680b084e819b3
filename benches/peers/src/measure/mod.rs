//! Shared by the programs that compare clients: a canned server, measurement of CPU time, and a table of results.

#![allow(dead_code, unused_imports)] // Not every program uses all of it.

mod canned;
mod cpu;
#[path = "../../../row.rs"]
mod row;
mod table;

pub use self::canned::{Request, Server};
pub use self::cpu::{Run, Threads, side_by_side, timed};
pub(crate) use self::row::{Goal, Row, row};
pub use self::table::{Peer, Table, count};
