//! Typed operations for `envd-sdk`, from GraphQL documents.

mod application;
mod docs;
mod documents;
mod generator;
pub mod ir;
mod names;
mod problem;
mod resolve;
pub mod rust;
#[cfg(test)]
mod tests;

pub use crate::docs::{public_names, split};
pub use crate::generator::{Generator, SCHEMA, build, sdk};
pub use crate::names::{snake_case, type_name, upper_camel_case};
pub use crate::problem::{Error, Problem};
