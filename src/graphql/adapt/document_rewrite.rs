//! Rewrites the documents of this crate for a server with another schema.
//!
//! A server refuses an entire document if it lacks one of the selected fields. Fields that our documents select in addition to
//! the stated ones are public or assumed, and sources differ on where some of them are. Therefore, a document is sent without
//! the fields, and with the record location, that an [`OperationProfile`] specifies. A refused query is adapted: the field that
//! the refusal names is omitted too, and its value is `None`. Changes are never adapted. Fields that the service names differently
//! are selected with our name as an alias.

use std::borrow::Cow;

use super::field_renames::{FieldRenames, type_of};
use crate::graphql::document::{DATA, OperationDocument, OperationKind, Selection};
use crate::model::{Condition, ServerError};
use crate::profile::OperationProfile;

/// Fields that are never omitted. Without them, a list would end too early, an unregistered user would look registered, an
/// answer would lose its question or row, or a question its conditions.
// profile: operations.leftOut
const REQUIRED: [&str; 16] = [
    "acceptableAnswers",
    "accounts",
    "data",
    "edges",
    "endCursor",
    "envdAccountId",
    "hasNextPage",
    "index",
    "isNewUser",
    "items",
    "node",
    "pageInfo",
    "questionId",
    "triggers",
    "validators",
    "value",
];

/// The possible locations of the record of `userDetails` (spec 2.8 and 4.1), in the notation of a profile.
// profile: operations.recordAt
const USER_DETAILS_LOCATIONS: [&str; 4] = [
    "/userDetails",
    "/userDetails/data",
    "/userDetailsQuery/data",
    "/userDetailsQuery",
];

impl OperationDocument {
    /// The text for a server with this profile, with only the variables that are set. A server with a different name for an
    /// argument then refuses only the calls that use it.
    pub(in crate::graphql) fn render(
        &self,
        profile: &OperationProfile,
        renames: &FieldRenames,
        is_set: &dyn Fn(&str) -> bool,
    ) -> Cow<'static, str> {
        let is_whole =
            profile.record_at.is_none() && profile.left_out.is_empty() && renames.is_empty();
        if is_whole && self.variables.iter().all(|(name, _)| is_set(name)) {
            return self.text.into();
        }
        self.write(profile, renames, is_set, None).into()
    }

    /// Like [`render`](Self::render). Adds the selected fields of the record to `selected`.
    fn write(
        &self,
        profile: &OperationProfile,
        renames: &FieldRenames,
        is_set: &dyn Fn(&str) -> bool,
        selected: Option<&mut Vec<SelectedField>>,
    ) -> String {
        let mut text = String::with_capacity(self.text.len());
        let variables = self.variables.iter().filter(|(name, _)| is_set(name));
        text.push_str(match self.kind {
            OperationKind::Query => "query ",
            OperationKind::Mutation => "mutation ",
        });
        text.push_str(self.operation);
        push_list(
            &mut text,
            variables.clone().map(|(name, ty)| ["$", name, ": ", ty]),
        );
        let mut members = self.members(profile);
        let field = members.next().unwrap_or(self.field);
        text.push_str(" { ");
        if field != self.name {
            text.extend([self.name, ": "]);
        }
        text.push_str(field);
        push_list(
            &mut text,
            variables.map(|(name, _)| ["", name, ": $", name]),
        );
        // List items are selected like a single record.
        let wrappers: Vec<&str> = members.filter(|name| !is_position(name)).collect();
        text.extend(wrappers.iter().flat_map(|name| [" { ", name]));
        let mut writer = Writer {
            text,
            path: String::new(),
            left_out: &profile.left_out,
            renames,
            selected,
        };
        writer.selections(self.record, self.record_type());
        let mut text = writer.text;
        text.extend(wrappers.iter().chain([&field]).map(|_| " }"));
        text
    }

    /// The type of the record in our schema.
    fn record_type(&self) -> &'static str {
        match self.kind {
            OperationKind::Query => type_of("Query", self.field),
            OperationKind::Mutation => type_of(type_of("Mutation", self.field), DATA),
        }
    }

    /// The fields that lead to the record.
    // profile: operations.recordAt
    fn members<'a>(&'a self, profile: &'a OperationProfile) -> impl Iterator<Item = &'a str> {
        let stated = profile.record_at.is_none();
        let ours = [Some(self.field), self.is_change().then_some(DATA)];
        let ours = ours.into_iter().flatten().filter(move |_| stated);
        let pointer = profile.record_at.as_deref().unwrap_or_default();
        ours.chain(pointer.split('/').skip(1))
    }

    /// Checks the profile's settings for this document.
    pub(super) fn check(&self, profile: &OperationProfile) -> Result<(), String> {
        // profile: operations.leftOut
        for path in &profile.left_out {
            let mut fields = self.record;
            for name in path.split('.') {
                let field = fields.iter().find(|field| field.0 == name);
                fields = field
                    .ok_or_else(|| format!("our document has no field {path}"))?
                    .1;
            }
            if self.is_required(path) {
                return Err(format!("{path} cannot be left out"));
            }
        }
        let mut members = self.members(profile).peekable();
        if members.peek().is_some() && members.all(is_name) {
            return Ok(());
        }
        let pointer = profile.record_at.as_deref().unwrap_or_default();
        Err(format!("{pointer} has a part that is no name of a field"))
    }

    /// The location of the record in a reply to this document, as a JSON pointer below `data`; `None` if it is where our types
    /// expect it.
    // profile: operations.recordAt
    pub(in crate::graphql) fn moved_to(&self, profile: &OperationProfile) -> Option<String> {
        let (_, wrappers) = profile.record_at.as_deref()?.get(1..)?.split_once('/')?;
        let is_expected = wrappers == DATA && (self.is_change() || self.name == "userDetails");
        (!is_expected).then(|| format!("/{}/{wrappers}", self.name))
    }

    /// The profile for retrying this query, after a server refused it with these errors; `None` if no other document can help.
    // profile: operations.leftOut
    pub(in crate::graphql) fn adapted(
        &self,
        refused: &OperationProfile,
        renames: &FieldRenames,
        is_set: &dyn Fn(&str) -> bool,
        errors: &[ServerError],
    ) -> Option<OperationProfile> {
        if errors.is_empty() || !errors.iter().all(is_about_the_document) {
            return None;
        }
        let mut selected = Vec::new();
        self.write(refused, renames, is_set, Some(&mut selected));
        let paths = errors
            .iter()
            .map(|error| self.refused_path(&selected, error));
        let Some(paths) = paths.collect::<Option<Vec<_>>>() else {
            return self.next_location(refused);
        };
        let mut left_out = refused.left_out.clone();
        left_out.extend(paths);
        left_out.sort();
        // Omitting a field also omits those below it.
        left_out.dedup_by(|path, before| {
            let inside = path.strip_prefix(before.as_str());
            inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('.'))
        });
        Some(OperationProfile {
            left_out,
            ..refused.clone()
        })
    }

    /// The field that an error refers to; `None` if the error has another cause, or the field is required.
    ///
    /// The location identifies the field (spec 7.2 shows one for these errors), and the message must name it too.
    fn refused_path(&self, selected: &[SelectedField], error: &ServerError) -> Option<String> {
        let offset = offset(error)?;
        let mut selected = selected.iter();
        let field = selected.find(|field| field.offsets.contains(&offset))?;
        let is_named = error.message().contains(&field.sent);
        (is_named && !self.is_required(&field.path)).then(|| field.path.clone())
    }

    /// The questions of a consignment may be read without their children, as in public queries. The question tree may not.
    fn is_required(&self, path: &str) -> bool {
        let name = name_of(path);
        REQUIRED.contains(&name) || (self.name == "questions" && name == "childQuestions")
    }

    /// The user details query with the complete record at the next location.
    // profile: operations.recordAt
    fn next_location(&self, refused: &OperationProfile) -> Option<OperationProfile> {
        let here = refused.record_at.as_deref().unwrap_or("/userDetails");
        let mut next = USER_DETAILS_LOCATIONS.iter().skip_while(|at| **at != here);
        let next = next.nth(1).filter(|_| self.name == "userDetails")?;
        Some(OperationProfile {
            record_at: Some((*next).to_owned()),
            ..OperationProfile::default()
        })
    }
}

/// A field in a document.
struct SelectedField {
    /// The path within the record, in our names.
    path: String,
    /// The service's name.
    sent: String,
    /// The offsets of the field, of its name after an alias, and of its selections.
    offsets: [usize; 3],
}

/// Writes selections, omitting some fields and renaming others.
struct Writer<'a> {
    text: String,
    /// The path of the current field.
    path: String,
    // profile: operations.leftOut
    left_out: &'a [String],
    // profile: fields
    renames: &'a FieldRenames,
    selected: Option<&'a mut Vec<SelectedField>>,
}

impl Writer<'_> {
    /// Writes the selections of a record of this type.
    fn selections(&mut self, fields: &[Selection], of: &str) {
        self.text.push_str(" {");
        let before = (self.text.len(), self.path.len());
        for Selection(name, below) in fields {
            self.path.push_str(name);
            if !self.left_out.contains(&self.path) {
                self.text.push(' ');
                let start = self.text.len();
                let theirs = self.renames.theirs(of, name);
                if theirs.is_some() {
                    self.text.extend([name, ": "]);
                }
                let sent = theirs.unwrap_or(name);
                let named = self.text.len();
                self.text.push_str(sent);
                let opens = self.text.len() + 1;
                if let Some(selected) = &mut self.selected {
                    selected.push(SelectedField {
                        path: self.path.clone(),
                        sent: sent.to_owned(),
                        offsets: [start, named, if below.is_empty() { start } else { opens }],
                    });
                }
                if !below.is_empty() {
                    self.path.push('.');
                    self.selections(below, type_of(of, name));
                }
            }
            self.path.truncate(before.1);
        }
        if self.text.len() == before.0 {
            // A selection must not be empty, and every type has this field.
            self.text.push_str(" __typename");
        }
        self.text.push_str(" }");
    }
}

/// Adds a list in parentheses, unless it is empty.
fn push_list<'a>(text: &mut String, items: impl Iterator<Item = [&'a str; 4]>) {
    let mut before = "(";
    for item in items {
        text.push_str(before);
        text.extend(item);
        before = ", ";
    }
    if before != "(" {
        text.push(')');
    }
}

fn is_position(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_letter)
}

/// The last name in a path.
fn name_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Whether an error occurred before execution. Execution errors have a path, and their field exists.
fn is_about_the_document(error: &ServerError) -> bool {
    error.condition() == Condition::SchemaMismatch && error.path().is_empty()
}

/// The column is the offset, because our documents have a single line.
fn offset(error: &ServerError) -> Option<usize> {
    let mut places = error.raw().get("locations")?.as_array()?.iter();
    let place = places.find(|place| place["line"] == 1)?;
    usize::try_from(place["column"].as_u64()?)
        .ok()?
        .checked_sub(1)
}

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::*;
    use crate::graphql::adapt::lexer::operations;
    use crate::graphql::generated::DOCUMENTS;

    const AS_OURS: fn() -> OperationProfile = OperationProfile::default;
    const NO_RENAMES: fn() -> FieldRenames = FieldRenames::default;

    fn declared(document: &str) -> Vec<(String, bool)> {
        let variables = operations(document).unwrap().remove(0).variables;
        let variables = variables.into_iter();
        variables
            .map(|variable| (variable.name, variable.required))
            .collect()
    }

    #[test]
    fn the_data_of_a_document_are_those_of_its_text() {
        for known in DOCUMENTS {
            let written = known.write(&AS_OURS(), &NO_RENAMES(), &|_| true, None);
            assert_eq!(written, known.text);
            let variables = known.variables.iter();
            let variables = variables.map(|(name, ty)| ((*name).to_owned(), ty.ends_with('!')));
            assert_eq!(variables.collect::<Vec<_>>(), declared(known.text));
            assert_eq!(operations(known.text).unwrap()[0].kind, Some(known.kind));
            assert!(!known.is_change() || known.id().to_ascii_lowercase().ends_with("id"));
        }
    }

    #[test]
    fn a_variable_without_a_value_is_neither_declared_nor_used() {
        for known in DOCUMENTS {
            let all = declared(known.text);
            for (unset, _) in &all {
                let text = known.render(&AS_OURS(), &NO_RENAMES(), &|name| name != unset);
                let left: Vec<_> = all.iter().filter(|(name, _)| name != unset).collect();
                assert_eq!(declared(&text).iter().collect::<Vec<_>>(), left, "{text}");
                for (name, _) in &all {
                    let is_name = |c: char| c.is_ascii_alphanumeric();
                    let uses = text.split('$').skip(1);
                    let uses = uses.filter(|rest| rest.split(|c| !is_name(c)).next() == Some(name));
                    assert_eq!(uses.count(), if name == unset { 0 } else { 2 }, "{text}");
                }
            }
            let none = known.render(&AS_OURS(), &NO_RENAMES(), &|_| false);
            assert!(!none.contains(['(', '$']), "{none}");
        }
    }

    #[test]
    fn a_profile_leaves_fields_out_renames_them_and_moves_the_record() {
        // Columns: the operation, the location of the record, the fields left out, the renamed fields.
        for row in rows(
            "
            deleteTemplate | -           | id number name | -
                | mutation DeleteTemplate($envdAccountId: String!, $id: String!) { deleteTemplate(envdAccountId: $envdAccountId, id: $id) { data { __typename } } }
            edecs          | /me/0/edecs | status         | Edec.number=edecNumber Consignment.number=no
                | query Edecs($envdAccountId: String) { edecs: me(envdAccountId: $envdAccountId) { edecs { id number: edecNumber createdAt } } }
            template       | /template   | species owner origin destination consignee forms.type | ConsignmentForm.serialNumber=serial Template.forms=documents
                | query Template($id: String!, $envdAccountId: String!) { template(id: $id, envdAccountId: $envdAccountId) { id number name forms: documents { serialNumber: serial } } }
            deleteConsignment | -        | number         | Consignment.id=consignmentId Template.id=no
                | mutation DeleteConsignment($envdAccountId: String!, $id: String!) { deleteConsignment(envdAccountId: $envdAccountId, id: $id) { data { id: consignmentId status } } }
            templates      | -           | totalCount edges.cursor edges.node.species edges.node.owner edges.node.origin edges.node.destination edges.node.consignee | TemplateConnection.edges=rows TemplateEdge.node=row PageInfo.endCursor=last ConsignmentForm.type=code
                | query Templates($envdAccountId: String!, $first: Int, $after: String) { templates(envdAccountId: $envdAccountId, first: $first, after: $after) { pageInfo { hasNextPage endCursor: last } edges: rows { node: row { id number name forms { type: code serialNumber } } } } }
            ",
        ).collect::<Vec<_>>().chunks(2) {
            let [name, record_at, left_out, new_names] = row[0][..] else {
                panic!("{row:?}")
            };
            let profile = OperationProfile {
                record_at: Some(record_at.to_owned()).filter(|it| it != "-"),
                left_out: left_out.split(' ').map(str::to_owned).collect(),
                ..OperationProfile::default()
            };
            let pairs = new_names
                .split(' ')
                .filter_map(|pair| pair.split_once('='));
            let fields = pairs.map(|(ours, theirs)| (ours.to_owned(), theirs.to_owned()));
            let renames = FieldRenames::new(&fields.collect()).unwrap();
            let known = OperationDocument::named(name).unwrap();
            assert_eq!(known.render(&profile, &renames, &|_| true), row[1][1]);
        }
    }
}
