//! Tests of forms: edits, items, and properties that always hold.

mod edits;
mod items;
mod properties;
mod stories;
