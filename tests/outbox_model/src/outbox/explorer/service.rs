//! A small service for records of one load. They differ in four fields, and each field has its last author.

use std::fmt;

use serde_json::{Value, json};

use crate::outbox::compare::ServiceRecord;
use crate::outbox::row::Text;

/// The number of fields that steps write. All other fields have the same value in every record.
pub(super) const FIELDS: usize = 4;
pub(super) const CONSIGNEE: usize = 0;
pub(super) const SIGNATURE: usize = 1;
pub(super) const TIME: usize = 2;
const DATE: usize = 3;

/// The values of each field, indexed by the numbers in [`Content`]. The first is an empty field.
const VALUES: [&[&str]; FIELDS] = [
    &["", "Ben", "Pat", "Cay"],
    &["", "c2ln"],
    &["", "05:15", "06:30"],
    &["", "2027-06-01", "2027-06-02"],
];

/// The consignee that other users write.
pub(super) const PAT: u8 = 2;

pub(super) const NAMES: [&str; FIELDS] = ["the consignee", "the signature", "the time", "the date"];

/// A text that the user writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Draft {
    /// Unsigned, without a consignee.
    A,
    /// Unsigned, with a consignee.
    B,
    /// Signed, without a consignee.
    S,
    /// Only a consignee, for changes to a record.
    Part,
    /// Like A, but for the next day, which makes it another load.
    Moved,
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "text A",
            Self::B => "text B",
            Self::S => "the signed text S",
            Self::Part => "a consignee alone",
            Self::Moved => "text A for the next day",
        })
    }
}

impl Draft {
    pub(super) fn text(self) -> Text {
        let mut text = match self {
            Self::Part => json!({}),
            _ => load(),
        };
        if self != Self::Part {
            text["movementTime"] = json!("05:15");
            text["movementDate"] = json!("2027-06-01");
        }
        match self {
            Self::A => {}
            Self::Moved => text["movementDate"] = json!("2027-06-02"),
            Self::B => text["consignee"] = json!({"name": "Ben"}),
            Self::S => text["declaration"] = json!({"signature": "c2ln"}),
            Self::Part => text["consignee"] = json!({"name": "Cay"}),
        }
        Text::new(&text)
    }
}

/// The fields that are equal in all records. Each is one string, which is cheap to copy.
fn load() -> Value {
    json!({"forms": "LPAC1", "origin": "QAZZ7777", "destination": "QDZZ3333"})
}

/// The content of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Content {
    pub(super) fields: [u8; FIELDS],
    pub(super) is_submitted: bool,
}

/// The fields of a text or a request; `None` for a field that it does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldValues {
    pub(super) fields: [Option<u8>; FIELDS],
    pub(super) is_submitted: Option<bool>,
}

impl FieldValues {
    pub(super) fn of(value: &Value) -> Self {
        let parts = [
            (&value["consignee"], "name"),
            (&value["declaration"], "signature"),
            (&value["movementTime"], ""),
            (&value["movementDate"], ""),
        ];
        let mut fields = [None; FIELDS];
        let names = ["consignee", "declaration", "movementTime", "movementDate"];
        for (at, (value_of, part)) in parts.into_iter().enumerate() {
            if value.get(names[at]).is_none() {
                continue;
            }
            let text = if part.is_empty() {
                value_of
            } else {
                &value_of[part]
            };
            let text = text.as_str().unwrap_or_default();
            let number = VALUES[at].iter().position(|known| *known == text);
            fields[at] = Some(u8::try_from(number.unwrap()).unwrap());
        }
        Self {
            fields,
            is_submitted: value["status"].as_str().map(|status| status == "SUBMITTED"),
        }
    }

    pub(super) fn of_text(text: &Text) -> Self {
        Self::of(&text.value())
    }

    pub(super) fn is_signed(&self) -> bool {
        self.fields[SIGNATURE].is_some_and(|value| value > 0)
    }

    /// The content of a record after this was saved over it.
    pub(super) fn over(&self, content: Content) -> Content {
        let mut after = content;
        for (field, given) in after.fields.iter_mut().zip(self.fields) {
            *field = given.unwrap_or(*field);
        }
        after.is_submitted = self.is_submitted.unwrap_or(content.is_submitted);
        after
    }

    /// Whether a record is a draft with exactly this text.
    pub(super) fn is_all_of(&self, content: Content) -> bool {
        let mut fields = self.fields.iter().zip(content.fields);
        let is_equal = fields.all(|(given, value)| given.unwrap_or(0) == value);
        is_equal && !content.is_submitted
    }

    /// Whether a record contains this text, with any status.
    pub(super) fn is_in(&self, content: Content) -> bool {
        let mut fields = self.fields.iter().zip(content.fields);
        fields.all(|(given, field)| given.is_none_or(|given| given == field))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Author {
    /// The website, or a colleague in another application.
    Other,
    /// The outbox, by a request for this declaration.
    Us(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) content: Content,
    /// The last author of each field.
    pub(super) authors: [Author; FIELDS],
    pub(super) maker: Author,
    /// The login that created it.
    pub(super) created_by: &'static str,
    pub(super) made_at: u64,
    /// The number of its last change.
    pub(super) updated: u32,
    pub(super) is_deleted: bool,
    /// Its declaration was sent as a new record again after a person had started another declaration for this one.
    pub(super) is_doubled: bool,
}

/// All records, by number; the first is `c1`.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    pub(super) records: Vec<Record>,
    /// The number of changes so far.
    pub(super) changes: u32,
}

pub(super) enum Outcome {
    Saved(usize),
    /// The record does not exist any more.
    Missing,
}

pub(super) fn id(at: usize) -> String {
    format!("c{}", at + 1)
}

/// The number of the record with this id.
pub(super) fn at(id: &str) -> usize {
    id.strip_prefix('c')
        .and_then(|number| number.parse().ok())
        .map_or(usize::MAX, |number: usize| number - 1)
}

impl Service {
    pub(super) fn insert(
        &mut self,
        author: Author,
        created_by: &'static str,
        given: &FieldValues,
        now: u64,
    ) -> usize {
        self.changes += 1;
        let empty = Content {
            fields: [0; FIELDS],
            is_submitted: false,
        };
        self.records.push(Record {
            content: given.over(empty),
            authors: [author; FIELDS],
            maker: author,
            created_by,
            made_at: now,
            updated: self.changes,
            is_deleted: false,
            is_doubled: false,
        });
        self.records.len() - 1
    }

    pub(super) fn save(&mut self, at: usize, author: Author, given: &FieldValues) {
        self.changes += 1;
        let record = &mut self.records[at];
        let after = given.over(record.content);
        for field in 0..FIELDS {
            if after.fields[field] != record.content.fields[field] {
                record.authors[field] = author;
            }
        }
        (record.content, record.updated) = (after, self.changes);
    }

    pub(super) fn delete(&mut self, at: usize) {
        self.changes += 1;
        let record = &mut self.records[at];
        (record.is_deleted, record.updated) = (true, self.changes);
    }

    /// Carries out a request of the outbox: creates, updates or deletes a record.
    pub(super) fn carry_out(
        &mut self,
        declaration: u64,
        user: &'static str,
        record: Option<usize>,
        given: Option<&FieldValues>,
        now: u64,
    ) -> Outcome {
        let author = Author::Us(declaration);
        match (record, given) {
            (None, Some(given)) => Outcome::Saved(self.insert(author, user, given, now)),
            (Some(at), given) if self.is_there(at) => {
                match given {
                    Some(given) => self.save(at, author, given),
                    None => self.delete(at),
                }
                Outcome::Saved(at)
            }
            _ => Outcome::Missing,
        }
    }

    /// The record as reads and lists return it.
    pub(super) fn shown(&self, at: usize) -> ServiceRecord {
        let record = &self.records[at];
        let [consignee, signature, time, date] =
            std::array::from_fn(|field| VALUES[field][record.content.fields[field] as usize]);
        let mut fields = load();
        let status = if record.content.is_submitted {
            "SUBMITTED"
        } else {
            "DRAFT"
        };
        fields["status"] = status.into();
        if !consignee.is_empty() {
            fields["consignee"] = json!({"name": consignee});
        }
        if !signature.is_empty() {
            fields["declaration"] = json!({"signature": signature});
        }
        if !time.is_empty() {
            fields["movementTime"] = time.into();
        }
        if !date.is_empty() {
            fields["movementDate"] = date.into();
        }
        ServiceRecord {
            id: id(at),
            updated_at: updated_at(record.updated),
            created_by: Some(record.created_by.to_owned()),
            fields,
        }
    }

    pub(super) fn is_there(&self, at: usize) -> bool {
        self.records
            .get(at)
            .is_some_and(|record| !record.is_deleted)
    }
}

pub(super) fn updated_at(change: u32) -> String {
    format!("{change:06}")
}

impl Content {
    pub(super) fn has_date(&self) -> bool {
        self.fields[DATE] > 0
    }
}
