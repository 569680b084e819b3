//! A fleet of hosts on one database; the hosts are loops of one process.

mod farm;
mod serving;
