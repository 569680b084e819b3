//! Whether the live schema is still the one that this crate was written for.
//!
//! Both schemas become tables of coordinates (`Query.comments(envdAccountId:)` and its type), the tables are compared, and
//! each difference is joined with the operations of this crate that use the coordinate. The table of the bundled schema
//! and the coordinates of each operation are written by `tests/codegen.rs`.

mod change;
mod compare;
mod coordinates;
mod introspection;
mod report;
mod wire_type;

pub use self::change::{ChangeClass, ChangeKind, SchemaChange};
pub use self::coordinates::SchemaCoordinates;
pub use self::introspection::{Coverage, Introspection};
pub use self::report::SchemaDrift;

pub(crate) use self::introspection::{
    Abilities, introspection_document, introspection_probe, spot_check,
};
