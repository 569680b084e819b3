//! The fields that a service names differently than our schema: the `fields` of a profile.
//!
//! A document selects such a field with an alias, and an input is sent with the name of the service. Therefore, our types stay.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::value::RawValue;

use crate::error::Error;
use crate::graphql::document::OperationDocument;
use crate::graphql::request::{OwnVariables, RawVariables, not_json};
use crate::model::redact::FIELDS;
use crate::model::{OneLine, rename_fields};

/// A field with another name at the service.
pub(crate) struct FieldRename {
    /// The type that has the field.
    pub(crate) of: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

/// The renamed fields of a service.
// profile: fields
#[derive(Default)]
pub(crate) struct FieldRenames(Vec<FieldRename>);

/// The input of a consignment, whose id and number `updates` renames.
// profile: updates
const CONSIGNMENT: &str = "CreateOrSaveConsignmentInput";

impl FieldRenames {
    /// Checks the renamed fields of a profile against our schema.
    pub(crate) fn new(fields: &BTreeMap<String, String>) -> Result<Self, Error> {
        let mut renames = Vec::new();
        let mut names = HashSet::new();
        for (coordinate, theirs) in fields {
            let wrong = |what: String| {
                let what = format!("fields.{coordinate} of the profile: {what}");
                Err(Error::config(OneLine(&what).to_string()))
            };
            let Some((of, ours)) = coordinate.split_once('.') else {
                return wrong("write the key as Type.field".to_owned());
            };
            let Some(known) = FIELDS.get(of) else {
                return wrong(format!("our schema has no type {of}"));
            };
            let has = |name: &str| known.iter().any(|(field, _)| *field == name);
            if !has(ours) || ours.contains('(') {
                return wrong(format!("our type {of} has no field {ours}"));
            }
            if ["Query", "Mutation"].contains(&of) || ours == "data" {
                return wrong("set recordAt of the operation instead".to_owned());
            }
            if of == CONSIGNMENT && ["id", "number"].contains(&ours) {
                return wrong(format!("set updates.{ours} instead"));
            }
            if !is_name(theirs) {
                return wrong("the new name is not a GraphQL name".to_owned());
            }
            if has(theirs) {
                return wrong(format!("our type {of} already has a field {theirs}"));
            }
            if !names.insert((of, theirs)) {
                return wrong(format!("another field of {of} is renamed to {theirs} too"));
            }
            renames.push(FieldRename {
                of: of.to_owned(),
                ours: ours.to_owned(),
                theirs: theirs.clone(),
            });
        }
        Ok(Self(renames))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &FieldRename> {
        self.0.iter()
    }

    /// The service's name of a field, if it differs from ours.
    pub(crate) fn theirs(&self, of: &str, field: &str) -> Option<&str> {
        let mut all = self.0.iter();
        let rename = all.find(|rename| rename.of == of && rename.ours == field)?;
        Some(&rename.theirs)
    }

    /// Our name of a field of the service, if it differs.
    #[cfg(feature = "fake")]
    pub(crate) fn ours(&self, of: &str, field: &str) -> Option<&str> {
        let mut all = self.0.iter();
        let rename = all.find(|rename| rename.of == of && rename.theirs == field)?;
        Some(&rename.ours)
    }

    /// The variables of an operation, with the service's names of fields in inputs.
    pub(in crate::graphql) fn with_their_names<'a>(
        &self,
        known: &OperationDocument,
        variables: RawVariables<'a>,
    ) -> Result<OwnVariables<'a>, Error> {
        let naming = |of: &str, name: &str| (self.theirs(of, name), type_of(of, name));
        let sent = variables.into_iter().map(|(name, value)| {
            let mut declared = known.variables.iter();
            let declared = declared.find(|(variable, _)| *variable == name);
            let Some((_, ty)) = declared.filter(|_| !self.is_empty()) else {
                return Ok((name, Cow::Borrowed(value)));
            };
            let text =
                rename_fields(value.get(), element_of(ty), &naming).map_err(Error::config)?;
            let value = RawValue::from_string(text).map_err(not_json)?;
            Ok((name, Cow::Owned(value)))
        });
        sent.collect()
    }
}

/// The type of a field in our schema, or of the elements of its list; empty for an unknown field.
pub(super) fn type_of(of: &str, field: &str) -> &'static str {
    let mut fields = FIELDS.get(of).into_iter().flatten();
    let found = fields.find(|(name, _)| *name == field);
    found.map_or("", |(_, ty)| element_of(ty))
}

/// A type without its list and non-null marks.
fn element_of(ty: &str) -> &str {
    ty.trim_matches(['[', ']', '!'])
}

fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(is_letter)
        && !text.starts_with("__")
        && text.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::*;

    #[test]
    fn a_rename_that_cannot_hold_is_named() {
        for row in rows(
            "
            number                              | no       | Type.field
            Consigment.number                   | no       | no type Consigment
            Consignment.numbr                   | no       | no field numbr
            Query.consignments(first:)          | limit    | no field consignments(first:)
            ConsignmentStatus.DRAFT             | NEW      | no type ConsignmentStatus
            Query.consignments                  | list     | set recordAt
            ConsignmentResult.data              | result   | set recordAt
            CreateOrSaveConsignmentInput.number | no       | set updates.number
            Consignment.number                  | a b      | not a GraphQL name
            Consignment.number                  | __number | not a GraphQL name
            Consignment.number                  | number   | already has a field number
            Consignment.number                  | heads    | already has a field heads
            ",
        ) {
            let fields = [(row[0].to_owned(), row[1].to_owned())].into();
            let error = FieldRenames::new(&fields).err().unwrap().to_string();
            let is_named = error.contains(row[2]) && error.contains(row[0]);
            assert!(is_named, "{row:?}: {error}");
        }
        let hostile = [("a\u{1b}.b".to_owned(), "no".to_owned())];
        let error = FieldRenames::new(&hostile.into())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(r"a\u{1b}.b"), "{error}");
        let twice = ["Consignment.heads", "Consignment.number"];
        let twice = twice.map(|name| (name.to_owned(), "same".to_owned()));
        let error = FieldRenames::new(&twice.into()).err().unwrap().to_string();
        assert!(error.starts_with("fields.Consignment.number"), "{error}");
    }
}
