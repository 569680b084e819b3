//! Forms: edits, items, and what must hold after any of them.

mod edits;
mod items;
mod laws;
mod scenarios;
