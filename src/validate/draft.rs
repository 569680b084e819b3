//! Reads a consignment from JSON of any shape. A value of the wrong type becomes a finding at its path; the rest is read.

use serde_json::{Map, Value};

use super::format::excerpt;
use super::forms::NamedForms;
use super::{Context, Expected, Finding, Policy, QuestionRules, Report, Rule, fields, forms};
use crate::model::redact::FIELDS;
use crate::model::{ConsignmentInput, QuestionId};

/// The type of a consignment in the schema (spec 2.1).
const CONSIGNMENT: &str = "CreateOrSaveConsignmentInput";

/// The readable part of a consignment, and findings for the rest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadInput {
    /// The consignment; values that could not be read are absent.
    pub(super) input: ConsignmentInput,
    /// A finding at the path of each value that does not fit.
    pub(super) findings: Vec<Finding>,
    /// The questions whose answers could not be read; `None` if the question id could not be read either.
    unread: Vec<Option<QuestionId>>,
}

impl ReadInput {
    /// Reads the JSON of `CreateOrSaveConsignmentInput`. It never fails.
    ///
    /// The server's schema rejects values of the wrong type, such as a number instead of a text, and unknown fields (spec 7.2).
    /// assumed: the messages, modelled on those about unknown forms.
    pub(super) fn read(value: &Value) -> Self {
        let mut reader = InputReader {
            path: Vec::new(),
            findings: Vec::new(),
        };
        let read = reader.read(value, CONSIGNMENT);
        Self {
            // All remaining values have the types of the input, so deserializing cannot fail.
            input: read
                .and_then(|read| serde_json::from_value(read).ok())
                .unwrap_or_default(),
            unread: unread(value, &reader.findings),
            findings: reader.findings,
        }
    }

    /// Puts the values that could not be read in front of the other findings.
    pub(super) fn report(self, report: Report) -> Report {
        let mut refused = self.findings;
        refused.extend(forms::refused_values(&self.input));
        report.stopped_by(refused, &self.unread)
    }
}

/// As [`validate_fields`](super::validate_fields), for JSON that may not have the shape of a consignment.
pub fn validate_fields_json(input: &Value, context: &Context) -> Report {
    let draft = ReadInput::read(input);
    let mut report = Report::new(QuestionRules::NoQuestionsLoaded);
    let named = NamedForms::default();
    let answers = draft.input.answers().iter();
    fields::check(
        &draft.input,
        answers,
        context,
        Policy::default(),
        named,
        &mut report,
    );
    draft.report(report)
}

fn unread(input: &Value, findings: &[Finding]) -> Vec<Option<QuestionId>> {
    findings
        .iter()
        .map(|finding| finding.path.as_slice())
        .filter_map(|path| match path {
            [answers, position, value] if answers == "answers" && value == "value" => {
                let answer = input["answers"].get(position.parse::<usize>().ok()?)?;
                Some(answer["questionId"].as_str().map(QuestionId::from))
            }
            [answers, ..] if answers == "answers" => Some(None),
            _ => None,
        })
        .collect()
}

/// The values that a scalar type of the schema accepts. A row is a whole number, so 1.0 is rejected.
fn scalar(name: &str) -> (Expected, fn(&Value) -> bool) {
    match name {
        "Boolean" => (Expected::YesOrNo, Value::is_boolean),
        "Int" => (Expected::WholeNumber, Value::is_i64),
        _ => (Expected::Text, Value::is_string),
    }
}

/// The type of the items of a list.
fn list_of(wanted: &str) -> Option<&str> {
    Some(wanted.strip_prefix('[')?.trim_end_matches(['!', ']']))
}

/// The reader's position, and its findings so far.
struct InputReader {
    path: Vec<String>,
    findings: Vec<Finding>,
}

impl InputReader {
    /// Keeps the parts of a value that have the expected type.
    fn read(&mut self, value: &Value, wanted: &str) -> Option<Value> {
        if let Some(item) = list_of(wanted) {
            let Value::Array(values) = value else {
                // GraphQL accepts a single value as a list of one.
                return Some(self.read(value, item).into_iter().collect());
            };
            let items = values.iter().enumerate().filter_map(|(position, value)| {
                self.inside(&position.to_string(), |reader| reader.item(value, item))
            });
            return Some(items.collect());
        }
        match (FIELDS.get(wanted), value) {
            (None, value) => {
                let (expected, fits) = scalar(wanted);
                if !fits(value) {
                    let message = format!("Unable to convert '{}' to '{wanted}'", shown(value));
                    self.reject(expected, &message);
                    return None;
                }
                Some(value.clone())
            }
            (Some(fields), Value::Object(values)) => {
                let read: Map<String, Value> = fields
                    .iter()
                    .filter_map(|(field, wanted)| {
                        let value = match values.get(*field)? {
                            Value::Null => Value::Null,
                            value => self.inside(field, |reader| reader.read(value, wanted))?,
                        };
                        Some(((*field).to_owned(), value))
                    })
                    .collect();
                self.reject_unknown(values, fields, wanted);
                Some(read.into())
            }
            (Some(_), _) => {
                let message = "Did you provide a List or Scalar value accidentally?";
                let message = format!("Unable to parse input as a '{wanted}' type. {message}");
                self.reject(Expected::Fields, &message);
                None
            }
        }
    }

    fn item(&mut self, value: &Value, wanted: &str) -> Option<Value> {
        if value.is_null() {
            let expected = match FIELDS.get(wanted) {
                Some(_) => Expected::Fields,
                None => scalar(wanted).0,
            };
            self.reject(expected, "Received a null input for a non-null variable.");
            return None;
        }
        self.read(value, wanted)
    }

    /// Rejects fields that the schema does not have.
    fn reject_unknown(&mut self, values: &Map<String, Value>, fields: &[(&str, &str)], name: &str) {
        let is_known = |field: &str| fields.iter().any(|(known, _)| *known == field);
        for field in values.keys().filter(|field| !is_known(field)) {
            let variable = self.variable();
            let shown = excerpt(field);
            let message = format!(
                "Variable '{variable}' is invalid. Unrecognized input fields '{shown}' for type '{name}'."
            );
            self.inside(field, |reader| reader.push(message, None));
        }
    }

    fn inside<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.to_owned());
        let read = read(self);
        self.path.pop();
        read
    }

    fn reject(&mut self, expected: Expected, what: &str) {
        let message = format!("Variable '{}' is invalid. {what}", self.variable());
        self.push(message, Some(expected));
    }

    fn push(&mut self, message: String, expected: Option<Expected>) {
        self.findings
            .push(Finding::schema(Rule::WireType, self.path.clone(), message).expecting(expected));
    }

    /// The path in the server's notation.
    fn variable(&self) -> String {
        let names = self.path.iter().map(|name| match name.parse::<usize>() {
            Ok(position) => format!("[{position}]"),
            Err(_) => format!(".{name}"),
        });
        "$input".to_owned() + &names.collect::<String>()
    }
}

/// The start of a text, or of the JSON of another scalar. Lists and objects are not shown, only their kind.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => excerpt(text).into_owned(),
        Value::Array(_) => "[..]".to_owned(),
        Value::Object(_) => "{..}".to_owned(),
        other => excerpt(&other.to_string()).into_owned(),
    }
}

/// The paths of all fields; lists have the position 0.
#[cfg(test)]
pub(super) fn input_paths() -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let mut open = vec![(Vec::new(), CONSIGNMENT)];
    while let Some((path, of)) = open.pop() {
        let below = |name: &str| [path.as_slice(), &[name.to_owned()]].concat();
        if let Some(item) = list_of(of) {
            open.push((below("0"), item));
        } else if let Some(fields) = FIELDS.get(of) {
            open.extend(fields.iter().map(|(name, field)| (below(name), *field)));
        }
        if !path.is_empty() {
            paths.push(path);
        }
    }
    paths
}
