//! The operations, a file for each group.
