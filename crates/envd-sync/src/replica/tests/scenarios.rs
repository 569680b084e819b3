//! The steps of the scenarios of a copy: edits on the website, actions of programs, and the checks of the result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::listing::{Compared, ListOrder, Total, instant};
use super::site::{Records, Site, copied, delivered, described};
use crate::error::{Error, Result};
use crate::replica::{Change, Changes, Depth, Replica, ScanProgress};
use crate::store::rows::{Batch, ChangeRange};
use crate::store::tests::faulty_store::{FaultyStore, Moment};
use crate::store::{MemorySync, SyncStore};
use crate::tests::script::{Stage, listed, play, seconds, span};
use crate::tests::shown;
use envd_sdk::model::Timestamp;
use envd_sdk::profile::{Source, Sourced};

/// Holds: gone: after two clean scans in a row and a read that does not find it.
/// Holds: a scan that was interrupted or shifted makes nothing gone.
/// Holds: the first scan is full, and one a day; others ask from the watermark minus the overlap.
/// Holds: the watermark is none of a later page.
/// Holds: an implausible date is no watermark.
/// Holds: a sync with nothing new makes at most two requests and no write.
/// Holds: a scan that stopped continues from its page.
/// Holds: full depth reads each new or changed record once.
#[tokio::test]
async fn scans_leave_the_copy_as_the_table_says() {
    play::<Play>(include_str!("scans.txt")).await;
}

/// Holds: a gap in the same place scan after scan is known.
/// Holds: failure point 24: the next full scan finds all, says so, and the account is read in full from then on.
/// Holds: what another version wrote is neither read nor overwritten.
#[tokio::test]
async fn doubtful_lists_are_delivered_as_the_table_says() {
    play::<Play>(include_str!("doubts.txt")).await;
}

/// Holds: a consumer that is named late is told everything.
/// Holds: consumers do not disturb each other, and two processes with one lose nothing.
/// Holds: failure point 22: several processes.
/// Holds: a record that is listed again meanwhile stays.
/// Holds: what is older than the horizon is neither scanned nor gone.
/// Holds: retention prunes rows, and tells consumers only if asked.
#[tokio::test]
async fn consumers_and_other_programs_see_what_the_table_says() {
    play::<Play>(include_str!("others.txt")).await;
}

/// A service with its copy, and the report of the last step.
struct Play {
    site: Site,
    memory: MemorySync,
    store: FaultyStore,
    replica: Replica,
    /// The feeds by name, each with its delivered changes; `yard/2` is the second feed of the consumer `yard`.
    feeds: HashMap<String, (Changes, Vec<Change>)>,
    /// The rows per read of a new feed.
    chunk: usize,
    progress: Arc<Mutex<Vec<String>>>,
    report: Value,
    /// The text of the report or the error.
    text: String,
    delivered: Option<Vec<String>>,
    requests: Vec<(String, String, String)>,
    /// The numbers of commits and reads of the store before this step.
    before: [usize; 2],
}

impl Play {
    fn with(count: &str, order: &[&str]) -> Self {
        let site = Site::with(count.parse().unwrap());
        let memory = MemorySync::new();
        site.lock().list.order = match order {
            ["by", "id"] => ListOrder::Id,
            ["earliest", "first"] => ListOrder::EarliestUpdateFirst,
            _ => ListOrder::LatestUpdateFirst,
        };
        let store = FaultyStore::new(&memory, usize::MAX);
        let progress = Arc::new(Mutex::new(Vec::new()));
        let scanned = Arc::clone(&progress);
        let replica = site.replica(store.clone());
        let replica = replica.on_progress(move |it: &ScanProgress| {
            let estimate = it.estimate.map_or("?".to_owned(), |it| it.to_string());
            let line = format!("{}/{estimate}", it.records);
            scanned.lock().unwrap().push(line);
        });
        Self {
            site,
            memory,
            store,
            replica,
            feeds: HashMap::new(),
            chunk: 100,
            progress,
            report: Value::Null,
            text: String::new(),
            delivered: None,
            requests: Vec::new(),
            before: [0; 2],
        }
    }

    fn counts(&self) -> [usize; 2] {
        [self.store.commits(), self.store.all_reads()]
    }

    async fn sync(&mut self, is_full: bool) -> Result<()> {
        let report = if is_full {
            self.replica.sync_full().await
        } else {
            self.replica.sync().await
        };
        self.requests = self.site.take_requests();
        let report = report?;
        self.text = report.to_string();
        self.report = serde_json::to_value(report).unwrap();
        Ok(())
    }

    /// Reads at most this many changes from a feed, without acknowledging them.
    async fn hear(&mut self, name: &str, most: usize) -> Result<()> {
        let consumer = name.split('/').next().unwrap();
        let new = || {
            let feed = self.replica.changes(consumer);
            (feed.in_chunks(self.chunk), Vec::new())
        };
        let (feed, heard) = self.feeds.entry(name.to_owned()).or_insert_with(new);
        let mut delivered = Vec::new();
        while delivered.len() < most
            && let Some(change) = feed.next().await?
        {
            let heads = &change.record().value()["heads"];
            delivered.push(format!("{} {heads}", described(&change)));
            heard.push(change);
        }
        self.delivered = Some(delivered);
        Ok(())
    }

    /// Schedules steps, joined by `and`, to run before a commit.
    fn before_commit(&self, nth: &str, steps: String) {
        let records = self.site.shared();
        let other = self.site.replica(self.memory.clone());
        let happens = async move {
            for step in steps.split(" and ") {
                match &step.split(' ').collect::<Vec<_>>()[..] {
                    ["another", "full"] => drop(other.sync_full().await.unwrap()),
                    ["another", _] => drop(other.sync().await.unwrap()),
                    edit => edit_by(&mut records.lock().unwrap(), edit),
                }
            }
        };
        self.store
            .at(Moment::BeforeCommit(nth.parse().unwrap()), happens);
    }

    async fn do_step(&mut self, words: &[&str]) -> Result<()> {
        let replica = self.replica.clone();
        match *words {
            ["with", count, ref order @ ..] => *self = Self::with(count, order),
            [how @ ("sync" | "full")] => self.sync(how == "full").await?,
            ["calm"] => self.site.make_incremental(&self.replica).await,
            ["tell", ref consumer @ ..] => {
                let consumer = consumer.first().unwrap_or(&"a");
                self.delivered = Some(delivered(&self.replica, consumer).await);
            }
            ["hear", feed] => self.hear(feed, usize::MAX).await?,
            ["hear", feed, most] => self.hear(feed, most.parse().unwrap()).await?,
            ["ack", feed, nth] => {
                let (feed, heard) = self.feeds.get_mut(feed).unwrap();
                let nth: usize = nth.parse().unwrap();
                feed.acknowledge(&heard[nth - 1]).await?;
            }
            ["chunks", "of", size] => self.chunk = size.parse().unwrap(),
            ["restart"] => self.feeds.clear(),
            ["remove", consumer] => {
                let was_there = self.replica.remove_consumer(consumer).await?;
                self.text = format!("was there: {was_there}");
            }
            ["before", "commit", nth, ref steps @ ..] => self.before_commit(nth, steps.join(" ")),
            ["before", number, ref edit @ ..] => {
                let number = number.trim_end_matches(':');
                let edit = edit.join(" ");
                let edit = move |records: &mut Records| {
                    edit_by(records, &edit.split(' ').collect::<Vec<_>>());
                };
                self.site.before_request(number.parse().unwrap(), edit);
            }
            ["takes", commits] => self.store.allow(commits.parse().unwrap_or(usize::MAX)),
            ["overlap", time] => self.replica = replica.overlap(span(time)),
            ["horizon", time] => self.replica = replica.horizon(span(time)),
            ["retention", time, how] => {
                self.replica = replica.retention(span(time));
                self.replica.reports_pruned = how == "aloud";
            }
            ["pages", "of", size] => self.replica = replica.page_size(size.parse().unwrap()),
            ["depth", "full"] => self.replica = replica.depth(Depth::Full),
            ["date", ref how @ .., date] => {
                let date = serde_json::from_value(json!(date)).ok();
                self.replica.compared = match *how {
                    ["stated"] => Sourced {
                        value: date,
                        source: Source::Stated,
                    },
                    _ => Sourced::seen(date),
                };
            }
            ["clock", time] => self.site.clock.advance(span(&time[1..])),
            ["version", format] => {
                let batch = Batch {
                    documents: vec![("replica".to_owned(), Some(another_version(format)))],
                    ..Batch::default()
                };
                assert!(self.memory.commit("envd-1", &batch).await?);
            }
            _ => edit_by(&mut self.site.lock(), words),
        }
        Ok(())
    }
}

impl Stage for Play {
    type Error = Error;

    async fn start() -> Self {
        Self::with("0", &[])
    }

    async fn act(&mut self, words: &[&str]) -> Result<()> {
        (self.delivered, self.requests) = (None, self.site.take_requests());
        self.before = self.counts();
        self.progress.lock().unwrap().clear();
        let done = self.do_step(words).await;
        if let Err(error) = &done {
            self.text = format!("{:?} {}", error.kind(), shown(error));
        }
        done
    }

    async fn see(&mut self, words: &[&str]) -> String {
        let what = words[0];
        let expected = words[1..].join(" ");
        let is_number = expected.parse::<usize>().is_ok();
        let reads = || self.requests.iter().filter(|it| it.0 == "Consignment");
        let since = |nth: usize| (self.counts()[nth] - self.before[nth]).to_string();
        let seen = match what {
            "copied" => match (copied(&self.memory).await, &*expected) {
                (copied, "all") if copied == self.site.ids() => expected,
                (copied, _) if is_number => copied.len().to_string(),
                (copied, _) => listed(copied),
            },
            "told" => {
                let delivered = match self.delivered.take() {
                    Some(delivered) => delivered,
                    None => delivered(&self.replica, "a").await,
                };
                match expected.strip_prefix("sorted ") {
                    _ if is_number => delivered.len().to_string(),
                    Some(_) => {
                        let mut delivered = delivered;
                        delivered.sort();
                        format!("sorted {}", listed(delivered))
                    }
                    None => listed(delivered),
                }
            }
            "from" => self.requests[0].2.clone(),
            // An ended program may have requested a later page ahead, which the service still receives.
            "first" => {
                let lists = self.requests.iter().filter(|it| it.0 != "Consignment");
                let full = lists.filter(|(_, _, from)| from.is_empty());
                let first = full.map(|(_, cursor, _)| cursor.parse().unwrap_or(0)).min();
                first.map_or("none".to_owned(), |first: usize| first.to_string())
            }
            "sent" => self.requests.len().to_string(),
            "asked" if is_number => reads().count().to_string(),
            "asked" => listed(reads().map(|it| it.1.clone())),
            "commits" => since(0),
            "reads" => since(1),
            "progress" => self.progress.lock().unwrap().join(" "),
            "problems" => self.report[what].as_array().unwrap().len().to_string(),
            "gap" => listed(self.report["gaps"].as_array().unwrap().iter().map(text_of)),
            "refuted" => {
                let problems = self.report["problems"].as_array().unwrap().iter();
                let mut refuted = problems.filter_map(|it| {
                    let (_, record) = it.as_str()?.split_once("does not hold: ")?;
                    record.split(' ').next()
                });
                refuted.next().unwrap_or("nothing").to_owned()
            }
            "says" if self.text.contains(&expected) => expected,
            "says" => self.text.clone(),
            "hides" if self.text.contains(&expected) => self.text.clone(),
            "hides" => expected,
            "why" if text_of(&self.report[what]).contains(&expected) => expected,
            "consumers" => {
                let known = self.replica.consumers().await.unwrap().into_iter();
                let shown = known.map(|it| {
                    let late = if it.is_catching_up { " late" } else { "" };
                    format!("{} {}{late}", it.name, it.acknowledged)
                });
                listed(shown)
            }
            "changes" => {
                let all = self
                    .memory
                    .changes("envd-1", ChangeRange::After(0), usize::MAX);
                all.await.unwrap().len().to_string()
            }
            "whole" => {
                let record = self.replica.consignment(&*expected).await.unwrap().unwrap();
                let is_whole = record.depth() == Depth::Full && record.json().contains("answers");
                (if is_whole {
                    expected
                } else {
                    "in part".to_owned()
                })
                .clone()
            }
            "stored" => {
                let stored = self.memory.documents("envd-1", "replica").await.unwrap();
                let is_kept = words
                    .last()
                    .is_some_and(|it| stored[0].text == another_version(it));
                (if is_kept {
                    expected
                } else {
                    stored[0].text.clone()
                })
                .clone()
            }
            _ => text_of(&self.report[what]),
        };
        format!("{what} {seen}")
    }
}

fn another_version(format: &str) -> String {
    format!(r#"{{"format":{format},"nextSequence":7}}"#)
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or(value.to_string(), str::to_owned)
}

/// An edit on the website, or a change in the behaviour of the service.
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
        // An edit that leaves the date of the last change alone.
        ["alter", id, name, value] => {
            let value = if value == "null" {
                Value::Null
            } else {
                value.into()
            };
            records.list.record(id, "").value[name] = value;
        }
        ["day", id, heads] => records.next_day(id, heads.parse().unwrap()),
        ["delete", id] => records.delete(id),
        ["hide", id] => records.list.record(id, "").is_listed = false,
        ["show", id] => records.list.record(id, "").is_listed = true,
        ["mend", id] => records.save(id, |record| *record = json!({"id": id})),
        ["garble", id, how] => {
            records.list.record(id, "").value = match how {
                "null" => Value::Null,
                "no-id" => json!({"id": null}),
                "heads" => json!({"id": id, "heads": "many"}),
                _ => json!({"id": 7, "heads": []}),
            };
        }
        // All dates earlier, as after a restart of the fake.
        ["earlier", time] => {
            for record in records.list.records.values_mut() {
                record.updated -= u64::try_from(span(time).as_millis()).unwrap();
                record.value["updatedAt"] = json!(Timestamp::from(instant(record.updated)));
            }
        }
        ["later", time] => {
            let now = &mut records.list.now;
            #[expect(clippy::cast_possible_truncation, reason = "whole seconds")]
            let milliseconds = (seconds(time) * 1_000.0) as i64;
            *now = now.saturating_add_signed(milliseconds);
        }
        ["compares", what] => {
            use Compared::{Created, Moved, Nothing, Updated};
            let mut all = [Created, Moved, Nothing, Updated].into_iter();
            let compared = all.find(|it| format!("{it:?}").to_lowercase() == what);
            records.list.compared = compared.unwrap();
        }
        ["lag", lists] => records.list.lag = lists.parse().unwrap(),
        ["no", "totals"] => records.list.total = Total::Null,
        ["refuses", cursor] => records.refused = vec![cursor.to_owned()],
        ["reads", status, ..] => records.reads = status.parse().ok(),
        ["error", "at", path] => {
            let part = |part: &str| {
                part.parse::<u64>()
                    .map_or(json!(part), |index| json!(index))
            };
            let path: Value = path.split('.').map(part).collect();
            records.errors = json!([{"message": "a part is missing", "path": path}]);
        }
        _ => panic!("{words:?} is no step"),
    }
}
