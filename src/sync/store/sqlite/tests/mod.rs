//! The store in a file.
