//! What the programs that compare clients share: a canned server, the CPU time of a client, and a table of both.

#![allow(dead_code, unused_imports)] // Not every program uses all of it.

mod canned;
mod cpu;
mod table;

pub use self::canned::{Asked, Server};
pub use self::cpu::{side_by_side, timed};
pub use self::table::{Peer, Table, goal, header};
