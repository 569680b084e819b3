//! The decision about an entry, as a table: what it is, what happened to it, what was read, and what is done next.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::super::account_outbox::Listed;
use super::super::compare::ServiceFields;
use super::super::decide::{Action, Circumstances, decide};
use super::super::entry::{EntryKind, Reason};
use super::super::input_text::InputText;
use super::super::observe::{Found, Likeness, Observation};
use super::super::stored::{Answer, Base, Event, Happened, Stored, Target};
use envd_sdk::model::{Comment, Consignment, ConsignmentInput, FormType, PartyInput, WithExtra};

const NOW: u64 = 1_800_000_000;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW + seconds)
}

fn input(day: &str) -> ConsignmentInput {
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([FormType::Lpac1], from, to).movement(day, "05:15")
}

/// A record in the shape in which the service shows it.
fn record(day: &str, status: &str) -> Value {
    json!({
        "id": "c-1", "status": status, "forms": [{"type": "LPAC1"}], "origin": {"pic": "QAZZ7777"},
        "destination": {"pic": "QDZZ3333"}, "movementDate": day, "movementTime": "05:15",
    })
}

fn read(record: Value) -> Observation {
    let record: Consignment = serde_json::from_value(record).unwrap();
    Observation::Record(Some(Box::new(record)))
}

fn gone() -> Observation {
    Observation::Record(None)
}

fn appeared(found: Vec<(Likeness, &str)>) -> Observation {
    let found = found.into_iter().map(|(likeness, id)| {
        let record = serde_json::from_value(record("2099-01-15", "DRAFT")).unwrap();
        (likeness, id.into(), Some(record))
    });
    Observation::Appeared {
        found: Found(found.collect()),
        listed: Listed {
            version: 1,
            last: 7,
        },
    }
}

fn comments(texts: &[&str]) -> Observation {
    let comment = |text: &&str| -> Comment {
        serde_json::from_value(json!({"commentId": *text, "commentText": *text})).unwrap()
    };
    Observation::Comments(Some(texts.iter().map(comment).collect()))
}

fn entry(kind: EntryKind, events: Vec<Event>) -> Stored {
    let target = match kind {
        EntryKind::Comment => Target::Number("C-1".into()),
        _ => Target::Record("c-1".into()),
    };
    let mut entry = Stored::new(1, kind, target, at(0).into());
    if let EntryKind::Save | EntryKind::Submit = kind {
        let input = WithExtra::from(input("2099-01-16").id("c-1"));
        entry.input = Some(InputText::new(&input).unwrap());
    }
    if kind != EntryKind::Comment {
        entry.base = Some(Base::Record(base("2099-01-15", "DRAFT")));
    }
    entry.comment = (kind == EntryKind::Comment).then(|| "ours".to_owned());
    let happened = |event| Happened {
        at: at(0).into(),
        event,
    };
    entry.events = events.into_iter().map(happened).collect();
    entry
}

fn base(day: &str, status: &str) -> Value {
    super::super::compare::shape(&serde_json::from_value(record(day, status)).unwrap())
}

fn creation(events: Vec<Event>) -> Stored {
    let mut entry = entry(EntryKind::Save, events);
    (entry.target, entry.base) = (Target::New, None);
    entry.input = Some(InputText::new(&WithExtra::from(input("2099-01-15"))).unwrap());
    entry
}

fn marked() -> Event {
    Event::Marked {
        baseline: Some(3),
        comments: vec!["before".to_owned()],
    }
}

fn answered(answer: Answer) -> Event {
    Event::Answered {
        answer,
        outcome: String::new(),
        http_status: None,
        findings: Vec::new(),
        number: None,
    }
}

/// It was sent, and no clear answer came.
fn doubt() -> Vec<Event> {
    vec![marked(), answered(Answer::InDoubt)]
}

fn with(mut events: Vec<Event>, event: Event) -> Vec<Event> {
    events.push(event);
    events
}

fn not_found(next_at: Option<u64>, is_sent_again: bool) -> Event {
    let next_at = next_at.map(|seconds| at(seconds).into());
    Event::NotFound {
        next_at,
        is_sent_again,
    }
}

fn unclear(tries: u32, next_at: u64) -> Event {
    let (since, next_at) = (at(0).into(), at(next_at).into());
    Event::Unclear {
        since,
        tries,
        next_at,
        findings: Vec::new(),
    }
}

/// An action in words.
fn shown(action: Action) -> String {
    let seconds = |time: SystemTime| time.duration_since(at(0)).unwrap().as_secs();
    match action {
        Action::Wait => "wait".to_owned(),
        Action::WaitUntil(time) => format!("wait until {}", seconds(time)),
        Action::RetryAt(time) => format!("retry at {}", seconds(time)),
        Action::Observe => "observe".to_owned(),
        Action::Send => "send".to_owned(),
        Action::Append(Event::Confirmed {
            record, is_adopted, ..
        }) => {
            let record = record.map_or("no record".to_owned(), |id| id.to_string());
            let how = if is_adopted { "adopted" } else { "done before" };
            format!("confirmed: {record}, {how}")
        }
        Action::Append(Event::Asked {
            reason, candidates, ..
        }) => match candidates.len() {
            0 => format!("ask: {reason:?}"),
            several => format!("ask: {reason:?}, {several} records"),
        },
        Action::Append(Event::NotFound {
            next_at,
            is_sent_again,
        }) => {
            let next_at = next_at.and_then(|at| at.to_time()).map(seconds);
            let what = if is_sent_again {
                "send again"
            } else {
                "look again"
            };
            next_at.map_or(what.to_owned(), |at| format!("{what} at {at}"))
        }
        Action::Append(_) => "another event".to_owned(),
    }
}

fn when() -> Circumstances {
    Circumstances {
        is_next: true,
        retries_now: false,
        service: ServiceFields::default(),
        now: at(0),
        reconcile_after: Duration::from_secs(60),
    }
}

#[track_caller]
fn assert_decides(entry: &Stored, seen: Option<Observation>, expected: &str) {
    assert_eq!(shown(decide(entry, seen.as_ref(), &when())), expected);
}

#[test]
fn a_creation_is_sent_once_or_asked_about() {
    use Likeness::{Doubtful, SameLoad, Sent};
    let new = creation(vec![]);
    assert_decides(&new, None, "observe");
    assert_decides(&new, Some(appeared(vec![])), "send");
    // Before a doubtful attempt of its own nothing is adopted, however much it agrees.
    assert_decides(
        &new,
        Some(appeared(vec![(Doubtful, "c-2")])),
        "ask: Candidates, 1 records",
    );
    assert_decides(
        &new,
        Some(appeared(vec![(Sent, "c-2")])),
        "ask: Candidates, 1 records",
    );

    let lost = creation(doubt());
    assert_decides(&lost, None, "observe");
    assert_decides(&lost, Some(appeared(vec![])), "look again at 60");
    assert_decides(
        &lost,
        Some(appeared(vec![(Sent, "c-2")])),
        "confirmed: c-2, adopted",
    );
    for others in [
        vec![(Sent, "c-2"), (Sent, "c-3")],
        vec![(Sent, "c-2"), (Doubtful, "c-3")],
        vec![(SameLoad, "c-2"), (Doubtful, "c-3")],
    ] {
        assert_decides(&lost, Some(appeared(others)), "ask: Candidates, 2 records");
    }
    // A record of the same load that differs is that of somebody else where ours is found, and may be ours where it is not.
    let both = vec![(SameLoad, "c-2"), (Sent, "c-3")];
    assert_decides(&lost, Some(appeared(both)), "confirmed: c-3, adopted");
    assert_decides(
        &lost,
        Some(appeared(vec![(SameLoad, "c-2")])),
        "ask: Candidates, 1 records",
    );

    let again = creation(with(doubt(), not_found(Some(0), false)));
    assert_decides(&again, Some(appeared(vec![])), "send again");
    let waits = creation(with(doubt(), not_found(Some(40), false)));
    assert_decides(&waits, None, "wait until 40");
    // It was sent twice, so it is sent later the third time.
    let twice = [
        doubt(),
        vec![not_found(None, true)],
        doubt(),
        vec![not_found(Some(0), false)],
    ];
    assert_decides(
        &creation(twice.concat()),
        Some(appeared(vec![])),
        "send again at 60",
    );
    let chosen = creation(with(
        doubt(),
        Event::Chosen {
            record: "c-9".into(),
        },
    ));
    assert_decides(
        &chosen,
        Some(read(record("2099-02-02", "DRAFT"))),
        "confirmed: c-9, adopted",
    );
    assert_decides(&chosen, Some(gone()), "ask: Candidates");
}

#[test]
fn a_change_is_sent_over_what_the_user_saw_alone() {
    let save = entry(EntryKind::Save, vec![]);
    assert_decides(&save, None, "observe");
    assert_decides(&save, Some(read(record("2099-01-15", "DRAFT"))), "send");
    assert_decides(
        &save,
        Some(read(record("2099-01-20", "DRAFT"))),
        "ask: Conflict",
    );
    assert_decides(
        &save,
        Some(read(record("2099-01-15", "SUBMITTED"))),
        "ask: NotADraft",
    );
    assert_decides(
        &save,
        Some(read(record("2099-01-15", "LOCKED"))),
        "ask: NotADraft",
    );
    assert_decides(&save, Some(gone()), "ask: Gone");
    // Before it was sent, a record that has what it says is that of somebody else.
    assert_decides(
        &save,
        Some(read(record("2099-01-16", "DRAFT"))),
        "ask: Conflict",
    );

    let lost = entry(EntryKind::Save, doubt());
    assert_decides(
        &lost,
        Some(read(record("2099-01-15", "DRAFT"))),
        "look again at 60",
    );
    assert_decides(
        &lost,
        Some(read(record("2099-01-16", "DRAFT"))),
        "confirmed: c-1, adopted",
    );
    assert_decides(
        &lost,
        Some(read(record("2099-01-20", "DRAFT"))),
        "ask: Conflict",
    );
    assert_decides(&lost, Some(gone()), "ask: Gone");
    let mut filled = record("2099-01-16", "DRAFT");
    filled["consignee"] = json!({"name": "Other Yards"});
    assert_decides(&lost, Some(read(filled)), "ask: Conflict");
    // It is sent again, and has arrived meanwhile.
    let again = entry(EntryKind::Save, with(doubt(), not_found(None, true)));
    assert_decides(
        &again,
        Some(read(record("2099-01-16", "DRAFT"))),
        "confirmed: c-1, adopted",
    );
}

#[test]
fn a_submit_and_a_delete_count_for_the_draft_that_was_seen() {
    let submit = entry(EntryKind::Submit, vec![]);
    assert_decides(&submit, Some(read(record("2099-01-15", "DRAFT"))), "send");
    assert_decides(
        &submit,
        Some(read(record("2099-01-15", "SUBMITTED"))),
        "ask: NotADraft",
    );
    let lost = entry(EntryKind::Submit, doubt());
    assert_decides(
        &lost,
        Some(read(record("2099-01-16", "SUBMITTED"))),
        "confirmed: c-1, adopted",
    );
    assert_decides(
        &lost,
        Some(read(record("2099-01-15", "DRAFT"))),
        "look again at 60",
    );
    assert_decides(
        &lost,
        Some(read(record("2099-01-17", "SUBMITTED"))),
        "ask: NotADraft",
    );

    let delete = entry(EntryKind::Delete, vec![]);
    assert_decides(&delete, Some(read(record("2099-01-15", "DRAFT"))), "send");
    assert_decides(
        &delete,
        Some(read(record("2099-01-20", "DRAFT"))),
        "ask: Conflict",
    );
    assert_decides(
        &delete,
        Some(read(record("2099-01-15", "SUBMITTED"))),
        "ask: NotADraft",
    );
    assert_decides(&delete, Some(gone()), "confirmed: c-1, done before");
    let lost = entry(EntryKind::Delete, doubt());
    assert_decides(&lost, Some(gone()), "confirmed: c-1, adopted");
    assert_decides(
        &lost,
        Some(read(record("2099-01-15", "DRAFT"))),
        "look again at 60",
    );
}

#[test]
fn a_comment_is_known_by_those_before() {
    let new = entry(EntryKind::Comment, vec![]);
    assert_decides(&new, Some(comments(&["ours"])), "send");
    let lost = entry(EntryKind::Comment, doubt());
    assert_decides(
        &lost,
        Some(comments(&["before", "ours"])),
        "confirmed: no record, adopted",
    );
    assert_decides(&lost, Some(comments(&["before"])), "look again at 60");
    assert_decides(&lost, Some(Observation::Comments(None)), "ask: Gone");
}

#[test]
fn what_waits_is_not_asked_for() {
    let behind = Circumstances {
        is_next: false,
        ..when()
    };
    let save = entry(EntryKind::Save, vec![]);
    assert_eq!(shown(decide(&save, None, &behind)), "wait");
    // What was sent is looked for all the same: that sends nothing.
    let lost = entry(EntryKind::Save, doubt());
    assert_eq!(shown(decide(&lost, None, &behind)), "observe");
    for (event, expected) in [
        (answered(Answer::Refused), "wait"),
        (answered(Answer::Forbidden), "wait"),
        (answered(Answer::NotSent), "observe"),
        (Event::asked(Reason::Conflict), "wait"),
        (Event::Abandoned, "observe"),
        (
            Event::GivenUp {
                reason: Reason::GivenUp,
            },
            "wait",
        ),
    ] {
        assert_decides(
            &entry(EntryKind::Save, vec![marked(), event]),
            None,
            expected,
        );
    }
    for (event, expected) in [
        (unclear(1, 5), "wait until 5"),
        (unclear(4, 40), "retry at 40"),
    ] {
        assert_decides(&entry(EntryKind::Save, vec![event]), None, expected);
    }
    let impatient = Circumstances {
        retries_now: true,
        ..when()
    };
    let tried = entry(EntryKind::Save, vec![unclear(4, 40)]);
    assert_eq!(shown(decide(&tried, None, &impatient)), "observe");
    // The clock of the machine that wrote it was a day ahead.
    let ahead = entry(
        EntryKind::Save,
        with(doubt(), not_found(Some(90_000), false)),
    );
    assert_decides(&ahead, None, "observe");
}

#[test]
fn what_is_too_late_is_asked_about_and_what_was_sent_is_looked_for() {
    let mut save = entry(EntryKind::Save, vec![]);
    save.not_after = Some(at(0).into());
    assert_decides(&save, None, "observe");
    let later = Circumstances {
        now: at(1),
        ..when()
    };
    assert_eq!(shown(decide(&save, None, &later)), "ask: NotAfterPassed");
    save.not_after = Some("tomorrow".into());
    assert_decides(&save, None, "ask: NotAfterPassed");
    save.events = entry(EntryKind::Save, doubt()).events;
    assert_decides(&save, None, "observe");

    let mut past = creation(vec![]);
    // It is 2027-01-15T08:00:00Z.
    for (day, expected) in [
        ("2027-01-14T00:00:00", "ask: MovementPassed"),
        ("2027-01-14 05:15", "ask: MovementPassed"),
        ("2027-01-14T23:59:59+11:00", "ask: MovementPassed"),
        // The midnight of the 14th in Sydney, and that of the 15th.
        ("2027-01-13T13:00:00Z", "ask: MovementPassed"),
        ("2027-01-14T13:00:00Z", "observe"),
        ("2027-01-15T00:00:00", "observe"),
        ("2027-01-15", "observe"),
        ("the 14th", "observe"),
        ("2020-01-15", "ask: MovementPassed"),
    ] {
        past.input = Some(InputText::new(&WithExtra::from(input(day))).unwrap());
        assert_decides(&past, None, expected);
    }
    let late = Event::Queued {
        not: Vec::new(),
        is_late: true,
    };
    past.events = creation(vec![late]).events;
    assert_decides(&past, None, "observe");
}
