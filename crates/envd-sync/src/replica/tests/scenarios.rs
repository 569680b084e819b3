//! The steps of the scenarios of a copy: edits on the website, actions of programs, and the checks of the result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::table;

use super::listing::{Compared, ListOrder, ListedRecord, Total, instant};
use super::site::{Records, Site, copied, delivered, described};
use super::words::{
    AlteredField, ComparedWord, Damage, DateWord, Does, Happening, Nth, Order, OtherProgram,
    Pruning, SavedField, Seconds, Sees, Step, WebsiteStep,
};
use crate::error::{Error, Result};
use crate::replica::{Change, Changes, Depth, Replica, ScanProgress};
use crate::store::rows::{Batch, ChangeRange};
use crate::store::tests::faulty_store::{FaultyStore, Moment};
use crate::store::{MemorySync, SyncStore};
use crate::tests::script::{Stage, Vocabulary, listed, play, refuses_misspelled};
use crate::tests::shown;
use envd_sdk::model::Timestamp;
use envd_sdk::profile::{ComparedDate, Source, Sourced};

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
    play::<Play>(table!("scans.txt")).await;
}

/// Holds: a gap in the same place scan after scan is known.
/// Holds: failure point 24: the next full scan finds all, says so, and the account is read in full from then on.
/// Holds: what another version wrote is neither read nor overwritten.
#[tokio::test]
async fn doubtful_lists_are_delivered_as_the_table_says() {
    play::<Play>(table!("doubts.txt")).await;
}

/// Holds: a consumer that is named late is told everything.
/// Holds: consumers do not disturb each other, and two processes with one lose nothing.
/// Holds: failure point 22: several processes.
/// Holds: a record that is listed again meanwhile stays.
/// Holds: what is older than the horizon is neither scanned nor gone.
/// Holds: retention prunes rows, and tells consumers only if asked.
#[tokio::test]
async fn consumers_and_other_programs_see_what_the_table_says() {
    play::<Play>(table!("others.txt")).await;
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
    fn with(count: usize, order: Option<Order>) -> Self {
        let site = Site::with(count);
        let memory = MemorySync::new();
        site.lock().list.order = match order {
            Some(Order::ById) => ListOrder::Id,
            Some(Order::EarliestFirst) => ListOrder::EarliestUpdateFirst,
            Some(Order::LatestFirst) | None => ListOrder::LatestUpdateFirst,
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

    /// Schedules what happens before a commit.
    fn before_commit(&self, nth: usize, happenings: Vec<Happening>) {
        let records = self.site.shared();
        let other = self.site.replica(self.memory.clone());
        let happens = async move {
            for happening in happenings {
                match happening {
                    Happening::OtherProgram(OtherProgram::SyncFull) => {
                        drop(other.sync_full().await.unwrap());
                    }
                    Happening::OtherProgram(OtherProgram::Sync) => {
                        drop(other.sync().await.unwrap());
                    }
                    Happening::Website(edit) => edit_by(&mut records.lock().unwrap(), &edit),
                }
            }
        };
        self.store.at(Moment::BeforeCommit(nth), happens);
    }

    async fn do_step(&mut self, does: Does) -> Result<()> {
        let replica = self.replica.clone();
        match does {
            Does::With(count, order) => *self = Self::with(count, order),
            Does::Sync => self.sync(false).await?,
            Does::SyncFull => self.sync(true).await?,
            Does::Calm => self.site.make_incremental(&self.replica).await,
            Does::Tell(consumer) => {
                let consumer = consumer.as_deref().unwrap_or("a");
                self.delivered = Some(delivered(&self.replica, consumer).await);
            }
            Does::Hear(feed, most) => self.hear(&feed, most.unwrap_or(usize::MAX)).await?,
            Does::Acknowledge(feed, nth) => {
                let (feed, heard) = self.feeds.get_mut(&feed).unwrap();
                feed.acknowledge(&heard[nth - 1]).await?;
            }
            Does::ChunksOf(size) => self.chunk = size,
            Does::Restart => self.feeds.clear(),
            Does::RemoveConsumer(consumer) => {
                let was_there = self.replica.remove_consumer(&consumer).await?;
                self.text = format!("was there: {was_there}");
            }
            Does::BeforeCommit(nth, happenings) => self.before_commit(nth, happenings),
            Does::BeforeRequest(Nth(number), edit) => {
                let edit = move |records: &mut Records| edit_by(records, &edit);
                self.site.before_request(number, edit);
            }
            Does::TakesCommits(commits) => self.store.allow(commits),
            Does::TakesAll => self.store.allow(usize::MAX),
            Does::Overlap(time) => self.replica = replica.overlap(time),
            Does::Horizon(time) => self.replica = replica.horizon(time),
            Does::Retention(time, pruning) => {
                self.replica = replica.retention(time);
                self.replica.reports_pruned = matches!(pruning, Pruning::Reported);
            }
            Does::PageSize(size) => self.replica = replica.page_size(size),
            Does::DepthFull => self.replica = replica.depth(Depth::Full),
            Does::Date(date) => self.replica.compared = Sourced::seen(compared_date(&date)),
            Does::DateStated(date) => {
                self.replica.compared = Sourced {
                    value: compared_date(&date),
                    source: Source::Stated,
                };
            }
            Does::AdvanceClock(time) => self.site.clock.advance(time),
            Does::SetClockBack(time) => {
                let now = self.site.clock.now();
                self.site.clock.set_wall(now - time);
            }
            Does::OtherVersion(format) => {
                let format = format.to_string();
                let batch = Batch {
                    documents: vec![("replica".to_owned(), Some(another_version(&format)))],
                    ..Batch::default()
                };
                assert!(self.memory.commit("envd-1", &batch).await?);
            }
        }
        Ok(())
    }

    /// A member of the report, as a text.
    fn reported(&self, member: &str) -> String {
        text_of(&self.report[member])
    }
}

impl Stage for Play {
    type Does = Step;
    type Sees = Sees;
    type Error = Error;

    async fn start() -> Self {
        Self::with(0, None)
    }

    async fn act(&mut self, step: Step) -> Result<()> {
        self.delivered = None;
        self.requests = self.site.take_requests();
        self.before = self.counts();
        self.progress.lock().unwrap().clear();
        let done = match step {
            Step::Program(does) => self.do_step(does).await,
            Step::Website(edit) => {
                edit_by(&mut self.site.lock(), &edit);
                Ok(())
            }
        };
        if let Err(error) = &done {
            self.text = format!("{:?} {}", error.kind(), shown(error));
        }
        done
    }

    #[expect(clippy::too_many_lines, reason = "an arm for each check")]
    async fn see(&mut self, sees: &Sees, expected: &str) -> String {
        let expected = expected.to_owned();
        let is_number = expected.parse::<usize>().is_ok();
        let reads = || self.requests.iter().filter(|it| it.0 == "Consignment");
        let since = |nth: usize| (self.counts()[nth] - self.before[nth]).to_string();
        match sees {
            Sees::Copied => match (copied(&self.memory).await, &*expected) {
                (copied, "all") if copied == self.site.ids() => expected,
                (copied, _) if is_number => copied.len().to_string(),
                (copied, _) => listed(copied),
            },
            Sees::Told => {
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
            Sees::From => self.requests[0].2.clone(),
            // An ended program may have requested a later page ahead, which the service still receives.
            Sees::First => {
                let lists = self.requests.iter().filter(|it| it.0 != "Consignment");
                let full = lists.filter(|(_, _, from)| from.is_empty());
                let first = full.map(|(_, cursor, _)| cursor.parse().unwrap_or(0)).min();
                first.map_or("none".to_owned(), |first: usize| first.to_string())
            }
            Sees::Sent => self.requests.len().to_string(),
            Sees::Asked if is_number => reads().count().to_string(),
            Sees::Asked => listed(reads().map(|it| it.1.clone())),
            Sees::Commits => since(0),
            Sees::Reads => since(1),
            Sees::Progress => self.progress.lock().unwrap().join(" "),
            Sees::Problems => self.report["problems"]
                .as_array()
                .unwrap()
                .len()
                .to_string(),
            Sees::Gap => listed(self.report["gaps"].as_array().unwrap().iter().map(text_of)),
            Sees::Refuted => {
                let problems = self.report["problems"].as_array().unwrap().iter();
                let mut refuted = problems.filter_map(|it| {
                    let (_, record) = it.as_str()?.split_once("does not hold: ")?;
                    record.split(' ').next()
                });
                refuted.next().unwrap_or("nothing").to_owned()
            }
            Sees::Says if self.text.contains(&expected) => expected,
            Sees::Says => self.text.clone(),
            Sees::Hides if self.text.contains(&expected) => self.text.clone(),
            Sees::Hides => expected,
            Sees::Why if self.reported("why").contains(&expected) => expected,
            Sees::Why => self.reported("why"),
            Sees::Consumers => {
                let known = self.replica.consumers().await.unwrap().into_iter();
                let shown = known.map(|it| {
                    let late = if it.is_catching_up { " late" } else { "" };
                    format!("{} {}{late}", it.name, it.acknowledged)
                });
                listed(shown)
            }
            Sees::Changes => {
                let all = self
                    .memory
                    .changes("envd-1", ChangeRange::After(0), usize::MAX);
                all.await.unwrap().len().to_string()
            }
            Sees::Whole => {
                let record = self.replica.consignment(&*expected).await.unwrap().unwrap();
                let is_whole = record.depth() == Depth::Full && record.json().contains("answers");
                if is_whole {
                    expected
                } else {
                    "in part".to_owned()
                }
            }
            Sees::StoredVersion => {
                let stored = self.memory.documents("envd-1", "replica").await.unwrap();
                if stored[0].text == another_version(&expected) {
                    expected
                } else {
                    stored[0].text.clone()
                }
            }
            Sees::Mode
            | Sees::Clean
            | Sees::Seen
            | Sees::Appeared
            | Sees::Changed
            | Sees::Gone
            | Sees::Pruned
            | Sees::Pages
            | Sees::Requests
            | Sees::Restarts
            | Sees::Resumed
            | Sees::Watermark
            | Sees::NextFullWalk => self.reported(sees.phrase()),
        }
    }
}

fn another_version(format: &str) -> String {
    format!(r#"{{"format":{format},"nextSequence":7}}"#)
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or(value.to_string(), str::to_owned)
}

fn compared_date(word: &DateWord) -> Option<ComparedDate> {
    match word {
        DateWord::LastChange => Some(ComparedDate::LastChange),
        DateWord::Creation => Some(ComparedDate::Creation),
        DateWord::Movement => Some(ComparedDate::Movement),
        DateWord::Unknown => None,
    }
}

/// A record that exists.
fn known<'r>(records: &'r mut Records, id: &str) -> &'r mut ListedRecord {
    let record = records.list.records.get_mut(id);
    record.unwrap_or_else(|| panic!("there is no record {id}"))
}

/// Makes an edit on the website, or changes the behaviour of the service.
fn edit_by(records: &mut Records, step: &WebsiteStep) {
    match step {
        WebsiteStep::Save(id, None) => records.save(id, |_| {}),
        WebsiteStep::Save(id, Some(field)) => records.save(id, |record| match field {
            SavedField::Heads(heads) => record["heads"] = json!(heads),
            SavedField::Origin(pic) => record["origin"] = json!({"pic": pic}),
            SavedField::Status(status) => record["status"] = json!(status),
            SavedField::MovementDate(day) => record["movementDate"] = json!(day),
        }),
        WebsiteStep::Alter(id, field, value) => {
            let value = if value == "null" {
                Value::Null
            } else {
                json!(value)
            };
            known(records, id).value[field.phrase()] = value;
        }
        WebsiteStep::NextDay(id, heads) => records.next_day(id, *heads),
        WebsiteStep::Delete(id) => records.delete(id),
        WebsiteStep::Hide(id) => known(records, id).is_listed = false,
        WebsiteStep::Show(id) => known(records, id).is_listed = true,
        WebsiteStep::Mend(id) => records.save(id, |record| *record = json!({"id": id})),
        WebsiteStep::Garble(id, damage) => {
            known(records, id).value = match damage {
                Damage::Null => Value::Null,
                Damage::NoId => json!({"id": null}),
                Damage::Heads => json!({"id": id, "heads": "many"}),
                Damage::Id => json!({"id": 7, "heads": []}),
            };
        }
        WebsiteStep::Earlier(time) => {
            for record in records.list.records.values_mut() {
                record.updated -= u64::try_from(time.as_millis()).unwrap();
                record.value["updatedAt"] = json!(Timestamp::from(instant(record.updated)));
            }
        }
        WebsiteStep::Later(Seconds(seconds)) => {
            let now = &mut records.list.now;
            #[expect(clippy::cast_possible_truncation, reason = "whole seconds")]
            let milliseconds = (seconds * 1_000.0) as i64;
            *now = now.saturating_add_signed(milliseconds);
        }
        WebsiteStep::Compares(date) => {
            records.list.compared = match date {
                ComparedWord::Created => Compared::Created,
                ComparedWord::Moved => Compared::Moved,
                ComparedWord::Nothing => Compared::Nothing,
                ComparedWord::Updated => Compared::Updated,
            };
        }
        WebsiteStep::Lag(lists) => records.list.lag = *lists,
        WebsiteStep::NoTotals => records.list.total = Total::Null,
        WebsiteStep::RefusesCursor(cursor) => records.refused = vec![cursor.clone()],
        WebsiteStep::ReadsAnswer(status) => records.reads = Some(*status),
        WebsiteStep::ReadsAsTheyAre => records.reads = None,
        WebsiteStep::ErrorAt(path) => {
            let part = |part: &str| {
                part.parse::<u64>()
                    .map_or(json!(part), |index| json!(index))
            };
            let path: Value = path.split('.').map(part).collect();
            records.errors = json!([{"message": "a part is missing", "path": path}]);
        }
    }
}

/// Each word of each vocabulary, misspelled, is an error with the place and the known words.
#[test]
fn misspelled_words_are_refused() {
    refuses_misspelled::<Play, Does>("{} 1");
    refuses_misspelled::<Play, Order>("with 3 {}");
    refuses_misspelled::<Play, Pruning>("retention 10d {}");
    refuses_misspelled::<Play, DateWord>("date stated {}");
    refuses_misspelled::<Play, OtherProgram>("before commit 1 save a and {}");
    refuses_misspelled::<Play, WebsiteStep>("{} r001");
    refuses_misspelled::<Play, WebsiteStep>("before 2: {} r001");
    refuses_misspelled::<Play, SavedField>("save r001 {} 1");
    refuses_misspelled::<Play, AlteredField>("alter r001 {} null");
    refuses_misspelled::<Play, Damage>("garble r001 {}");
    refuses_misspelled::<Play, ComparedWord>("compares {}");
    refuses_misspelled::<Play, Sees>("sync -> {}");
}
