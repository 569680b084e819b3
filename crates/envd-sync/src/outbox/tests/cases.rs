//! Rows and reads in words, for the tables of tests.

use serde_json::{Value, json};

use super::super::apply::{Event, Moment, apply};
use super::super::compare::{Base, Record, ServiceFields};
use super::super::decide::{Circumstances, Read, Seen};
use super::super::row::{
    Agreed, Doubt, Due, Limit, Listing, Lost, Owner, Question, Reason, Request, Row, Sent, State,
    Text, Unclear, Wish,
};

pub(crate) const NOW: u64 = 1_000_000;

/// What a table says in its lines.
pub(crate) fn lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// What is there before: a draft.
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

pub(crate) fn record(id: &str, fields: Value) -> Record {
    Record {
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
        copy: 0,
    }
}

pub(crate) fn service() -> ServiceFields {
    let mut service = ServiceFields::default();
    service.learn(&base(), &record("c0", base()));
    service
}

/// A row in words: what is wanted, what is known, and the state.
#[expect(clippy::too_many_lines, reason = "a list of words")]
pub(crate) fn row(words: &str) -> Row {
    let has = |word: &str| words.split(' ').any(|one| one == word);
    let number = |name: &str| {
        let mut words = words
            .split(' ')
            .filter_map(|one| one.strip_prefix(name)?.strip_prefix('='));
        words.next().map(|number| number.parse::<u64>().unwrap())
    };
    let mut given = if has("signed") {
        signed("09:00")
    } else {
        text("09:00")
    };
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
    let given = Text::new(&given);
    let wish = if has("delete") {
        Wish::Delete
    } else if has("submit") {
        Wish::Submit(given.clone())
    } else {
        Wish::Save(given.clone())
    };
    let seen = record("c1", base());
    let is_named = has("record");
    let known = Listing {
        number: 1,
        last: 10,
        ..Listing::default()
    };
    let mut row = Row::new(1, is_named.then(|| seen.id.clone()), known, 1);
    row.wish = wish;
    row.base = seen.base().filter(|_| is_named);
    if has("done") {
        row.base = Some(Base::shown(&given.value()).laid(&json!({"status": "DRAFT"})));
    }
    row.seen_at = has("blind").then(|| "5".to_owned());
    if has("blind") {
        row.base = None;
    }
    if has("first") {
        row.first = Some(Text::new(&signed("07:00")));
    }
    let mut submitted = base();
    submitted["status"] = json!("SUBMITTED");
    if has("submitted") {
        row.base = Some(Base::shown(&submitted));
    }
    row.agreed = Agreed {
        late: if has("agreed-late") {
            ["2024-01-05T00:00:00", "soon", "LPAG2", "999999"]
                .map(str::to_owned)
                .into()
        } else {
            Agreed::default().late
        },
        not_draft: has("agreed-door").then(|| submitted.clone()),
        not: has("not").then(|| "c2".to_owned()).into_iter().collect(),
    };
    row.not_after = has("expired").then(|| Limit {
        at: NOW - 1,
        given: String::new(),
    });
    row.adopt = has("adopt").then(|| "c2".to_owned());
    let next_at = has("ahead").then(|| Due::after(NOW, 60));
    row.state = State::Open { next_at };
    if let Some(waited) = number("unclear") {
        row.unclear = Some(Unclear {
            reason: "500".to_owned(),
            wait: 60,
            waited,
        });
    }
    if has("doubt") || has("sending") {
        let sent =
            has("sent-other").then(|| Request::Update("c1".to_owned(), Text::new(&text("08:00"))));
        let sent = Sent {
            request: sent
                .or(row.next_request())
                .unwrap_or(Request::Create(given.clone())),
            before: is_named.then(|| seen.clone()),
            listed: listing(2),
        };
        if has("doubt") {
            row.doubt = Doubt {
                sends: 1 + u32::try_from(number("resends").unwrap_or(0)).unwrap(),
                looks: u32::try_from(number("looks").unwrap_or(0)).unwrap(),
                wait: 60,
                waited: number("waited").unwrap_or(0),
            };
            row.lost = (!is_named).then(|| Lost {
                texts: vec![given.clone()],
                listed: listing(2),
                left: 1,
                watched_until: None,
            });
            row.sent = is_named.then_some(sent);
        } else {
            row.sent = Some(sent);
            row.state = State::Sending;
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
        ("no-answer", Question::NoUsableAnswer),
        ("other-record", Question::OtherRecord("c2".to_owned())),
    ];
    let asked = questions
        .into_iter()
        .find(|(word, _)| has(&format!("asked:{word}")));
    if let Some((_, question)) = asked {
        row.state = State::Asked(question);
    }
    if has("refused") {
        row.state = State::Refused;
    }
    if has("confirmed") {
        row.state = State::Confirmed;
    }
    if has("discarded") {
        row.state = State::Discarded;
    }
    row
}

/// What was read, in a word.
#[expect(clippy::too_many_lines, reason = "a list of words")]
pub(crate) fn read(word: &str, row: &Row) -> Option<Read> {
    let mut wanted = row.wish.text().map_or_else(base, Text::value);
    wanted["status"] = json!(if matches!(row.wish, Wish::Submit(_)) {
        "SUBMITTED"
    } else {
        "DRAFT"
    });
    let mut more = wanted.clone();
    more["consignee"] = json!({"name": "Pat"});
    let mut load = row.wish.text().map_or_else(|| text("09:00"), Text::value);
    let with = |name: &str, value: &str| {
        let mut fields = base();
        fields[name] = json!(value);
        fields
    };
    let seen = |record: Record| Seen {
        record,
        sequence: Some(11),
        owner: None,
    };
    let of = |fields: Value| Some(Read::Record(Some(seen(record("c1", fields)))));
    let listed = |listing: Listing, seen: Vec<Seen>| Some(Read::Listed(listing, seen));
    load["status"] = json!("DRAFT");
    let ours = seen(record("c2", load.clone()));
    let fields = |name: &str, value: Value| {
        let mut fields = load.clone();
        fields[name] = value;
        seen(record("c2", fields))
    };
    match word {
        "-" => None,
        "unclear" => Some(Read::Unclear("500".to_owned())),
        "gone" => Some(Read::Record(None)),
        "deleted" => of(with("status", "DELETED")),
        "same" => of(base()),
        "same-known" => Some(Read::Record(Some(Seen {
            sequence: Some(10),
            ..seen(record("c1", base()))
        }))),
        "submitted" => of(with("status", "SUBMITTED")),
        "locked" => of(with("status", "LOCKED")),
        "other" => of(with("movementTime", "04:00")),
        "wanted" => of(wanted),
        "wanted+" => of(more),
        "taken" => Some(Read::Record(Some(Seen {
            owner: Some(Owner::Namer),
            ..ours
        }))),
        "none" => listed(listing(3), Vec::new()),
        "stale" => listed(listing(row.listed), Vec::new()),
        "old" => listed(
            Listing {
                begun: NOW - 61,
                ..listing(3)
            },
            Vec::new(),
        ),
        "ahead" => listed(
            Listing {
                begun: NOW + 1,
                ..listing(3)
            },
            Vec::new(),
        ),
        "ours" => listed(listing(3), vec![ours]),
        "two" => {
            let other = Seen {
                record: record("c3", load.clone()),
                ..ours.clone()
            };
            listed(listing(3), vec![ours, other])
        }
        "ours+" => listed(
            listing(3),
            vec![fields("consignee", json!({"name": "Pat"}))],
        ),
        "ours-submitted" => listed(listing(3), vec![fields("status", json!("SUBMITTED"))]),
        "part" => listed(listing(3), vec![fields("movementTime", json!("04:00"))]),
        "ours-and-part" => {
            let mut part = fields("movementTime", json!("04:00"));
            part.record.id = "c3".to_owned();
            listed(listing(3), vec![ours, part])
        }
        "unrelated" => listed(
            listing(3),
            vec![fields("movementDate", json!("2027-07-01"))],
        ),
        "another" => {
            let mut another = ours;
            another.record.created_by = Some("pat".to_owned());
            listed(listing(3), vec![another])
        }
        "older" => {
            let mut older = ours;
            older.record.updated_at = "4".to_owned();
            listed(listing(3), vec![older])
        }
        "known" => listed(
            listing(3),
            vec![Seen {
                sequence: Some(10),
                ..ours
            }],
        ),
        "of-maker" => listed(
            listing(3),
            vec![Seen {
                owner: Some(Owner::Maker),
                ..ours
            }],
        ),
        "of-namer" => listed(
            listing(3),
            vec![Seen {
                owner: Some(Owner::Namer),
                ..ours
            }],
        ),
        other => panic!("{other}"),
    }
}

pub(crate) fn with_circumstances<T>(
    open: &[&Row],
    then: impl FnOnce(&Circumstances<'_>) -> T,
) -> T {
    then(&Circumstances {
        now: NOW,
        today: "2026-11-20",
        day,
        retired_from,
        service: &service(),
        open,
    })
}

pub(crate) fn retired_from(form: &str) -> Option<String> {
    (form == "LPAG2").then(|| "2024-11-19".to_owned())
}

/// The day of a date with a time after it.
pub(crate) fn day(date: &str) -> Option<String> {
    let day = date
        .get(..10)
        .filter(|day| day.starts_with(char::is_numeric));
    day.map(str::to_owned)
}

pub(crate) fn applied(row: &mut Row, event: &Event) -> Result<(), super::super::apply::Unfit> {
    let moment = Moment {
        now: NOW,
        listed: &listing(4),
        begun: 5,
        reconcile_after: 60,
        service: &service(),
    };
    apply(row, event, &moment)
}
