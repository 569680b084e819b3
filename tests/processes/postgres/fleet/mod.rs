//! A fleet of hosts on one database; the hosts are loops of one process.

mod cost;
mod failures;
mod farm;
mod hostile;
mod limits;
mod serving;
mod stopping;
mod waking;
