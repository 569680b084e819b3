//! What the code is written from: operations, records, inputs and enums, resolved against a schema.

use crate::names;

/// Everything that a program needs, resolved.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Program {
    /// In the order of the documents.
    pub operations: Vec<Operation>,
    /// Those of the fragments, by their names.
    pub records: Vec<Struct>,
    /// Those that are not of the SDK, by their names in Rust.
    pub inputs: Vec<Struct>,
    /// Those that are not of the SDK, in the order of the schema.
    pub enums: Vec<OpenEnum>,
}

/// An operation, and what only it needs.
#[derive(Debug)]
#[non_exhaustive]
pub struct Operation {
    /// The name in the document.
    pub name: String,
    /// `query` or `mutation`.
    pub kind: &'static str,
    /// The document that is sent, on one line. It has no fragments: they name object types, and the names of the live schema
    /// are not published.
    pub sent: String,
    /// The variables, each with the text of its argument.
    pub variables: Struct,
    /// The fields of the root type: the `data` of the reply.
    pub reply: Struct,
    /// The records of selections without a fragment.
    pub records: Vec<Struct>,
}

/// A struct: of a selection, or an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Struct {
    /// The name in Rust.
    pub name: String,
    /// The type in GraphQL.
    pub graphql: String,
    /// What rustdoc says of it, in lines.
    pub docs: Vec<String>,
    /// The fields in the order of the document, or of the schema.
    pub fields: Vec<Field>,
    /// The generic type of the SDK that a selection of these fields is read into, in place of a struct.
    pub generic: Option<&'static str>,
    /// Not if a value is required of a type without one, as an enum is.
    pub(crate) has_default: bool,
}

/// A field of a record or an input, or a variable.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field {
    /// `Type.field`, or `Type.field(argument:)` of a variable.
    pub coordinate: String,
    /// The name in JSON: the alias where there is one.
    pub wire: String,
    /// The name in Rust.
    pub rust: String,
    /// What rustdoc says of it, in lines.
    pub docs: Vec<String>,
    /// Further attributes, such as words for the search of rustdoc.
    pub attributes: String,
    /// The type in GraphQL.
    pub graphql: String,
    /// The type inside all lists and options.
    pub leaf: Leaf,
    /// How many lists are around it.
    pub lists: usize,
    /// Whether a value must be sent.
    pub required: bool,
    /// Whether its type has a default.
    pub(crate) has_default: bool,
    /// The function of `model::lenient` that reads it, where its type alone does not say so.
    pub(crate) reader: Option<&'static str>,
    /// Whether an input contains itself here.
    pub boxed: bool,
    /// The fragment that is selected of it, alone.
    pub spread: Option<String>,
}

/// A type in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leaf {
    /// Where it is declared.
    pub origin: Origin,
    /// Its name, or its path.
    pub name: String,
    /// The generic type of the SDK around it: `Connection`, `Edge` or `Saved`.
    pub generic: Option<&'static str>,
}

impl Program {
    /// The records of fragments that are not read into a generic type.
    pub fn structs(&self) -> impl Iterator<Item = &Struct> {
        self.records
            .iter()
            .filter(|record| record.generic.is_none())
    }
}

impl Field {
    /// Whether `Debug` hides it: personal data, answers and signatures.
    pub fn is_hidden(&self) -> bool {
        names::is_hidden(&self.coordinate)
    }
}

impl Leaf {
    pub(crate) fn new(origin: Origin, name: &str) -> Self {
        let (name, generic) = (name.to_owned(), None);
        Self {
            origin,
            name,
            generic,
        }
    }
}

/// Where a type is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In Rust itself, or where the mapping of a scalar says.
    Rust,
    /// In `envd_sdk::model`.
    Sdk,
    /// In the code that is written, for all operations.
    Shared,
    /// In the module of the operation.
    Operation,
}

/// An enum that keeps values that it does not know.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenEnum {
    /// The name in Rust.
    pub name: String,
    /// What rustdoc says of it, in lines.
    pub docs: Vec<String>,
    /// Of each value the variant, the text of the wire, what rustdoc says, and further attributes.
    pub values: Vec<(String, String, Vec<String>, String)>,
}
