//! A lenient way in from JSON: what has the wrong kind is told with its path, the rest is read.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::excerpt::excerpt;
use super::{Context, Finding, QuestionRules, Report, Rule, forms, validate_fields};
use crate::model::{
    AddressInput, AnswerInput, ConsignmentInput, ConsignmentStatus, DeclarationInput, FormType,
    Maybe, PartyInput,
};

/// A consignment as far as it could be read, and what could not.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Draft {
    /// What could be read; what could not is absent.
    pub input: ConsignmentInput,
    /// A finding for each value that does not fit, with its path.
    pub findings: Vec<Finding>,
}

impl Draft {
    /// Reads a consignment from the JSON of `CreateOrSaveConsignmentInput`. It never fails.
    ///
    /// A value of the wrong kind, such as a number where a text is expected, is what the server's schema cannot take
    /// (spec 7.2): a finding tells where it is, and the rest is read. The same goes for a field that the schema does not
    /// have. assumed: the messages, after those of unknown forms.
    ///
    /// ```
    /// use envd_sdk::validate::Draft;
    /// use serde_json::json;
    ///
    /// let draft = Draft::read(&json!({"forms": ["LPAC1"], "origin": {"pic": 7}, "destination": {"pic": "QDZZ3333"}}));
    /// assert_eq!(draft.findings[0].path, ["origin", "pic"]);
    /// assert_eq!(draft.input.destination.pic.value().unwrap(), "QDZZ3333");
    /// ```
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let mut reader = Reader {
            path: Vec::new(),
            findings: Vec::new(),
        };
        let input = reader
            .object(value, "CreateOrSaveConsignmentInput", Reader::consignment)
            .unwrap_or_default();
        Self {
            input,
            findings: reader.findings,
        }
    }

    /// The report of what the server's schema cannot take, unknown forms and states included; `None` when it takes all.
    pub(super) fn refused(&self) -> Option<Report> {
        if self.findings.is_empty() {
            return None;
        }
        let mut report = Report::new(QuestionRules::NoQuestionsLoaded);
        let findings = self.findings.iter().cloned();
        report.findings.extend(findings.map(Arc::new));
        forms::of_schema(&self.input, &mut report.findings);
        Some(report)
    }
}

/// As [`validate_fields`](super::validate_fields), for JSON that may not even have the shape of a consignment.
#[must_use]
pub fn validate_fields_json(input: &Value, context: &Context) -> Report {
    let draft = Draft::read(input);
    let refused = draft.refused();
    refused.unwrap_or_else(|| validate_fields(&draft.input, context))
}

/// Where the reader is, and what it found.
struct Reader {
    path: Vec<String>,
    findings: Vec<Finding>,
}

impl Reader {
    fn consignment(&mut self, fields: &Map<String, Value>) -> ConsignmentInput {
        const KNOWN: [&str; 12] = [
            "id",
            "number",
            "forms",
            "origin",
            "destination",
            "owner",
            "consignee",
            "declaration",
            "movementDate",
            "movementTime",
            "status",
            "answers",
        ];
        let input = ConsignmentInput {
            id: self.text(fields, "id"),
            number: self.text(fields, "number"),
            forms: self.forms(fields),
            origin: self.party(fields, "origin").into_value(),
            destination: self.party(fields, "destination").into_value(),
            owner: self.party(fields, "owner"),
            consignee: self.party(fields, "consignee"),
            declaration: self.field(fields, "declaration", |reader, value| {
                reader.object(value, "DeclarationInput", Self::declaration)
            }),
            movement_date: self.text(fields, "movementDate"),
            movement_time: self.text(fields, "movementTime"),
            status: self.field(fields, "status", |reader, value| {
                reader.scalar::<ConsignmentStatus>(value, "ConsignmentStatus")
            }),
            answers: self.field(fields, "answers", |reader, value| {
                Some(reader.list(value, |reader, value| {
                    reader.object(value, "AnswerInput", Self::answer)
                }))
            }),
        };
        self.unknown(fields, &KNOWN, "CreateOrSaveConsignmentInput");
        input
    }

    fn forms(&mut self, fields: &Map<String, Value>) -> Vec<FormType> {
        let forms = self.field(fields, "forms", |reader, value| {
            Some(reader.list(value, |reader, value| reader.scalar(value, "EFormType")))
        });
        forms.into_value()
    }

    fn party(&mut self, fields: &Map<String, Value>, name: &str) -> Maybe<PartyInput> {
        self.field(fields, name, |reader, value| {
            reader.object(value, "PartyInput", |reader, fields| {
                let party = PartyInput {
                    name: reader.text(fields, "name"),
                    pic: reader.text(fields, "pic"),
                    address: reader.address(fields),
                };
                reader.unknown(fields, &["name", "pic", "address"], "PartyInput");
                party
            })
        })
    }

    fn address(&mut self, fields: &Map<String, Value>) -> Maybe<AddressInput> {
        self.field(fields, "address", |reader, value| {
            reader.object(value, "AddressInput", |reader, fields| {
                let address = AddressInput {
                    line1: reader.text(fields, "line1"),
                    town: reader.text(fields, "town"),
                    state: reader.text(fields, "state"),
                    postcode: reader.text(fields, "postcode"),
                };
                let known = ["line1", "town", "state", "postcode"];
                reader.unknown(fields, &known, "AddressInput");
                address
            })
        })
    }

    fn declaration(&mut self, fields: &Map<String, Value>) -> DeclarationInput {
        const KNOWN: [&str; 8] = [
            "accept",
            "fullName",
            "phone",
            "email",
            "date",
            "signature",
            "certificateNumber",
            "address",
        ];
        let declaration = DeclarationInput {
            accept: self.field(fields, "accept", |reader, value| {
                reader.scalar(value, "Boolean")
            }),
            full_name: self.text(fields, "fullName"),
            phone: self.text(fields, "phone"),
            email: self.text(fields, "email"),
            date: self.text(fields, "date"),
            signature: self.text(fields, "signature"),
            certificate_number: self.text(fields, "certificateNumber"),
            address: self.address(fields),
        };
        self.unknown(fields, &KNOWN, "DeclarationInput");
        declaration
    }

    fn answer(&mut self, fields: &Map<String, Value>) -> AnswerInput {
        let answer = AnswerInput {
            question_id: self.text(fields, "questionId"),
            index: self.field(fields, "index", |reader, value| reader.scalar(value, "Int")),
            value: self.text(fields, "value"),
        };
        self.unknown(fields, &["questionId", "index", "value"], "AnswerInput");
        answer
    }

    fn text<T: From<String>>(&mut self, fields: &Map<String, Value>, name: &str) -> Maybe<T> {
        self.field(fields, name, |reader, value| {
            reader.scalar::<String>(value, "String").map(T::from)
        })
    }

    /// Reads a field that may be absent or null.
    fn field<T>(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
        read: impl FnOnce(&mut Self, &Value) -> Option<T>,
    ) -> Maybe<T> {
        match fields.get(name) {
            None => Maybe::Absent,
            Some(Value::Null) => Maybe::Null,
            Some(value) => self
                .inside(name.to_owned(), |reader| read(reader, value))
                .into(),
        }
    }

    /// Reads a list. A single value stands for a list of one, as GraphQL has it; null has no place in it.
    fn list<T>(&mut self, value: &Value, read: impl Fn(&mut Self, &Value) -> Option<T>) -> Vec<T> {
        let Value::Array(items) = value else {
            return read(self, value).into_iter().collect();
        };
        let mut list = Vec::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            self.inside(position.to_string(), |reader| {
                if item.is_null() {
                    reader.complain("Received a null input for a non-null variable.");
                } else {
                    list.extend(read(reader, item));
                }
            });
        }
        list
    }

    fn object<T>(
        &mut self,
        value: &Value,
        name: &str,
        read: impl FnOnce(&mut Self, &Map<String, Value>) -> T,
    ) -> Option<T> {
        if let Value::Object(fields) = value {
            return Some(read(self, fields));
        }
        self.complain(&format!(
            "Unable to parse input as a '{name}' type. Did you provide a List or Scalar value accidentally?"
        ));
        None
    }

    fn scalar<T: DeserializeOwned>(&mut self, value: &Value, name: &str) -> Option<T> {
        // A number is no text, although ids are read from both; 1.0 is no row.
        let read = T::deserialize(value).ok();
        if read.is_none() {
            self.complain(&format!("Unable to convert '{}' to '{name}'", shown(value)));
        }
        read
    }

    /// Fields that the schema does not have.
    fn unknown(&mut self, fields: &Map<String, Value>, known: &[&str], name: &str) {
        for field in fields
            .keys()
            .filter(|field| !known.contains(&field.as_str()))
        {
            self.inside(field.clone(), |reader| {
                let at = reader.variable(reader.path.len() - 1);
                let field = excerpt(field);
                let what = format!("Unrecognized input fields '{field}' for type '{name}'.");
                reader.note(&at, &what);
            });
        }
    }

    fn inside<T>(&mut self, name: String, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name);
        let read = read(self);
        self.path.pop();
        read
    }

    fn complain(&mut self, what: &str) {
        let at = self.variable(self.path.len());
        self.note(&at, what);
    }

    fn note(&mut self, at: &str, what: &str) {
        let message = format!("Variable '{at}' is invalid. {what}");
        let finding = Finding::schema(Rule::WireType, self.path.clone(), message);
        self.findings.push(finding);
    }

    /// The place as the server names it.
    fn variable(&self, depth: usize) -> String {
        let mut at = "$input".to_owned();
        for name in &self.path[..depth] {
            if name.bytes().all(|b| b.is_ascii_digit()) {
                at.push('[');
                at.push_str(name);
                at.push(']');
            } else {
                at.push('.');
                at.push_str(name);
            }
        }
        at
    }
}

/// The beginning of a text as it is, of anything else as JSON; lists and objects only by their kind.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => excerpt(text).into_owned(),
        Value::Array(_) => "[..]".to_owned(),
        Value::Object(_) => "{..}".to_owned(),
        other => excerpt(&other.to_string()).into_owned(),
    }
}
