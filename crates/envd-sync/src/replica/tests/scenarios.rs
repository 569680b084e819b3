//! Scenarios as lists of steps: `do; do -> see, see`. A line at the margin names a scenario, and the indented lines are its steps.

use std::time::Duration;

use serde_json::{Value, json};

use super::listing::{DAY, ListOrder, Total};
use super::site::{Records, Site, copied, told};
use crate::replica::Replica;
use crate::store::MemorySync;
use envd_sdk::profile::{ComparedDate, Sourced};

/// Holds: gone: after two clean walks in a row and a read that does not find it.
/// Holds: a walk that was interrupted or shifted makes nothing gone.
/// Holds: the first walk is full, and one a day; others ask from the watermark minus the overlap.
/// Holds: the watermark is none of a later page.
/// Holds: an implausible date is no watermark.
#[tokio::test]
async fn each_scenario_ends_as_its_table_says() {
    let mut name = "";
    let mut play: Option<Play> = None;
    for line in include_str!("scenarios.txt").lines() {
        match line.strip_prefix("  ") {
            Some(note) if note.starts_with('#') => {}
            Some(steps) => {
                for step in steps.split("; ") {
                    if let Some(list) = step.strip_prefix("with ") {
                        play = Some(Play::new(list));
                        continue;
                    }
                    let seen = play.as_mut().unwrap().step(step).await;
                    assert!(seen.is_ok(), "{name}: {step}: {}", seen.unwrap_err());
                }
            }
            None => name = line,
        }
    }
}

/// A service with its copy, and what the last sync reported.
struct Play {
    site: Site,
    store: MemorySync,
    replica: Replica,
    report: Value,
    told: Option<Vec<String>>,
    requests: Vec<(String, String, String)>,
}

impl Play {
    fn new(list: &str) -> Self {
        let (count, order) = list.split_once(' ').unwrap_or((list, ""));
        let (site, store) = (Site::with(count.parse().unwrap()), MemorySync::new());
        if order == "by id" {
            site.lock().list.order = ListOrder::Id;
        }
        Self {
            replica: site.replica(store.clone()),
            site,
            store,
            report: Value::Null,
            told: None,
            requests: Vec::new(),
        }
    }

    async fn step(&mut self, step: &str) -> Result<(), String> {
        let (step, seen) = step.split_once(" -> ").unwrap_or((step, ""));
        self.take(step).await;
        for expected in seen.split(", ").filter(|it| !it.is_empty()) {
            let (what, expected) = expected.split_once(' ').unwrap();
            let found = self.seen(what).await;
            let is_met = match what {
                "why" => found.contains(expected),
                // A number is how many were told.
                "told" if expected.parse::<usize>().is_ok() => {
                    found.split(" + ").count().to_string() == expected
                }
                _ => found == expected,
            };
            if !is_met {
                return Err(format!("{what} is {found}: {}", self.report));
            }
        }
        Ok(())
    }

    async fn take(&mut self, step: &str) {
        let words: Vec<&str> = step.split(' ').collect();
        (self.told, self.requests) = (None, self.site.take_requests());
        match words[..] {
            [how @ ("sync" | "full")] => {
                let report = match how {
                    "sync" => self.replica.sync().await,
                    _ => self.replica.sync_full().await,
                };
                self.report = serde_json::to_value(report.unwrap()).unwrap();
                self.requests = self.site.take_requests();
            }
            ["calm"] => self.site.make_incremental(&self.replica).await,
            ["tell"] => self.told = Some(told(&self.replica, "a").await),
            ["tell", consumer] => self.told = Some(told(&self.replica, consumer).await),
            ["before", number, ref edit @ ..] => {
                let edit: Vec<String> = edit.iter().map(|&word| word.to_owned()).collect();
                let number = number.trim_end_matches(':').parse().unwrap();
                self.site.before_request(number, move |records| {
                    edit_by(
                        records,
                        &edit.iter().map(String::as_str).collect::<Vec<_>>(),
                    );
                });
            }
            ["reads", status, ..] => self.site.lock().reads = status.parse().ok(),
            ["no", "totals"] => self.site.lock().list.total = Total::Null,
            ["overlap", seconds] => {
                let overlap = Duration::from_secs(seconds.parse().unwrap());
                self.replica = self.replica.clone().overlap(overlap);
            }
            ["date", date] => {
                let date = match date {
                    "Creation" => Some(ComparedDate::Creation),
                    "Movement" => Some(ComparedDate::Movement),
                    _ => None,
                };
                self.replica.compared = Sourced::seen(date);
            }
            ["clock", seconds] => {
                let clock = &self.site.clock;
                let seconds: i64 = seconds.parse().unwrap();
                let time = Duration::from_secs(seconds.unsigned_abs());
                match seconds {
                    0.. => clock.advance(time),
                    _ => clock.set_wall(clock.now() - time),
                }
            }
            _ => edit_by(&mut self.site.lock(), &words),
        }
    }

    async fn seen(&mut self, what: &str) -> String {
        match what {
            "copied" => {
                let copied = copied(&self.store).await;
                let is_all = copied == self.site.ids();
                if is_all {
                    "all".to_owned()
                } else {
                    copied.len().to_string()
                }
            }
            "told" => {
                let told = match self.told.take() {
                    Some(told) => told,
                    None => told(&self.replica, "a").await,
                };
                if told.is_empty() {
                    "none".to_owned()
                } else {
                    told.join(" + ")
                }
            }
            "from" => self.requests[0].2.clone(),
            "asked" => {
                let reads = self.requests.iter();
                let reads = reads.filter(|(operation, ..)| operation == "Consignment");
                reads.count().to_string()
            }
            "problems" => self.report["problems"]
                .as_array()
                .unwrap()
                .len()
                .to_string(),
            _ => match &self.report[what] {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            },
        }
    }
}

/// What somebody does on the website.
fn edit_by(records: &mut Records, words: &[&str]) {
    match *words {
        ["save", id] => records.save(id, |_| {}),
        ["save", id, "heads", heads] => {
            let heads: u32 = heads.parse().unwrap();
            records.save(id, |record| record["heads"] = json!(heads));
        }
        ["save", id, "origin", pic] => {
            records.save(id, |record| record["origin"] = json!({"pic": pic}));
        }
        ["save", id, name, value] => records.save(id, |record| record[name] = value.into()),
        ["day", id, heads] => records.next_day(id, heads.parse().unwrap()),
        ["delete", id] => records.delete(id),
        ["hide", id] => records.list.record(id, "").is_listed = false,
        ["years", years] => {
            let years: i64 = years.parse().unwrap();
            let now = &mut records.list.now;
            *now = now.saturating_add_signed(years * 365 * DAY.cast_signed());
        }
        _ => panic!("no step: {words:?}"),
    }
}
