//! Compares records field by field. No other module looks at single fields.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The names on the way from a record to one of its fields. An answer has its question and row: `["answers", "3", "0"]`.
pub(crate) type Path = Vec<String>;

type Fields = BTreeMap<Path, Value>;

/// Whether a sent text and a read text are two forms of the same value.
pub(crate) type SameText = fn(&str, &str) -> bool;

/// A record as the service shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServiceRecord {
    pub(crate) id: String,
    pub(crate) updated_at: String,
    pub(crate) created_by: Option<String>,
    /// The fields in the shape of an input, with the status.
    pub(crate) fields: Value,
}

impl ServiceRecord {
    pub(crate) fn status(&self) -> Option<&str> {
        self.fields["status"].as_str()
    }

    pub(crate) fn is_draft(&self) -> bool {
        self.status().is_none_or(|status| status == "DRAFT")
    }

    /// The last change that the user saw, if known.
    pub(crate) fn seen_at(&self) -> Option<String> {
        Some(self.updated_at.clone()).filter(|at| !at.is_empty())
    }

    /// The record as the user saw it; `None`: the local copy has only the time of its last change.
    pub(crate) fn base(&self) -> Option<Base> {
        (!self.fields.is_null()).then(|| Base::shown(&self.fields))
    }
}

/// How the value of an expected field is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Evidence {
    /// The service showed this value, so any other form of it is a change.
    Shown,
    /// The value was sent. The service may show it in another form.
    Sent,
    /// The parent was sent without this field, so the service may have kept or dropped the value.
    Covered,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ExpectedRecord {
    value: Value,
    evidence: Evidence,
}

/// The fields that a record is expected to have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    from = "Vec<(Path, ExpectedRecord)>",
    into = "Vec<(Path, ExpectedRecord)>"
)]
pub(crate) struct Base(BTreeMap<Path, ExpectedRecord>);

impl From<Vec<(Path, ExpectedRecord)>> for Base {
    fn from(fields: Vec<(Path, ExpectedRecord)>) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl From<Base> for Vec<(Path, ExpectedRecord)> {
    fn from(base: Base) -> Self {
        base.0.into_iter().collect()
    }
}

impl Base {
    /// Expects exactly the record that the service showed.
    pub(crate) fn shown(record: &Value) -> Self {
        let shown = |(path, value)| {
            let evidence = Evidence::Shown;
            (path, ExpectedRecord { value, evidence })
        };
        Self(fields(record).into_iter().map(shown).collect())
    }

    /// Expects the same record after `sent` was saved over it.
    pub(crate) fn laid(mut self, sent: &Value) -> Self {
        let mut sent = fields(sent);
        // A value that is sent exactly as the service showed it stays `Shown`.
        let is_shown = |path: &Path, value: &Value| {
            let field = self.0.get(path);
            let shown = field.filter(|field| field.evidence == Evidence::Shown);
            shown.is_some_and(|field| is_equal(&field.value, value))
        };
        let kept: BTreeSet<Path> = (sent.iter())
            .filter(|(path, value)| is_shown(path, value))
            .map(|(path, _)| path.clone())
            .collect();
        for (path, field) in &mut self.0 {
            let cleared = (1..path.len()).any(|depth| sent.contains_key(&path[..depth]));
            if cleared {
                (field.value, field.evidence) = (Value::Null, Evidence::Sent);
            } else if path.len() > 1
                && !kept.contains(path)
                && sent.keys().any(|sent| sent[0] == path[0])
            {
                field.evidence = Evidence::Covered;
            }
        }
        sent.retain(|path, _| !kept.contains(path));
        let evidence = Evidence::Sent;
        let sent = sent
            .into_iter()
            .map(|(path, value)| (path, ExpectedRecord { value, evidence }));
        self.0.extend(sent);
        self
    }

    /// The expected value of a top-level field.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        let field = self.0.get([name.to_owned()].as_slice())?;
        Some(&field.value)
    }

    pub(crate) fn status(&self) -> Option<&str> {
        self.field("status")?.as_str()
    }

    /// Takes over the forms in which the service showed the sent values, and the fields that it fills in. Other fields of `shown` stay
    /// unexpected, because another user may have written them meanwhile.
    pub(crate) fn settled(mut self, shown: &Value, service: &ServiceFields) -> Self {
        let read = fields(shown);
        for (path, field) in &mut self.0 {
            let value = read.get(path).unwrap_or(&Value::Null);
            let is_settled = match field.evidence {
                Evidence::Shown => false,
                Evidence::Sent => !is_empty(value) && service.is_same(&field.value, value),
                Evidence::Covered => {
                    !is_empty(&shown[&path[0]])
                        && (is_empty(value) || is_equal(&field.value, value))
                }
            };
            if is_settled {
                (field.value, field.evidence) = (value.clone(), Evidence::Shown);
            }
        }
        let evidence = Evidence::Shown;
        let filled = read.into_iter().filter(|(path, _)| service.fills(path));
        for (path, value) in filled {
            self.0
                .entry(path)
                .or_insert(ExpectedRecord { value, evidence });
        }
        self
    }

    fn value(&self, path: &[String]) -> &Value {
        self.0.get(path).map_or(&Value::Null, |field| &field.value)
    }

    /// The fields in which a record is not as expected.
    fn differing(&self, read: &Fields, service: &ServiceFields) -> Vec<Path> {
        let paths: BTreeSet<&Path> = self.0.keys().chain(read.keys()).collect();
        let differs = |path: &&Path| {
            let read = read.get(*path).unwrap_or(&Value::Null);
            let Some(ExpectedRecord { value, evidence }) = self.0.get(*path) else {
                return !is_empty(read) && !service.fills(path);
            };
            !match evidence {
                Evidence::Shown => is_equal(value, read) || is_empty(value) && service.fills(path),
                Evidence::Sent => service.is_same(value, read),
                Evidence::Covered => is_equal(value, read) || is_empty(read),
            }
        };
        let is_shown = |path: &&Path| (service.shows)(&path[0]);
        let differing = paths.into_iter().filter(differs).filter(is_shown);
        differing.cloned().collect()
    }

    /// The fields that a save changes, with their new values.
    fn changes<'a>(&self, laid: &'a Self, service: &ServiceFields) -> Vec<(&'a Path, &'a Value)> {
        let changed = laid.0.iter().filter(|(path, field)| {
            field.evidence == Evidence::Sent
                && !service.is_same(&field.value, self.value(path))
                && (service.shows)(&path[0])
        });
        changed.map(|(path, field)| (path, &field.value)).collect()
    }

    /// Whether a save of `sent` would change nothing.
    pub(crate) fn has(&self, sent: &Value, service: &ServiceFields) -> bool {
        self.changes(&self.clone().laid(sent), service).is_empty()
    }
}

/// How the service treats fields: which ones it fills in, and in which forms it returns the sent values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ServiceFields {
    /// Fields that the service fills in when they are not sent, from the profile. They are never inferred from records that were read,
    /// because another user may have written those.
    // profile: filledIn
    #[serde(skip)]
    filled: BTreeSet<Path>,
    /// The values of `createdBy` in records that we created.
    me: BTreeSet<String>,
    #[serde(skip, default = "same_text")]
    same: SameText,
    /// Whether reads return a field of this name.
    #[serde(skip, default = "shows_all")]
    shows: fn(&str) -> bool,
}

impl Default for ServiceFields {
    fn default() -> Self {
        Self::named([], same_text())
    }
}

fn same_text() -> SameText {
    |one, other| one == other
}

fn shows_all() -> fn(&str) -> bool {
    |_| true
}

impl ServiceFields {
    /// The greatest number of author names that are kept.
    const AUTHORS: usize = 16;

    /// With the fields that the service fills in according to the profile.
    pub(crate) fn named(filled: impl IntoIterator<Item = Path>, same: SameText) -> Self {
        Self {
            filled: filled.into_iter().collect(),
            me: BTreeSet::new(),
            same,
            shows: shows_all(),
        }
    }

    /// Restricts the comparison to the fields that reads return. Other fields may be sent, but cannot be compared.
    pub(crate) fn showing(self, shows: fn(&str) -> bool) -> Self {
        Self { shows, ..self }
    }

    /// With the author names that `other` knows as well.
    pub(crate) fn with_authors_of(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.me.extend(other.me.iter().cloned());
        all
    }

    /// Learns our author name from a record that we created.
    pub(crate) fn learn_author(&mut self, ours: &ServiceRecord) {
        if self.me.len() < Self::AUTHORS {
            self.me.extend(ours.created_by.clone());
        }
    }

    fn fills(&self, path: &[String]) -> bool {
        self.filled.contains(path)
    }

    fn is_another(&self, record: &ServiceRecord) -> bool {
        let author = record.created_by.as_ref();
        author.is_some_and(|author| !self.me.is_empty() && !self.me.contains(author))
    }

    /// Whether a sent value and a read value mean the same.
    fn is_same(&self, sent: &Value, read: &Value) -> bool {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        agree(sent, read, &|sent, read| {
            let texts = text(sent).zip(text(read));
            is_blank(sent) && is_blank(read)
                || texts.is_some_and(|(sent, read)| sent == read || (self.same)(&sent, &read))
        })
    }
}

/// How a record compares with the expected record and with the text that was saved over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The record is as expected.
    Same,
    /// Everything that was sent has arrived. These other fields differ.
    Ours(Vec<Path>),
    /// Another user has changed these fields.
    Theirs(Vec<Path>),
}

pub(crate) fn compare(
    base: &Base,
    sent: Option<&Value>,
    read: &Value,
    service: &ServiceFields,
) -> Compared {
    let read = fields(read);
    let theirs = base.differing(&read, service);
    if theirs.is_empty() {
        return Compared::Same;
    }
    let Some(sent) = sent else {
        return Compared::Theirs(theirs);
    };
    let laid = base.clone().laid(sent);
    let changes = base.changes(&laid, service);
    let has_arrived = |(path, value): &(&Path, &Value)| {
        service.is_same(value, read.get(*path).unwrap_or(&Value::Null))
    };
    if !changes.is_empty() && changes.iter().all(has_arrived) {
        Compared::Ours(laid.differing(&read, service))
    } else {
        Compared::Theirs(theirs)
    }
}

/// Who changed a field since it was edited here.
///
/// Part of a [`FieldDifference`]. See [`Conflict`](super::Conflict) for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangedBy {
    /// Only the user here.
    Mine,
    /// Only another user, on the service.
    Theirs,
    /// Both, to different values.
    Both,
}

/// A field that differs between the versions of a [`Conflict`](super::Conflict), whose page has an example. `Debug` hides its values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FieldDifference {
    /// Its path, such as `origin.pic`, `answers.17` or, for an answer of a row, `answers.3[0]`.
    pub path: String,
    /// The value that the user edited; null: not there.
    pub base: Value,
    /// The value that the user wants.
    pub mine: Value,
    /// The value that the service has.
    pub theirs: Value,
    /// Who changed it.
    pub changed_by: ChangedBy,
}

/// The fields that the user changes with `sent`, and those that another user has changed, by path. Without a base, only the user's own
/// changes are known.
pub(crate) fn differences(
    base: Option<&Base>,
    sent: Option<&Value>,
    read: &Value,
) -> Vec<FieldDifference> {
    let service = ServiceFields::default();
    let known = base.cloned().unwrap_or_else(|| Base::shown(read));
    let laid = sent.map_or_else(|| known.clone(), |sent| known.clone().laid(sent));
    let read = fields(read);
    let changes = known.changes(&laid, &service);
    let mine: BTreeSet<&Path> = changes.into_iter().map(|(path, _)| path).collect();
    let theirs: BTreeSet<Path> = known.differing(&read, &service).into_iter().collect();
    let paths: BTreeSet<&Path> = mine.iter().copied().chain(&theirs).collect();
    let of = |path: &Path| {
        let there = read.get(path).unwrap_or(&Value::Null);
        let changed_by = match (mine.contains(path), theirs.contains(path)) {
            (true, true) if service.is_same(laid.value(path), there) => return None,
            (true, true) => ChangedBy::Both,
            (true, false) => ChangedBy::Mine,
            _ => ChangedBy::Theirs,
        };
        let [base, mine, theirs] = [known.value(path), laid.value(path), there].map(alone);
        Some(FieldDifference {
            path: written(path),
            base,
            mine,
            theirs,
            changed_by,
        })
    };
    paths.into_iter().filter_map(of).collect()
}

/// A path in readable form.
fn written(path: &Path) -> String {
    match path.as_slice() {
        [answers, question, row] if answers == "answers" => match row.as_str() {
            "" => format!("answers.{question}"),
            row => format!("answers.{question}[{row}]"),
        },
        path => path.join("."),
    }
}

/// Shows a single answer without its list.
fn alone(value: &Value) -> Value {
    match value.as_array().map(Vec::as_slice) {
        Some([alone]) => alone.clone(),
        _ => value.clone(),
    }
}

/// How a record compares with the text of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// It has everything that was sent, and nothing else.
    Exact,
    /// The same, but it is older than the creation, or not a draft. Only the user can say that it is ours.
    ExactButNotNew,
    /// It has everything that was sent, and more.
    Superset,
    /// It matches, but another user created it.
    OfAnotherUser,
    /// It has the same forms, day and places, and differs elsewhere.
    Partial,
    /// It is another declaration.
    Unrelated,
}

/// The fields that identify a load: two declarations that agree in them are of the same load.
fn load(record: &Value) -> [&Value; 4] {
    let pic = |place: &str| &record[place]["pic"];
    let forms = &record["forms"];
    let day = &record["movementDate"];
    [forms, day, pic("origin"), pic("destination")]
}

/// Whether a record could have been created from this text, as far as a list shows it.
pub(crate) fn may_be_made_of(text: &Value, listed: &Value, service: &ServiceFields) -> bool {
    let mut fields = load(text).into_iter().zip(load(listed));
    fields.all(|(sent, read)| is_blank(sent) || is_blank(read) || service.is_same(sent, read))
}

/// Compares a record with the text of a creation. `latest`: the greatest `updatedAt` in the list before that creation.
pub(crate) fn whose(
    text: &Value,
    latest: &str,
    record: &ServiceRecord,
    service: &ServiceFields,
) -> Match {
    // If only its id is known, the record may be of any load.
    if record.fields.is_null() {
        return Match::Partial;
    }
    let mut read = record.fields.clone();
    if let Some(read) = read.as_object_mut() {
        read.remove("status");
    }
    let mut fields = load(text).into_iter().zip(load(&read));
    let mut is_of_load = || fields.all(|(sent, read)| service.is_same(sent, read));
    let whose = match compare(&Base::default(), Some(text), &read, service) {
        Compared::Ours(beside) if beside.is_empty() => Match::Exact,
        Compared::Ours(_) => Match::Superset,
        _ if is_of_load() => Match::Partial,
        _ => return Match::Unrelated,
    };
    match whose {
        _ if service.is_another(record) => Match::OfAnotherUser,
        Match::Exact if record.updated_at.as_str() <= latest || !record.is_draft() => {
            Match::ExactButNotNew
        }
        whose => whose,
    }
}

/// Merges two edits. Where the later edit changes a field of its `base`, it wins.
pub(crate) fn merge(earlier: &Value, later: &Value, base: &Value) -> Value {
    let earlier = named(earlier);
    let later = named(later);
    let base = named(base);
    by_list(merged(&earlier, &later, &base))
}

fn merged(earlier: &Value, later: &Value, base: &Value) -> Value {
    match (earlier, later) {
        (Value::Object(some), Value::Object(others)) => {
            let names: BTreeSet<&String> = some.keys().chain(others.keys()).collect();
            let field = |name: &String| match (some.get(name), others.get(name)) {
                (Some(earlier), Some(later)) => Some(merged(earlier, later, &base[name])),
                // The later edit removed the field, or did not know it.
                (Some(earlier), None) => (!is_equal(earlier, &base[name])).then(|| earlier.clone()),
                (None, later) => later.cloned(),
            };
            let fields = names
                .into_iter()
                .filter_map(|name| Some((name.clone(), field(name)?)));
            fields.collect::<Map<_, _>>().into()
        }
        _ if is_equal(later, base) => earlier.clone(),
        _ => later.clone(),
    }
}

/// The leaves of a record, without its id and number, which never change.
fn fields(record: &Value) -> Fields {
    let mut fields = Fields::new();
    let mut record = named(record);
    if let Some(record) = record.as_object_mut() {
        record.remove("id");
        record.remove("number");
    }
    collect(&mut fields, &mut Vec::new(), &record);
    fields
}

fn collect(fields: &mut Fields, path: &mut Path, value: &Value) {
    match value {
        Value::Object(parts) => {
            for (name, part) in parts {
                path.push(name.clone());
                collect(fields, path, part);
                path.pop();
            }
        }
        value => {
            fields.insert(path.clone(), value.clone());
        }
    }
}

/// The record with its answers as an object by question and row. Several answers to one question are one field.
fn named(record: &Value) -> Value {
    let mut record = record.clone();
    let Some(answers) = record.get_mut("answers") else {
        return record;
    };
    let Some(list) = answers.as_array().filter(|list| !list.is_empty()) else {
        return record;
    };
    let mut named = Map::new();
    for answer in list {
        let text = |name: &str| match &answer[name] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let rows = named
            .entry(text("questionId"))
            .or_insert_with(|| Map::new().into());
        let field = &mut rows[text("index")];
        match field {
            Value::Array(values) => values.push(answer["value"].clone()),
            Value::Null => *field = Value::Array(vec![answer["value"].clone()]),
            _ => {}
        }
    }
    *answers = named.into();
    record
}

/// Reverses [`named`].
fn by_list(mut record: Value) -> Value {
    let Some(Value::Object(questions)) = record.get("answers") else {
        return record;
    };
    let mut list = Vec::new();
    for (question, rows) in questions {
        for (row, values) in rows.as_object().into_iter().flatten() {
            for value in values.as_array().into_iter().flatten() {
                let index: Value = row.parse::<u64>().map_or(Value::Null, Value::from);
                list.push(
                    serde_json::json!({"questionId": question, "index": index, "value": value}),
                );
            }
        }
    }
    record["answers"] = list.into();
    record
}

fn is_equal(one: &Value, other: &Value) -> bool {
    agree(one, other, &|one, other| is_empty(one) && is_empty(other))
}

/// Whether two values are equal or mean the same. Lists are compared without their order.
fn agree(one: &Value, other: &Value, means_the_same: &dyn Fn(&Value, &Value) -> bool) -> bool {
    let (Value::Array(some), Value::Array(others)) = (one, other) else {
        return one == other || means_the_same(one, other);
    };
    let mut left: Vec<&Value> = others.iter().collect();
    some.len() == others.len()
        && some.iter().all(|one| {
            let at = left
                .iter()
                .position(|other| agree(one, other, means_the_same));
            at.map(|at| left.swap_remove(at)).is_some()
        })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        other => is_empty(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::cases::lines;
    use super::*;

    fn same_text(sent: &str, read: &str) -> bool {
        read.strip_suffix("T00:00:00Z") == Some(sent)
    }

    fn service() -> ServiceFields {
        let filled = ["filled", "name"].map(str::to_owned).to_vec();
        ServiceFields::named([filled], same_text)
    }

    fn json_of(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_record_is_compared_with_its_base_and_the_text_sent() {
        for line in lines(include_str!("compare.txt")) {
            let (base, shown) = line[0].split_once(" = ").unwrap_or((line[0], "null"));
            let (base, over) = base.split_once(" < ").unwrap_or((base, "{}"));
            let base = Base::shown(&json_of(base)).laid(&json_of(over));
            let base = base.settled(&json_of(shown), &service());
            let sent = (line[1] != "-").then(|| json_of(line[1]));
            let compared = compare(&base, sent.as_ref(), &json_of(line[2]), &service());
            let (word, fields) = match compared {
                Compared::Same => ("same", Vec::new()),
                Compared::Ours(beside) => ("ours", beside),
                Compared::Theirs(fields) => ("theirs", fields),
            };
            let fields = fields.iter().map(|path| format!(" {}", path.join("/")));
            assert_eq!(
                format!("{word}{}", fields.collect::<String>()),
                line[3],
                "{line:?}"
            );
        }
    }

    #[test]
    fn two_edits_are_merged_by_field() {
        for line in lines(include_str!("merge.txt")) {
            let [earlier, later, base, merged] = [0, 1, 2, 3].map(|at| json_of(line[at]));
            assert_eq!(merge(&earlier, &later, &base), merged, "{line:?}");
        }
    }

    #[test]
    fn a_record_that_appeared_is_ours_or_like_ours_or_something_else() {
        let sent = json!({
            "forms": ["A"], "movementDate": "2027-06-01", "movementTime": "05:15",
            "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"},
        });
        let mut service = service();
        for line in lines(include_str!("whose.txt")) {
            let mut record = ServiceRecord {
                id: "c1".to_owned(),
                updated_at: line[2].to_owned(),
                created_by: (line[1] != "-").then(|| line[1].to_owned()),
                fields: sent.clone(),
            };
            // Before our author name is known, no record counts as another user's.
            let made = ServiceRecord {
                created_by: Some("sam".to_owned()),
                ..record.clone()
            };
            service.learn_author(&made);
            for (name, field) in json_of(line[0]).as_object().unwrap() {
                record.fields[name] = field.clone();
            }
            let found = whose(&sent, "4", &record, &service);
            assert_eq!(format!("{found:?}"), line[3], "{line:?}");
        }
    }

    #[test]
    fn a_field_that_is_never_read_does_not_differ() {
        let sent = json!({"a": "x", "future": {"b": 1}});
        let read = json!({"a": "x"});
        let service = ServiceFields::default().showing(|name| name != "future");
        let found = compare(&Base::default(), Some(&sent), &read, &service);
        assert_eq!(found, Compared::Ours(Vec::new()));
        let base = Base::default().laid(&sent).settled(&read, &service);
        assert_eq!(compare(&base, None, &read, &service), Compared::Same);
        assert!(base.has(&sent, &service));
    }

    #[test]
    fn a_base_is_stored_unchanged() {
        let base =
            Base::shown(&json!({"a": "x", "b": {"c.d": "y"}})).laid(&json!({"b": {"e": null}}));
        let stored = serde_json::to_string(&base).unwrap();
        assert_eq!(serde_json::from_str::<Base>(&stored).unwrap(), base);
    }
}
