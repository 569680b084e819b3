//! Shared by the programs that compare clients: a canned server, measurement of CPU time, and a table of results.

#![allow(dead_code, unused_imports)] // Not every program uses all of it.

mod canned;
mod cpu;
mod table;

pub use self::canned::{Request, Server};
pub use self::cpu::{last_page_faults, side_by_side, timed};
pub use self::table::{Peer, Table, goal, header};
