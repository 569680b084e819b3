//! A schema as a table of coordinates.

use std::collections::BTreeMap;

use serde_json::Value;

use super::introspection;
use crate::error::Error;

/// A schema as a table: each coordinate with its type, or with what kind of type it is.
///
/// ```
/// use envd_sdk::graphql::SchemaCoordinates;
///
/// let schema = SchemaCoordinates::bundled();
/// assert_eq!(schema.get("Query.comments(envdAccountId:)"), Some("String!"));
/// assert_eq!(schema.get("Query.comments"), Some("[Comment]"));
/// assert_eq!(schema.get("EFormType"), Some("enum"));
/// assert_eq!(schema.get("EFormType.LPAC1"), Some("value"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaCoordinates(pub(super) BTreeMap<String, Element>);

/// What stands at a coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Element {
    /// A type such as `[Comment]`, a kind of type such as `enum`, or `value`.
    pub(super) text: String,
    pub(super) default: Option<String>,
    pub(super) deprecated: bool,
}

/// What a coordinate names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Type,
    Field,
    Argument,
    InputField,
    EnumValue,
}

impl SchemaCoordinates {
    /// The schema that this crate was written for, which is [`SCHEMA`](crate::graphql::SCHEMA).
    #[must_use]
    pub fn bundled() -> Self {
        let lines = include_str!("coordinates.txt").lines();
        let elements = lines.filter_map(|line| {
            let (coordinate, what) = line.split_once(' ')?;
            let (text, default) = match what.split_once(" = ") {
                Some((text, default)) => (text, Some(default.to_owned())),
                None => (what, None),
            };
            let element = Element {
                text: text.to_owned(),
                default,
                deprecated: false,
            };
            Some((coordinate.to_owned(), element))
        });
        Self(elements.collect())
    }

    /// Reads the reply to an introspection query, with or without `data` around `__schema`, for example one that was
    /// saved to a file.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when it has no `__schema` of the expected shape.
    pub fn from_introspection(reply: &Value) -> Result<Self, Error> {
        let data = reply.get("data").unwrap_or(reply);
        introspection::whole(data)
            .ok_or_else(|| Error::config("this is not the reply to an introspection query"))
    }

    /// The type at a coordinate: `[Comment]` for a field, `object` or `enum` for a type, `value` for a value of an enum.
    #[must_use]
    pub fn get(&self, coordinate: &str) -> Option<&str> {
        self.0.get(coordinate).map(|element| element.text.as_str())
    }

    /// All coordinates with their types, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let elements = self.0.iter();
        elements.map(|(coordinate, element)| (coordinate.as_str(), element.text.as_str()))
    }

    /// Takes a type out, with all its fields.
    pub(super) fn forget(&mut self, type_name: &str) {
        self.0
            .retain(|coordinate, _| type_of(coordinate) != type_name);
    }

    /// The names of all types.
    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        let all = self.0.keys().map(String::as_str);
        all.filter(|coordinate| !coordinate.contains('.'))
    }

    pub(super) fn role(&self, coordinate: &str) -> Role {
        if coordinate.contains('(') {
            return Role::Argument;
        }
        let Some(parent) = parent(coordinate) else {
            return Role::Type;
        };
        match self.get(parent) {
            Some("enum") => Role::EnumValue,
            Some("input") => Role::InputField,
            _ => Role::Field,
        }
    }
}

/// The field of an argument, the type of a field.
pub(super) fn parent(coordinate: &str) -> Option<&str> {
    let parts = coordinate
        .split_once('(')
        .or_else(|| coordinate.split_once('.'));
    parts.map(|(parent, _)| parent)
}

fn type_of(coordinate: &str) -> &str {
    coordinate.split('.').next().unwrap_or(coordinate)
}
