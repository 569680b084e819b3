//! Builds rows and reads from the words of test tables.

use serde_json::{Value, json};

use super::super::apply::{Moment, RowEvent, apply};
use super::super::compare::{Base, ServiceFields, ServiceRecord};
use super::super::decide::{Circumstances, Observation, ObservedRecord};
use super::super::row::{
    Agreed, ChangeRequest, Desired, Doubt, Due, Limit, Listing, Owner, Question, ReadFailures,
    Reason, Row, RowState, Sent, Text, Unanswered, UnresolvedCreates,
};

pub(crate) const NOW: u64 = 1_000_000;

/// The lines of a table, split into columns.
pub(crate) fn lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// A draft on the service.
pub(crate) fn base() -> Value {
    json!({
        "forms": ["LPAC1"], "movementDate": "2027-06-01", "movementTime": "05:15", "status": "DRAFT",
        "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"},
    })
}

pub(crate) fn text(time: &str) -> Value {
    let mut text = base();
    text.as_object_mut().unwrap().remove("status");
    text["movementTime"] = json!(time);
    text
}

pub(crate) fn signed(time: &str) -> Value {
    let mut text = text(time);
    text["declaration"] = json!({"signature": "c2ln"});
    text
}

pub(crate) fn record(id: &str, fields: Value) -> ServiceRecord {
    ServiceRecord {
        id: id.to_owned(),
        updated_at: "5".to_owned(),
        created_by: Some("sam".to_owned()),
        fields,
    }
}

pub(crate) fn listing(number: u64) -> Listing {
    Listing {
        number,
        begun: NOW,
        last: 10,
        latest: "4".to_owned(),
        ..Listing::default()
    }
}

pub(crate) fn service() -> ServiceFields {
    let mut service = ServiceFields::default();
    service.learn_author(&record("c0", base()));
    service
}

/// Three tries, the first of them `ago` seconds ago.
fn unanswered(ago: u64) -> Unanswered {
    Unanswered {
        since: NOW - ago,
        tries: 3,
    }
}

/// Builds a row from words for the intent, the known state and the row state.
#[expect(clippy::too_many_lines, reason = "a list of words")]
pub(crate) fn row(words: &str) -> Row {
    let has = |word: &str| words.split(' ').any(|one| one == word);
    let number = |name: &str| {
        let mut words = words
            .split(' ')
            .filter_map(|one| one.strip_prefix(name)?.strip_prefix('='));
        words.next().map(|number| number.parse::<u64>().unwrap())
    };
    let text_of = if has("signed") { signed } else { text };
    let mut given = text_of("09:00");
    for (word, name, value) in [
        ("passed", "movementDate", json!("2024-01-05T00:00:00")),
        ("unreadable", "movementDate", json!("soon")),
        ("retired", "forms", json!(["LPAG2"])),
        ("nobody", "origin", Value::Null),
    ] {
        if has(word) {
            given[name] = value;
        }
    }
    if has("same") {
        given = text("05:15");
    }
    if has("no-day") {
        given.as_object_mut().unwrap().remove("movementDate");
    }
    let given = Text::new(&given);
    let desired = if has("delete") {
        Desired::Delete
    } else if has("submit") {
        Desired::Submit(given.clone())
    } else if has("withdraw") {
        Desired::Withdraw(given.clone())
    } else {
        Desired::Save(given.clone())
    };
    let seen = record("c1", base());
    let is_named = has("record");
    let known = Listing {
        number: 1,
        last: 10,
        ..Listing::default()
    };
    let mut row = Row::new(1, is_named.then(|| seen.id.clone()), known, 1);
    row.desired = desired;
    row.base = seen.base().filter(|_| is_named);
    if has("done") {
        row.base = Some(Base::shown(&given.value()).laid(&json!({"status": "DRAFT"})));
    }
    row.seen_at = has("blind").then(|| "5".to_owned());
    if has("blind") {
        row.base = None;
    }
    if has("first") || has("first-submit") {
        let first = Text::new(&signed("07:00"));
        row.first = Some(if has("first-submit") {
            Desired::Submit(first)
        } else {
            Desired::Save(first)
        });
    }
    let mut submitted = base();
    submitted["status"] = json!("SUBMITTED");
    if has("submitted") {
        row.base = Some(Base::shown(&submitted));
    }
    if has("done-submit") {
        let status = json!({"status": "SUBMITTED"});
        row.base = Some(Base::shown(&given.value()).laid(&status));
    }
    if has("passed-base") {
        let mut passed = base();
        passed["movementDate"] = json!("2024-01-05");
        row.base = Some(Base::shown(&passed));
    }
    let late = "2024-01-05T00:00:00 soon LPAG2 999999";
    row.agreed = Agreed {
        late: late
            .split(' ')
            .filter(|_| has("agreed-late"))
            .map(str::to_owned)
            .collect(),
        not_draft: has("agreed-door").then(|| submitted.clone()),
        not: has("not").then(|| "c2".to_owned()).into_iter().collect(),
        gone: has("agreed-gone"),
        edited: std::collections::BTreeSet::new(),
    };
    row.not_after = has("expired").then(|| Limit {
        at: NOW - 1,
        given: "2026-11-20T18:00:00+10:00".to_owned(),
    });
    if has("of-pat") {
        row.writers.insert("pat".to_owned());
    }
    row.adopt = has("adopt").then(|| "c2".to_owned());
    let next_at = has("ahead").then(|| Due::after(NOW, 60));
    row.state = RowState::Open { next_at };
    if let Some(waited) = number("unclear") {
        row.read_failures = Some(ReadFailures {
            reason: "500".to_owned(),
            wait: 60,
            unanswered: unanswered(waited),
        });
    }
    if has("doubt") || has("sending") {
        let other = || {
            let other = Text::new(&text("08:00"));
            if is_named {
                ChangeRequest::Update("c1".to_owned(), other)
            } else {
                ChangeRequest::Create(other)
            }
        };
        let request = has("sent-other").then(other).or(row.next_request());
        let sent = Sent {
            request: request.unwrap_or(ChangeRequest::Create(given.clone())),
            before: is_named.then_some(seen),
            listed: listing(2),
        };
        if has("doubt") {
            row.doubt = Doubt {
                sends: 1 + u32::try_from(number("resends").unwrap_or(0)).unwrap(),
                searches: u32::try_from(number("looks").unwrap_or(0)).unwrap(),
                wait: 60,
                unanswered: unanswered(number("waited").unwrap_or(0)),
            };
            row.lost = (!is_named).then(|| UnresolvedCreates {
                texts: vec![given.clone()],
                listed: listing(2),
                left: 1,
                watched_until: None,
            });
            if let Some(lost) = row.lost.as_mut().filter(|_| has("sent-before")) {
                lost.texts = vec![Text::new(&text("08:00"))];
                lost.listed.last = 11;
            }
            if let Some(lost) = row.lost.as_mut().filter(|_| has("known-gap")) {
                lost.listed.gaps.insert("after c1".to_owned());
            }
            row.sent = is_named.then_some(sent);
        } else {
            row.doubt.sends = u32::from(has("resent"));
            row.sent = Some(sent);
            row.state = RowState::Sending;
        }
        row.listed = 2;
    }
    let mut changed = base();
    changed["movementTime"] = json!("04:00");
    let late = "2024-01-05T00:00:00".to_owned();
    let questions = [
        ("changed", Question::Changed(record("c1", changed))),
        ("not-a-draft", Question::NotADraft(record("c1", submitted))),
        ("gone", Question::Gone),
        ("candidates", Question::Candidates(vec!["c2".to_owned()])),
        ("too-late", Question::Late(Reason::MovementPassed, late)),
        ("no-answer", Question::ServiceUnresponsive),
        ("not-adopted", Question::NotAdopted("c2".to_owned())),
        (
            "not-after",
            Question::Late(Reason::NotAfterPassed, "999999".to_owned()),
        ),
        (
            "unreadable",
            Question::Late(Reason::MovementUnreadable, "soon".to_owned()),
        ),
        (
            "retired",
            Question::Late(Reason::FormRetired, "LPAG2".to_owned()),
        ),
        ("other-record", Question::OtherRecord("c2".to_owned())),
        ("another-user", Question::AnotherUser("pat".to_owned())),
    ];
    let asked =
        questions.map(|(word, question)| (format!("asked:{word}"), RowState::Asked(question)));
    let over = [
        ("refused", RowState::Refused),
        ("confirmed", RowState::Confirmed),
        ("discarded", RowState::Discarded),
    ];
    let over = over.map(|(word, state)| (word.to_owned(), state));
    if let Some((_, state)) = asked.into_iter().chain(over).find(|(word, _)| has(word)) {
        row.state = state;
    }
    row
}

/// Builds a read from a word.
pub(crate) fn read(word: &str, row: &Row) -> Option<Observation> {
    let read = match word {
        "-" => return None,
        "unclear" => Observation::Failed("500".to_owned()),
        "gone" => Observation::Record(None),
        _ => match read_record(word, row) {
            Some(seen) => Observation::Record(Some(seen)),
            None => read_list(word, row),
        },
    };
    Some(read)
}

fn seen(id: &str, fields: Value) -> ObservedRecord {
    ObservedRecord {
        record: record(id, fields),
        sequence: Some(11),
        owner: None,
    }
}

/// A record that was read by its id; `None`: the word describes a list.
fn read_record(word: &str, row: &Row) -> Option<ObservedRecord> {
    let mut seen = seen("c1", base());
    if word == "same-later" {
        "6".clone_into(&mut seen.record.updated_at);
    }
    let fields = &mut seen.record.fields;
    match word {
        "same" | "same-later" => {}
        "deleted" | "submitted" | "locked" => fields["status"] = json!(word.to_uppercase()),
        "other" => fields["movementTime"] = json!("04:00"),
        "submitted-other" => {
            fields["status"] = json!("SUBMITTED");
            fields["movementTime"] = json!("04:00");
        }
        "wanted" | "wanted+" => {
            *fields = row.desired.text().map_or_else(base, Text::value);
            let is_submitted = matches!(row.desired, Desired::Submit(_));
            fields["status"] = json!(if is_submitted { "SUBMITTED" } else { "DRAFT" });
            if word.ends_with('+') {
                fields["consignee"] = json!({"name": "Pat"});
            }
        }
        "taken" => {
            seen = load_of(row);
            seen.owner = Some(Owner::Namer);
        }
        _ => return None,
    }
    Some(seen)
}

/// The record that a creation of this row makes.
fn load_of(row: &Row) -> ObservedRecord {
    let mut load = row
        .desired
        .text()
        .map_or_else(|| text("09:00"), Text::value);
    load["status"] = json!("DRAFT");
    seen("c2", load)
}

/// A list that started now, with the records that the word describes.
fn read_list(word: &str, row: &Row) -> Observation {
    let mut listing = listing(3);
    let mut ours = load_of(row);
    let mut other = ours.clone();
    other.record.id = "c3".to_owned();
    let mut others = Vec::new();
    let record = &mut ours.record;
    match word {
        "ours" | "ours-before" => {}
        "none" => return Observation::Listed(listing, others),
        "gap" => {
            listing.gaps.insert("after c1".to_owned());
            return Observation::Listed(listing, others);
        }
        "ours-and-gap" => drop(listing.gaps.insert("after c1".to_owned())),
        "stale" | "old" | "ahead" => {
            match word {
                "stale" => listing.number = row.listed,
                "old" => listing.begun = NOW - 61,
                _ => listing.begun = NOW + 1,
            }
            return Observation::Listed(listing, others);
        }
        "two" => others.push(other),
        "ours-and-part" => {
            other.record.fields["movementTime"] = json!("04:00");
            others.push(other);
        }
        "ours+" => record.fields["consignee"] = json!({"name": "Pat"}),
        "ours-submitted" => record.fields["status"] = json!("SUBMITTED"),
        "part" | "part-before" => record.fields["movementTime"] = json!("04:00"),
        "unrelated" => record.fields["movementDate"] = json!("2027-07-01"),
        "another" => record.created_by = Some("pat".to_owned()),
        "older" => record.updated_at = "4".to_owned(),
        "known" => ours.sequence = Some(10),
        "of-maker" => ours.owner = Some(Owner::Maker),
        "of-namer" => ours.owner = Some(Owner::Namer),
        word => panic!("{word}"),
    }
    others.insert(0, ours);
    Observation::Listed(listing, others)
}

pub(crate) fn with_circumstances<T>(
    open: &[&Row],
    then: impl FnOnce(&Circumstances<'_>) -> T,
) -> T {
    then(&Circumstances {
        now: NOW,
        today: "2026-11-20",
        service: &service(),
        open,
        user: Some("sam"),
    })
}

pub(crate) fn applied(row: &mut Row, event: &RowEvent) -> Result<(), super::super::apply::Unfit> {
    let moment = Moment {
        now: NOW,
        listed: &listing(4),
        begun: 5,
        reconcile_after: 60,
        service: &service(),
        user: (!row.writers.is_empty()).then_some("sam"),
    };
    apply(row, event, &moment)
}
