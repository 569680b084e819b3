//! Lists, drafts and moved forms over stores in memory.

mod drafts;
mod invariants;
mod lists;
mod moved_forms;
mod sample;
mod stories;
