//! Typed operations for `envd-sdk` from your own GraphQL documents, in a build script or by a command.
//!
//! Call [`build`] in a build script, and put `envd_sdk::include_operations!` in the module for the types. [`Generator`] has
//! settings for another schema and for the types of scalars. The README of the crate has a complete program, describes the
//! generated code, and states the cost. For the command run `cargo run -p envd-codegen -- --help` in a clone.
//!
//! ```
//! use envd_codegen::Generator;
//!
//! let folder = std::env::temp_dir().join(format!("envd-codegen-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! let document = folder.join("heads.graphql");
//! std::fs::write(
//!     &document,
//!     "query Heads($account: String!) {
//!         consignments(envdAccountId: $account) { edges { node { headz origin { ...Party } } } }
//!     }",
//! )?;
//!
//! let generator = Generator::default().documents([&document]);
//! let error = generator.generate().err().ok_or("headz exists")?;
//! assert_eq!(error.problems()[0].place, Some((2, 64)));
//! assert!(error.to_string().contains("there is `heads`"));
//!
//! let corrected = std::fs::read_to_string(&document)?.replace("headz", "heads");
//! std::fs::write(&document, corrected)?;
//! let code = generator.generate()?;
//! assert!(code.contains("pub heads: Option<i64>"));
//! assert!(code.contains("pub origin: Option<::envd_sdk::model::Party>"));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # For your own generator
//!
//! [`ir`] is the resolved input of the code, and [`rust`] writes its parts: the SDK writes its own files with them. Both may change
//! in minor releases.

mod application;
mod docs;
mod documents;
mod generator;
pub mod ir;
mod names;
mod problem;
mod resolve;
pub mod rust;
mod scope;
#[cfg(test)]
mod tests;

pub use crate::docs::{public_names, split};
pub use crate::generator::{Generator, SCHEMA, build, sdk};
pub use crate::names::type_name;
pub use crate::problem::{Error, Problem};
