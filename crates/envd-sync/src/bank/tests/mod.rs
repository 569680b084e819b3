//! Lists, drafts and plans over stores in memory.

mod drafts;
mod laws;
mod lists;
mod plans;
mod refusals;
mod sample;
