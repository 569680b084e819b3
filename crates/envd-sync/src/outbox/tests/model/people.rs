//! Random calls of the user to the outbox, and random changes by others on the website.

use fastrand::Rng;
use serde_json::{Value, json};
use test_support::plain_service::{Author, Habits, Record, Service};
use test_support::schedules::note;

use crate::outbox::apply::{Intent, RowEvent};
use crate::outbox::compare::ServiceRecord;
use crate::outbox::decision::Decision;
use crate::outbox::row::{ChangeRequest, Limit, Row, RowState, Text};

/// A movement date that is not too late.
const DATE: &str = "2027-06-01";

pub(super) fn chance(random: &mut Rng, of_100: u8) -> bool {
    random.u8(..100) < of_100
}

pub(super) fn any<T: Clone>(random: &mut Rng, of: &[T]) -> Option<T> {
    random.choice(of).cloned()
}

/// Random habits of the service.
pub(super) fn habits(random: &mut Rng) -> Habits {
    let mut of_100 = |part| chance(random, part);
    Habits {
        merges: of_100(50),
        ignores_null: of_100(50),
        fills: of_100(50),
        locks: of_100(25),
        locks_website: of_100(25),
        shares_login: of_100(50),
        shows_deleted: of_100(50),
        answers_null: of_100(50),
        lists_newest_first: of_100(50),
        shows_instants: of_100(50),
        replies_briefly: of_100(25),
        hides_author: of_100(25),
    }
}

/// A random text from few variants, so that many are identical.
fn content(random: &mut Rng) -> Value {
    let time = ["05:15", "06:30"][random.usize(..2)];
    let answer = ["Yes", "2021"][random.usize(..2)];
    let date = if chance(random, 3) {
        "2024-01-05T00:00:00"
    } else {
        DATE
    };
    let mut content = json!({
        "forms": ["LPAC1"],
        "origin": {"pic": "QAZZ7777", "name": "Sample Downs"},
        "destination": {"pic": "QDZZ3333"},
        "movementDate": date,
        "movementTime": time,
        "answers": [{"questionId": "17.1", "index": null, "value": answer}],
    });
    if chance(random, 30) {
        content["consignee"] = json!({"name": "Sam"});
    }
    if chance(random, 20) {
        let signature = ["c2ln", "c2FtMg"][random.usize(..2)];
        content["declaration"] = json!({"fullName": "Sam", "signature": signature});
    }
    content
}

/// Changes a field of a text, and may sign it again.
fn change(random: &mut Rng, text: &mut Value) {
    let mut date = DATE;
    let one = random.usize(..3);
    match random.u8(..6) {
        0 => {
            text["movementTime"] = ["05:15", "06:30", "09:00"][one].into();
            date = [DATE, DATE, "2027-06-02"][one];
        }
        1 => text["answers"][0]["value"] = ["Yes", "No", "2021"][one].into(),
        2 => text["consignee"] = json!({"name": "Sam"}),
        3 => text["consignee"] = Value::Null,
        4 => text["origin"]["name"] = ["Sample Downs", "sample downs", "North Downs"][one].into(),
        _ => {
            let signature = ["c2ln", "c2FtMg", ""][one];
            text["declaration"] = json!({"fullName": "Sam", "signature": signature});
        }
    }
    text["movementDate"] = date.into();
}

/// The subject of the user's call.
#[derive(Clone, Debug)]
pub(super) enum About {
    New,
    Row(u64),
    Record(ServiceRecord),
}

/// The user's next call, about the rows that the user knows.
pub(super) fn next_act(
    random: &mut Rng,
    service: &Service,
    rows: &[&Row],
    now: u64,
    shown: impl Fn(&Service, &str) -> ServiceRecord,
) -> Option<(About, RowEvent)> {
    let what = random.u8(..16);
    if what >= 12 {
        let (row, decision) = decision(random, service, rows)?;
        return Some((About::Row(row), RowEvent::Decided(decision)));
    }
    let row = random.choice(rows);
    let there = records(service, |kept| !kept.is_deleted);
    let record = any(random, &there).map(|id| shown(service, &id));
    let mut not_after = None;
    let (about, intent) = match what {
        0..4 => {
            let is_limited = chance(random, 5);
            not_after = is_limited.then(|| now + random.u64(..600)).map(|at| Limit {
                at,
                given: at.to_string(),
            });
            let text = Text::new(&content(random));
            let is_submitted = random.bool();
            (About::New, saved(text, is_submitted))
        }
        4..6 => {
            let text = row?.desired.text().map(Text::value);
            let mut text = text.unwrap_or_else(|| content(random));
            change(random, &mut text);
            (About::Row(row?.id), saved(Text::new(&text), false))
        }
        6 | 7 => {
            let record = record?;
            let mut text = record.fields.clone();
            text.as_object_mut().unwrap().remove("status");
            change(random, &mut text);
            let is_submitted = chance(random, 30);
            (About::Record(record), saved(Text::new(&text), is_submitted))
        }
        8 => (About::Row(row?.id), Intent::Submit(None)),
        9 => (About::Row(row?.id), Intent::Withdraw),
        10 => (About::Row(row?.id), Intent::Delete),
        _ => {
            let mut record = record?;
            // The local copy may have only the time of the last change.
            if random.bool() {
                record.fields = Value::Null;
            }
            (About::Record(record), Intent::Delete)
        }
    };
    let base = match &about {
        About::Record(record) => Some(record.clone()),
        _ => None,
    };
    let event = RowEvent::Requested {
        intent,
        base,
        not_after,
    };
    note(|| format!("the person writes about {about:?}: {event:?}"));
    Some((about, event))
}

fn saved(text: Text, is_submitted: bool) -> Intent {
    if is_submitted {
        Intent::Submit(Some(text))
    } else {
        Intent::Save(text)
    }
}

/// Decides about a row that has a question or is in doubt. The decision need not fit.
fn decision(random: &mut Rng, service: &Service, rows: &[&Row]) -> Option<(u64, Decision)> {
    let is_undecided = |row: &&&Row| match row.state {
        RowState::Asked(_) | RowState::Refused => true,
        RowState::Open { .. } => row.is_in_doubt(),
        _ => false,
    };
    let row = random.choice(rows.iter().filter(is_undecided).collect::<Vec<_>>())?;
    let mut candidates = match &row.state {
        RowState::Asked(question) => question.candidates().to_vec(),
        _ => Vec::new(),
    };
    if chance(random, 10) {
        candidates.extend(random.choice(records(service, |kept| !kept.is_deleted)));
    }
    let adopt = any(random, &candidates).map(|id| Decision::Adopt(id.into()));
    let decision = match random.u8(..100) {
        0..8 => Decision::Discard,
        8..35 => Decision::KeepMine,
        35..48 => Decision::TakeTheirs,
        48..74 => Decision::Resend,
        74..87 => adopt.unwrap_or(Decision::Resend),
        _ => adopt.unwrap_or(Decision::KeepMine),
    };
    note(|| format!("the person decides {decision:?} about {}", row.id));
    Some((row.id, decision))
}

/// The fields of a record, as the service shows them.
pub(super) fn shown_fields(service: &Service, id: &str) -> Value {
    let mut fields = service.records[id].last().value.clone();
    let date = fields["movementDate"].as_str().unwrap_or_default();
    if service.habits.shows_instants && date.len() == 10 {
        fields["movementDate"] = json!(format!("{date}T00:00:00.000Z"));
    }
    fields
}

pub(super) fn records(service: &Service, which: impl Fn(&Record) -> bool) -> Vec<String> {
    let records = service.records.iter().filter(|(_, kept)| which(kept));
    records.map(|(id, _)| id.clone()).collect()
}

/// Another user works on the website, and may use texts that the outbox has sent.
pub(super) fn website(random: &mut Rng, service: &mut Service, sent: &[Value]) {
    let what = random.u8(..20);
    if what < 10 {
        let ids = records(service, |kept| !kept.is_deleted);
        // Others often look at the newest record, even before the reply to its creation arrives.
        let newest = ids.last().filter(|_| random.u8(..3) == 0).cloned();
        let Some(id) = newest.or_else(|| any(random, &ids)) else {
            return;
        };
        note(|| format!("the website changes {id}: {what}"));
        let fields = match what {
            0..8 => edit_of(random, &service.records[&id]),
            8 => json!({"status": "SUBMITTED"}),
            _ => {
                service.delete(&id, Author::Website);
                return;
            }
        };
        service.save(&id, Author::Website, &fields);
        return;
    }
    let made = if what < 16 {
        let Some(mut twin) = any(random, sent) else {
            return;
        };
        match random.u8(..4) {
            0 => twin["consignee"] = json!({"name": "Pat Sample"}),
            1 => twin["movementTime"] = json!("07:45"),
            _ => {}
        }
        twin
    } else {
        content(random)
    };
    note(|| format!("the website makes {made}"));
    service.insert(Author::Website, made);
}

/// A change of one field of a record, or only of its form.
fn edit_of(random: &mut Rng, record: &Record) -> Value {
    let name = &record.last().value["origin"]["name"];
    let name = name.as_str().unwrap_or("Sample Downs");
    let origin = |name: String| json!({"origin": {"pic": "QAZZ7777", "name": name}});
    let time = ["05:15", "06:30", "08:00"][random.usize(..3)];
    let signature = ["", "cGF0"][random.usize(..2)];
    let answer = |value: &str| json!([{"questionId": "17.1", "index": null, "value": value}]);
    match random.u8(..10) {
        0 => json!({"movementTime": time}),
        1 => origin(name.to_uppercase()),
        2 => origin(format!("{name} ")),
        3 => origin("Other Downs".to_owned()),
        4 => json!({"consignee": {"name": "Pat Sample"}}),
        5 => json!({"consignee": null}),
        6 => json!({"answers": answer("No")}),
        7 => json!({"answers": answer("2021-01-01")}),
        8 => json!({"declaration": {"fullName": "Pat", "signature": signature}}),
        _ => json!({"destination": {"pic": "QDZZ3333", "name": "Pats Yards"}}),
    }
}

/// A colleague creates the same load as a lost creation, with one more field.
pub(super) fn colleague(random: &mut Rng, service: &mut Service, lost: &ChangeRequest) {
    if let (ChangeRequest::Create(text), true) = (lost, chance(random, 20)) {
        let mut twin = text.value();
        twin["consignee"] = json!({"name": "Pat Sample"});
        note(|| format!("a colleague writes {twin}"));
        service.insert(Author::Website, twin);
    }
}
