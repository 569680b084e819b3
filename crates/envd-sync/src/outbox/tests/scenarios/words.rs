//! The words of the scenarios: texts, faults, and expected results.

use serde_json::{Value, json};

use super::Play;
use crate::outbox::tests::farm::{load, load_of, now, other_load, signed};
use crate::outbox::{Declaration, DeclarationState};
use crate::tests::script::listed;
use envd_sdk::fake::Fault;
use envd_sdk::model::{ConsignmentId, ConsignmentInput};

/// Builds a text from words such as `24 signed origin.pic=wrong`.
pub(super) fn text(words: &[&str], id: impl Fn(&str) -> String) -> ConsignmentInput {
    let head = words[0].parse().unwrap();
    let text = match words.get(1) {
        Some(&"other") => other_load(head),
        Some(&"signed") => signed(head),
        _ => load(head),
    };
    let mut text = serde_json::to_value(text).unwrap();
    for (path, value) in words.iter().filter_map(|word| word.split_once('=')) {
        if path != "limit" {
            set(&mut text, &format!("{path}={}", id(value)));
        }
    }
    serde_json::from_value(text).unwrap()
}

/// Finds a field of a record by its path, and an answer by its question.
fn at<'v>(record: &'v mut Value, path: &str) -> &'v mut Value {
    let Some(question) = path.strip_prefix("answers.") else {
        return path
            .split('.')
            .fold(record, |value, name| match name.parse::<usize>() {
                Ok(number) => &mut value[number],
                Err(_) => &mut value[name],
            });
    };
    let answers = record["answers"].as_array_mut().unwrap();
    let known = answers
        .iter()
        .position(|answer| answer["questionId"] == question);
    if known.is_none() {
        answers.push(json!({"questionId": question, "index": null, "value": null}));
    }
    let last = answers.len() - 1;
    &mut answers[known.unwrap_or(last)]["value"]
}

/// Sets a field from `path=text`.
pub(super) fn set(record: &mut Value, field: &str) {
    let (path, text) = field.split_once('=').unwrap();
    *at(record, path) = match text {
        "null" => Value::Null,
        text => text.replace('~', " ").into(),
    };
}

/// Builds a fault for this field. With the prefix `done-`, the request is carried out anyway.
pub(super) fn fault(word: &str, field: &str, id: impl Fn(&str) -> String) -> Fault {
    let (kind, argument) = word.split_once(':').unwrap_or((word, ""));
    let number = || argument.parse().unwrap();
    let status = || argument.parse().unwrap();
    let data = |data: Value| Fault::status(200).json(json!({ "data": data }));
    let fault = match kind.trim_start_matches("done-") {
        "fine" => Fault::none(),
        "lost" => Fault::dropped_before(),
        "late" if argument.is_empty() => Fault::dropped_before().processed_after(usize::MAX),
        "late" => Fault::dropped_before().processed_after(number()),
        "garbage" => Fault::garbage(),
        "cut" => Fault::cut(number()),
        "html" => Fault::html(status()),
        "status" => Fault::status(status()),
        "errors" => Fault::status(500).json(json!({"errors": [{"message": "x", "path": [field]}]})),
        "error" => Fault::internal_server_error(field),
        "null" => data(json!({ field: null })),
        "no-record" => data(json!({ field: {"data": {}} })),
        "no-data" => data(Value::Null),
        "wait" => Fault::status(429).header("retry-after", argument),
        "busy" => Fault::status(503).header("retry-after", argument),
        "shows" => Fault::replaced(format!("/data/{field}/data/id"), id(argument)),
        "says" => {
            let status = (argument != "null").then_some(argument);
            data(json!({ field: {"data": {"id": id("r1"), "status": status}} }))
        }
        _ => panic!("{word} is no fault"),
    };
    let is_done = kind.starts_with("done-");
    if is_done { fault.processed() } else { fault }
}

impl Play {
    /// The numbers of requests and of lists.
    pub(super) fn counts(&self) -> [usize; 2] {
        let fake = &self.farm.fake;
        [fake.requests().len(), fake.request_count("Consignments")]
    }

    /// The actual result, in the words of the expected one.
    pub(super) async fn seen_as(&self, words: &[&str]) -> String {
        let farm = &self.farm;
        let report = &self.report;
        let what = words[0];
        let since = |nth: usize| self.counts()[nth] - self.before[nth];
        let count = |number: usize| format!("{what} {number}");
        let reported = |number: u64| format!("{what} {number}");
        let stopped = report.stopped_by.as_deref();
        let next = self.next.map(|next| next.as_secs_f64());
        match *words {
            ["there", ..] => format!("there {}", listed(farm.loads())),
            ["sent", ..] => {
                let sent = farm.sent().into_iter();
                let sent = sent.map(|text| load_of(&serde_json::from_str(&text).unwrap()));
                format!("sent {}", listed(sent))
            }
            ["saves", _] => count(farm.saves()),
            ["deletes", _] => count(farm.fake.request_count("DeleteConsignment")),
            ["requests", _] => count(since(0)),
            ["lists", _] => count(since(1)),
            ["open", _] => count(self.outbox.declarations().await.unwrap().len()),
            ["next", _] => next.map_or("next never".to_owned(), |next| {
                format!("next {}s", next.ceil())
            }),
            ["goes", "on"] => stopped.unwrap_or("goes on").to_owned(),
            ["stopped"] => stopped.map_or("goes on", |_| what).to_owned(),
            ["confirmed", _] => reported(report.confirmed),
            ["refused", _] => reported(report.refused),
            ["asking", _] => reported(report.needs_attention),
            ["waiting", _] => reported(report.waiting),
            ["problems", _] => reported(report.confirmed_with_problems),
            ["late-duplicates", _] => reported(report.late_duplicates),
            [record, "has", field] => {
                let path = field.split_once('=').unwrap().0;
                let mut is = self.record(record);
                let mut wanted = self.record(record);
                set(&mut wanted, field);
                let is = at(&mut is, path).take();
                let text = is.as_str().unwrap_or("null").replace(' ', "~");
                let is_equal = is == *at(&mut wanted, path);
                let text = if is_equal {
                    field.to_owned()
                } else {
                    format!("{path}={text}")
                };
                format!("{record} has {text}")
            }
            [name, ref what @ ..] => {
                let id = self
                    .declarations
                    .get(name)
                    .unwrap_or_else(|| panic!("{words:?}"));
                format!("{name} {}", self.shown(&now(&self.outbox, *id).await, what))
            }
            [] => String::new(),
        }
    }

    /// The asked property of a declaration, in words.
    fn shown(&self, shown: &Declaration, words: &[&str]) -> String {
        let what = words[0];
        let names = |ids: &[ConsignmentId]| {
            let mut names: Vec<String> = ids.iter().map(|id| self.name(id.as_str())).collect();
            names.sort();
            let none = if names.is_empty() { "none" } else { "" };
            format!("{what} {none}{}", names.join(" "))
        };
        let reason = shown.reason.map(|reason| format!("{reason:?}"));
        let reason = reason.unwrap_or_default();
        match what {
            "is" => names(shown.consignment.as_slice()),
            "candidates" => names(&shown.candidates),
            "duplicates" => names(&shown.late_duplicates),
            "attempts" => format!("attempts {}", shown.attempts),
            "wants" => format!("wants {}", shown.wanted),
            "findings" => format!("findings {}", shown.findings.len()),
            "problems" => {
                let sentence = shown.sentence();
                let known = if sentence.ends_with("problems unknown") {
                    "unknown"
                } else if sentence.ends_with("with problems") {
                    "some"
                } else {
                    "none"
                };
                format!("problems {known}")
            }
            "adopted" => (if shown.is_adopted {
                what
            } else {
                "not adopted"
            })
            .to_owned(),
            "offers" => {
                let offered = shown.decisions();
                format!("offers {}", listed(offered.iter().map(ToString::to_string)))
            }
            "differs" => {
                let fields = shown.conflict.iter().flat_map(|conflict| &conflict.fields);
                let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
                let fields = fields.map(|field| {
                    let [base, mine, theirs] = [&field.base, &field.mine, &field.theirs].map(text);
                    format!(
                        "{} {:?} {base} {mine} {theirs}",
                        field.path, field.changed_by
                    )
                });
                format!("differs {}", listed(fields))
            }
            _ if shown.state == DeclarationState::NeedsAttention => format!("asks {reason}"),
            _ if words.len() == 2 => format!("{} {reason}", shown.state),
            _ => shown.state.to_string(),
        }
    }
}
