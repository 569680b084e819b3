//! What the user wrote, and what the programs did about it: each change is checked when it is marked and when it is sent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::note;
use super::service::{Author, Record, Service, Version};
use super::written::{Declaration, Noted, Text, has_content, text_of};
use envd_sdk::model::Timestamp;

#[derive(Clone, Debug)]
struct Mark {
    entry: u64,
    attempt: usize,
    kind: String,
    text: Option<usize>,
    not_after: Option<SystemTime>,
}

/// What a process has done last.
#[derive(Debug, Default)]
struct Doings {
    mark: Option<Mark>,
    /// The versions of the records that it read since its last change.
    reads: HashMap<String, usize>,
    walk: Option<(u64, bool, SystemTime)>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) texts: Vec<Text>,
    pub(super) declarations: Vec<Declaration>,
    pub(super) entries: BTreeMap<u64, Noted>,
    /// Entries whose calls returned.
    pub(super) acknowledged: BTreeSet<u64>,
    pub(super) settle: u64,
    /// The user has removed entries that were at their end.
    pub(super) is_pruned: bool,
    /// New records were not listed at once.
    pub(super) has_lag: bool,
    /// By how much the clocks of the processes were set in all, in seconds.
    pub(super) skew: u64,
    doings: HashMap<usize, Doings>,
    /// The version that an entry shows as what the service has.
    conflicts: HashMap<u64, usize>,
    /// When walks that ended began, in events, whether they were full, and when on the clock of the process.
    walks: Vec<(u64, bool, SystemTime)>,
    /// Creations of which it is not known whether they have made a record, and need no person.
    open: BTreeSet<u64>,
}

impl Ledger {
    pub(super) fn lists(
        &mut self,
        process: usize,
        is_first: bool,
        is_full: bool,
        event: u64,
        now: SystemTime,
    ) {
        if is_first {
            self.doings.entry(process).or_default().walk = Some((event, is_full, now));
        }
    }

    pub(super) fn listed(&mut self, process: usize, has_next: bool) {
        let walk = &mut self.doings.entry(process).or_default().walk;
        if !has_next {
            self.walks.extend(walk.take());
        }
    }

    pub(super) fn reads(&mut self, process: usize, id: &str, versions: usize) {
        let reads = &mut self.doings.entry(process).or_default().reads;
        reads.insert(id.to_owned(), versions);
    }

    /// The version that a process read last of a record.
    pub(super) fn read_by(&self, process: usize, id: &str) -> Option<usize> {
        self.doings.get(&process)?.reads.get(id).copied()
    }

    /// A document of an entry was written.
    pub(super) fn written(&mut self, process: usize, name: &str, entry: &Value, service: &Service) {
        let id = entry["id"].as_u64().unwrap();
        note(|| {
            format!(
                "{process} writes {name} {}",
                json!([
                    entry["kind"],
                    entry["state"],
                    entry["reason"],
                    entry["target"],
                    entry["consignment"],
                    text_of(&entry["input"]),
                    entry["baseline"]
                ])
            )
        });
        let text = text_of(&entry["input"]);
        let noted = self.entries.entry(id).or_default();
        noted.lane = match &entry["target"] {
            Value::String(_) => json!({"entry": id}),
            target => target.clone(),
        };
        noted.order = entry["order"].as_u64().unwrap();
        let created_at = Timestamp::from(entry["createdAt"].as_str().unwrap());
        let written = (service.events, created_at.to_time().unwrap());
        noted.written.get_or_insert(written);
        let creates = entry["kind"] == "save" && entry["target"] == "new";
        let is_open = match entry["state"].as_str().unwrap() {
            "sending" | "unconfirmed" => true,
            "queued" => entry["doubts"].as_i64() > Some(0),
            _ => false,
        };
        if creates && is_open {
            self.open.insert(id);
        } else {
            self.open.remove(&id);
        }
        if let (false, Some(record)) = (
            entry["conflict"].is_null(),
            entry["target"]["record"].as_str(),
        ) {
            if let Some(read) = self.read_by(process, record) {
                self.check_conflict(entry, &service.records[record], read);
                self.conflicts.entry(id).or_insert(read);
            }
        } else if let Some(shown) = self.conflicts.remove(&id)
            && let Some(text) = text
        {
            let declaration = self.declaration_of(text);
            let seen = &mut self.declarations[declaration].seen;
            *seen = shown.max(*seen);
        }
        if !name.starts_with("outbox/past/") {
            return;
        }
        if let (Some(text), "discarded", "save") = (
            text,
            entry["state"].as_str().unwrap(),
            entry["kind"].as_str().unwrap(),
        ) {
            self.texts[text].is_given_up = true;
        }
        self.entries.entry(id).or_default().is_ended = true;
        let creates = entry["kind"] == "save" && entry["target"] == "new";
        let noted = self.entries.entry(id).or_default();
        if creates
            && entry["state"] == "confirmed"
            && !std::mem::replace(&mut noted.is_confirmed, true)
        {
            self.confirmed(process, entry, service);
        }
    }

    /// A record that an entry made and nobody but the outbox has changed is what the next edit of it was made of.
    fn check_conflict(&self, entry: &Value, record: &Record, read: usize) {
        let Author::Entry(maker, _) = record.maker() else {
            return;
        };
        if entry["reason"] != "conflict" || self.entries[&maker].is_decided {
            return;
        }
        let is_of_others = |one: &Version| one.author == Author::Website || one.is_late;
        assert!(
            record.versions[..read].iter().any(is_of_others),
            "entry {} is a conflict with what the outbox itself has saved: {record:?}",
            entry["id"]
        );
    }

    /// An entry was written as being sent.
    pub(super) fn marked(
        &mut self,
        process: usize,
        entry: &Value,
        copied: &[String],
        service: &Service,
    ) {
        let id = entry["id"].as_u64().unwrap();
        let attempt = usize::try_from(entry["attempts"].as_u64().unwrap()).unwrap();
        let noted = self.entries.entry(id).or_default();
        if attempt <= noted.attempts {
            return;
        }
        let others = self.open.iter().filter(|open| **open != id);
        assert!(
            entry["target"] != "new" || entry["doubts"].as_i64() > Some(1) || others.count() == 0,
            "entry {id} is sent while it is open what became of {:?}",
            self.open
        );
        noted.attempts = attempt;
        noted.sent.extend(text_of(&entry["input"]));
        let kind = entry["kind"].as_str().unwrap().to_owned();
        let text = text_of(&entry["input"]);
        if entry["baseline"].is_u64() && attempt > 1 && !noted.is_resent {
            for record in copied.iter().filter_map(|id| service.records.get(id)) {
                let is_own = matches!(record.maker(), Author::Entry(maker, _) if maker == id);
                assert!(
                    !(is_own && record.versions.len() == 1),
                    "entry {id} is made again, and the copy has {record:?}"
                );
            }
        }
        if let (Some(text), "submit") = (text, kind.as_str()) {
            let last = self.last_written(self.declaration_of(text));
            assert!(
                last.is_none_or(|last| text >= last),
                "entry {id} submits the text {text} and not {last:?}"
            );
        }
        let mark = Mark {
            entry: id,
            attempt,
            kind,
            text,
            not_after: entry["notAfter"]
                .as_str()
                .map(|limit| Timestamp::from(limit).to_time().unwrap()),
        };
        self.doings.entry(process).or_default().mark = Some(mark);
    }

    /// Whether an entry is at its end, so that it may be removed.
    pub(super) fn is_ended(&self, entry: u64) -> bool {
        self.entries.get(&entry).is_some_and(|noted| noted.is_ended)
    }

    /// The service does not carry a change out, and its program hears so.
    pub(super) fn turned_down(&mut self, entry: u64) {
        self.entries.entry(entry).or_default().was_turned_down = true;
    }

    /// Checks a change that is sent now. Returns its entry and attempt.
    pub(super) fn sends(
        &mut self,
        process: usize,
        now: SystemTime,
        operation: &str,
        variables: &Value,
        service: &Service,
    ) -> (u64, usize) {
        let doings = self.doings.entry(process).or_default();
        let mark = doings.mark.take();
        let mark =
            mark.unwrap_or_else(|| panic!("{operation} is sent without a mark: {variables}"));
        let reads = std::mem::take(&mut doings.reads);
        let (entry, attempt) = (mark.entry, mark.attempt);
        assert!(
            mark.not_after.is_none_or(|limit| now <= limit),
            "entry {entry} is sent after its limit"
        );
        let input = &variables["input"];
        match (operation, input["id"].as_str().or(variables["id"].as_str())) {
            ("CreateOrSaveConsignment", Some(id)) => {
                self.check_save(&mark, id, input, reads.get(id).copied(), service);
            }
            ("CreateOrSaveConsignment", None) => {
                assert_eq!(input["status"], "DRAFT", "a new record is a draft");
                assert_eq!(
                    text_of(input),
                    mark.text,
                    "entry {entry} sends another text"
                );
                self.check_creation(&mark, service);
            }
            ("DeleteConsignment", Some(id)) => {
                let wanted = self
                    .declarations
                    .iter()
                    .any(|one| one.wants_delete && one.record.as_deref() == Some(id));
                assert!(wanted, "entry {entry} deletes {id}, which nobody wanted");
                let record = &service.records[id];
                let is_decided = self.entries[&entry].is_decided;
                let seen = reads.get(id).map(|read| &record.versions[read - 1]);
                assert!(
                    is_decided || seen.is_some_and(|seen| seen.value["status"] == "DRAFT"),
                    "entry {entry} deletes {id}, which is no draft any more"
                );
            }
            ("CreateComment", _) => {}
            other => panic!("{other:?}"),
        }
        let noted = self.entries.entry(entry).or_default();
        noted.departed = (service.now, service.events);
        (noted.was_turned_down, noted.is_resent) = (false, false);
        (entry, attempt)
    }

    fn check_creation(&self, mark: &Mark, service: &Service) {
        let noted = &self.entries[&mark.entry];
        if mark.attempt == 1 && self.skew == 0 {
            let (event, at) = noted.written.unwrap();
            let mut walks = self.walks.iter();
            assert!(
                walks.any(|(begun, _, when)| *begun > event || *when >= at),
                "entry {} is made, and the list was read before it was written",
                mark.entry
            );
        }
        if mark.attempt == 1 || noted.is_resent {
            return;
        }
        let (seconds, event) = noted.departed;
        let entry = mark.entry;
        if event == 0 || noted.was_turned_down {
            return;
        }
        // Clocks that are far apart leave nothing of it.
        let is_settled = service.now + self.skew >= seconds + self.settle || self.skew > 1_800;
        assert!(
            is_settled,
            "entry {entry} was sent at {seconds} and is again at {}",
            service.now
        );
        let walks = self.walks.iter().filter(|walk| walk.0 > event);
        assert!(
            walks.count() >= 2,
            "entry {entry} is sent again after fewer than two looks"
        );
        let looked = self.last_look();
        for (id, record) in &service.records {
            let is_own = matches!(record.maker(), Author::Entry(maker, _) if maker == entry);
            let was_listed = service.is_listed(record) && record.versions[0].event < looked;
            assert!(
                !(is_own && was_listed && record.versions.len() == 1),
                "entry {entry} is made again, and {id} was listed"
            );
        }
    }

    /// When the last walk that was copied began at the latest. A full one is followed by a list that is not copied.
    fn last_look(&self) -> u64 {
        match self.walks.as_slice() {
            [.., (begun, true, _), (_, false, _)] | [.., (begun, ..)] => *begun,
            [] => 0,
        }
    }

    fn check_save(
        &mut self,
        mark: &Mark,
        id: &str,
        input: &Value,
        read: Option<usize>,
        service: &Service,
    ) {
        let entry = mark.entry;
        let read = read.unwrap_or_else(|| panic!("entry {entry} saves {id} unread"));
        let record = &service.records[id];
        let text = mark.text.unwrap();
        assert_eq!(
            text_of(input),
            Some(text),
            "entry {entry} sends another text"
        );
        let (is_blind, number) = (self.texts[text].is_blind, self.declaration_of(text));
        let declaration = &mut self.declarations[number];
        let is_seen = record.shows_nothing_new(declaration.seen, read);
        assert!(
            is_blind || is_seen,
            "entry {entry} overwrites what the website made of {id} with the text {text}: {} {read} {record:?}",
            declaration.seen
        );
        if is_blind {
            declaration.seen = read;
            for text in 0..self.texts.len() {
                self.texts[text].is_blind &= self.declaration_of(text) != number;
            }
        }
        let declaration = &self.declarations[number];
        if let Some(known) = &declaration.record {
            assert_eq!(known, id, "entry {entry}");
        }
        if input["status"] == "SUBMITTED" {
            assert!(
                mark.kind == "submit" && declaration.wants_submit,
                "entry {entry} submits {id} unasked"
            );
            assert!(
                record.versions[..read]
                    .iter()
                    .any(|one| one.author != Author::Website)
                    || declaration.seen > 0,
                "entry {entry} submits {id}, which nobody here has written or seen"
            );
            let is_own = |version: &Version| {
                version.author != Author::Website && version.value["status"] == "SUBMITTED"
            };
            let is_again = record.versions[..read].iter().any(is_own);
            assert!(
                !is_again || self.entries[&entry].is_decided,
                "entry {entry} submits {id} again"
            );
        } else {
            assert_eq!(mark.kind, "save", "entry {entry}");
        }
    }

    /// A creation was confirmed with this record.
    fn confirmed(&mut self, process: usize, entry: &Value, service: &Service) {
        let id = entry["id"].as_u64().unwrap();
        let Some(record) = entry["consignment"].as_str() else {
            return;
        };
        let known = &service.records[record];
        let is_own = matches!(known.maker(), Author::Entry(maker, _) if maker == id);
        let read = self.read_by(process, record);
        let noted = self.entries.entry(id).or_default();
        let is_decided = noted.is_decided;
        if !is_own && !is_decided {
            assert_eq!(
                known.maker(),
                Author::Website,
                "entry {id} adopts {record} of another entry: {known:?}"
            );
            let read = read.unwrap_or_else(|| panic!("entry {id} adopts {record} unread"));
            let sent: Vec<usize> = noted.sent.iter().copied().collect();
            let is_same = |text: &usize| has_content(known, read, &self.texts[*text].content);
            assert!(
                sent.iter().any(is_same),
                "entry {id} adopts {record}, which is not what it sent: {known:?}"
            );
        }
        if let Some(text) = text_of(&entry["input"]) {
            let number = self.declaration_of(text);
            let declaration = &mut self.declarations[number];
            declaration.record = Some(record.to_owned());
            if !is_own {
                declaration.seen = declaration.seen.max(read.unwrap_or(0));
            }
            self.unite(number);
        }
    }
}
