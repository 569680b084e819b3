//! The intermediate representation: operations, records, inputs and enums, resolved against a schema.

use crate::names;

/// All resolved items of a program.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Program {
    /// The operations, in the order of the documents.
    pub operations: Vec<Operation>,
    /// The records of fragments, by name.
    pub records: Vec<Struct>,
    /// Inputs that the SDK does not have, by Rust name.
    pub inputs: Vec<Struct>,
    /// Enums that the SDK does not have, in the order of the schema.
    pub enums: Vec<OpenEnum>,
}

/// An operation with its variables, reply and records.
#[derive(Debug)]
#[non_exhaustive]
pub struct Operation {
    /// The name in the document.
    pub name: String,
    /// `query` or `mutation`.
    pub kind: &'static str,
    /// The document to send, on one line. It contains no fragments: they would name object types, and the type names of the live
    /// schema are not published.
    pub sent: String,
    /// The variables, each with the text of its argument.
    pub variables: Struct,
    /// The fields of the root type: the `data` of the reply.
    pub reply: Struct,
    /// The records of selections without a fragment.
    pub records: Vec<Struct>,
}

/// The struct of a selection or of an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Struct {
    /// The name in Rust.
    pub name: String,
    /// The type in GraphQL.
    pub graphql: String,
    /// The lines of its documentation.
    pub docs: Vec<String>,
    /// The fields in the order of the document, or of the schema.
    pub fields: Vec<Field>,
    /// The generic type of the SDK for a selection of these fields, instead of a struct.
    pub generic: Option<&'static str>,
    /// Whether it has a default: not if a required value has a type without one, such as an enum.
    pub(crate) has_default: bool,
}

/// A field of a record or an input, or a variable.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field {
    /// `Type.field`, or `Type.field(argument:)` of a variable.
    pub coordinate: String,
    /// The name in JSON; the alias, if there is one.
    pub wire: String,
    /// The name in Rust.
    pub rust: String,
    /// The lines of its documentation.
    pub docs: Vec<String>,
    /// Further attributes, such as aliases for the search in rustdoc.
    pub attributes: String,
    /// The type in GraphQL.
    pub graphql: String,
    /// The type inside all lists and options.
    pub leaf: Leaf,
    /// The number of lists around it.
    pub lists: usize,
    /// Whether a value must be sent.
    pub required: bool,
    /// Whether its type has a default.
    pub(crate) has_default: bool,
    /// The function of `model::lenient` that deserializes it, if the type alone does not determine it.
    pub(crate) reader: Option<&'static str>,
    /// Whether an input contains itself here.
    pub boxed: bool,
    /// The fragment, if its selection is a single fragment spread.
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
    /// The records of fragments, except those that become a generic type.
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
    /// In Rust itself, or at the path in the mapping of a scalar.
    Rust,
    /// In `envd_sdk::model`.
    Sdk,
    /// In the generated code, for all operations.
    Shared,
    /// In the module of the operation.
    Operation,
}

/// An enum that preserves unknown values.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenEnum {
    /// The name in Rust.
    pub name: String,
    /// The lines of its documentation.
    pub docs: Vec<String>,
    /// For each value: the variant, the text in JSON, the lines of documentation, and further attributes.
    pub values: Vec<(String, String, Vec<String>, String)>,
}
