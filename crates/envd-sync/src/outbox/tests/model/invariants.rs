//! The invariants of the outbox, and the history they need: the texts that the user wrote, saw and agreed to. The invariants follow from the
//! promises, not from the code. They check each row that is committed, each request that is sent, and each change that the service
//! carries out. The random schedules of the pure functions and those of the loop share them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Arguments;

use serde_json::Value;
use test_support::plain_service::{Author, Outcome, Record, Service, Version};
use test_support::schedules::note;

use crate::outbox::apply::{Intent, RowEvent};
use crate::outbox::compare::ServiceRecord;
use crate::outbox::decision::Decision;
use crate::outbox::row::{
    ChangeRequest, Desired, HistoryEventKind, Listing, Question, Row, RowState, Text,
};

/// The user's calls about a row in one copy of the store, and their effects.
#[derive(Clone, Debug, Default)]
struct Doings {
    /// The number of versions of each record that the user saw.
    seen: BTreeMap<String, usize>,
    /// The contents that the user agreed to change although they are not drafts.
    agreed: BTreeSet<Leaves>,
    /// The records that the user named as the declaration.
    named: BTreeSet<String>,
    given: BTreeSet<Text>,
    /// Texts that an edit of the row replaced before they were sent.
    replaced: BTreeSet<Text>,
    wants_submit: bool,
    wants_delete: bool,
    /// The records in the replica when the row was written, or before the first creation without a clear answer.
    copy: BTreeSet<String>,
    /// The number of lists that had started at the user's last call.
    written: u64,
    /// When the first request without a clear answer was sent, and the number of lists that had started when the last one was.
    doubt: Option<(u64, u64)>,
    unclear_since: Option<u64>,
    is_decided: bool,
    /// The last record of the row.
    record: Option<String>,
}

impl Doings {
    fn gave(&mut self, text: &Text) {
        let text = Text::new(&text.value());
        self.replaced.remove(&text);
        self.given.insert(text);
    }
}

/// A request, and the knowledge of its program when it was marked.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) row: u64,
    pub(super) request: ChangeRequest,
    /// The input that is sent; `None`: a delete.
    pub(super) body: Option<Value>,
    /// The number of versions of the record that the program had read.
    read: usize,
    doings: Doings,
}

impl Flight {
    /// If `is_draft`, the service saves the text but not the status.
    pub(super) fn saved(mut self, is_draft: bool) -> Self {
        if let (true, ChangeRequest::Submit(id, text)) = (is_draft, &self.request) {
            self.request = ChangeRequest::Update(id.clone(), text.clone());
            if let Some(body) = self.body.as_mut().and_then(Value::as_object_mut) {
                body.remove("status");
            }
        }
        self
    }
}

/// A commit of a row to one copy of the store.
pub(super) struct Commit<'a> {
    pub(super) store: usize,
    pub(super) row: &'a Row,
    /// The user's call that caused the commit, if any.
    pub(super) act: Option<&'a RowEvent>,
    /// The ids of the records that the replica lists.
    pub(super) copy: BTreeSet<String>,
    /// The number of versions of the row's record that the program has read.
    pub(super) read: usize,
}

pub(super) struct Invariants {
    /// The form of times in records.
    date: fn(u64) -> String,
    /// The last committed rows, by copy of the store.
    pub(super) rows: BTreeMap<(usize, u64), Row>,
    /// The rows that were pruned.
    pub(super) pruned: BTreeSet<u64>,
    doings: BTreeMap<(usize, u64), Doings>,
    /// The number of lists that started in any copy of the store.
    begun: u64,
    /// The complete lists: the copy of the store, the number at the start, and the last event of the service before it.
    searches: Vec<(usize, u64, u64)>,
}

type Leaves = BTreeMap<String, String>;

/// How a record agrees with a text, leaf by leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    Whole,
    More,
    Load,
    No,
}

/// Whether two texts are forms of the same value to the service.
pub(super) fn same_text(sent: &str, read: &str) -> bool {
    let day = |text: &str| {
        let is_instant = text.ends_with("T00:00:00.000Z");
        text.get(..10).filter(|_| is_instant).map(str::to_owned)
    };
    sent == read || day(read).as_deref() == Some(sent) || day(sent).as_deref() == Some(read)
}

fn same(one: &str, other: &str) -> bool {
    same_text(one.trim(), other.trim())
}

/// The leaves of a record by path, in the form in which the invariants compare them.
fn leaves(value: &Value) -> Leaves {
    fn scan(found: &mut Leaves, path: &str, value: &Value) {
        match value {
            Value::Object(parts) => {
                for (name, part) in parts {
                    scan(found, &format!("{path}/{name}"), part);
                }
            }
            Value::Array(items) if path == "/answers" => {
                for answer in items {
                    let path = format!("{path}/{}/{}", answer["questionId"], answer["index"]);
                    scan(found, &path, &answer["value"]);
                }
            }
            Value::Null => {}
            Value::String(text) => {
                found.insert(path.to_owned(), text.clone());
            }
            other => {
                found.insert(path.to_owned(), other.to_string());
            }
        }
    }
    let mut found = Leaves::new();
    scan(&mut found, "", value);
    found
}

fn agreement(service: &Service, text: &Text, record: &Value) -> Agreement {
    let text = leaves(&text.value());
    let mut read = leaves(record);
    read.remove("/status");
    // Fields that the service fills in have no author.
    if service.habits.fills && !text.contains_key("/destination/name") {
        read.remove("/destination/name");
    }
    let has = |path: &str| {
        let pair = text.get(path).zip(read.get(path));
        pair.is_some_and(|(text, read)| same(text, read))
    };
    let mut sent = text.iter().filter(|(_, value)| !value.trim().is_empty());
    let load = ["/forms", "/movementDate", "/origin/pic", "/destination/pic"];
    if sent.all(|(path, _)| has(path)) {
        let is_whole = read.keys().all(|path| text.contains_key(path));
        if is_whole {
            Agreement::Whole
        } else {
            Agreement::More
        }
    } else if load.into_iter().all(has) {
        Agreement::Load
    } else {
        Agreement::No
    }
}

/// Whether a version of a record agrees completely with one of the texts.
fn is_whole<'a>(
    service: &Service,
    version: &Version,
    texts: impl IntoIterator<Item = &'a Text>,
) -> bool {
    let mut texts = texts.into_iter();
    texts.any(|text| agreement(service, text, &version.value) == Agreement::Whole)
}

fn forbid(is_broken: bool, invariant: Arguments<'_>) {
    assert!(!is_broken, "{invariant}");
}

impl Invariants {
    pub(super) fn new(date: fn(u64) -> String) -> Self {
        Self {
            date,
            rows: BTreeMap::new(),
            pruned: BTreeSet::new(),
            doings: BTreeMap::new(),
            begun: 0,
            searches: Vec::new(),
        }
    }

    fn of(&mut self, store: usize, row: u64) -> &mut Doings {
        self.doings.entry((store, row)).or_default()
    }

    fn is_copied(&self) -> bool {
        self.rows.keys().any(|(store, _)| *store == 1)
    }

    /// Records that the store was copied.
    #[allow(dead_code)] // OK because only the schedules of the pure functions copy one.
    pub(super) fn copied(&mut self) {
        let doings = self.doings.clone().into_iter();
        let copied = doings.map(|((_, row), doings)| ((1, row), doings));
        self.doings.extend(copied);
        let searches = self.searches.clone().into_iter();
        self.searches
            .extend(searches.map(|(_, begun, event)| (1, begun, event)));
        let rows = self.rows.clone().into_iter();
        self.rows.extend(rows.map(|((_, id), row)| ((1, id), row)));
    }

    fn others(&self, store: usize, row: u64) -> impl Iterator<Item = &Row> {
        let others = self.rows.iter();
        let others = others.filter(move |((of, id), _)| *of == store && *id != row);
        others.map(|(_, row)| row)
    }

    /// Counts a list that starts now.
    pub(super) fn list_begins(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// Records a list that was read to its end. It started with this number, after this event of the service.
    pub(super) fn listed(&mut self, store: usize, begun: u64, event: u64) {
        self.searches.push((store, begun, event));
    }

    /// The index of this version of its record.
    fn version(&self, service: &Service, record: &ServiceRecord) -> usize {
        let mut versions = service.records[&record.id].versions.iter();
        let is_shown = |version: &Version| (self.date)(version.at) == record.updated_at;
        versions.position(is_shown).unwrap()
    }

    /// Records that the user saw a record. A record known only by its id counts as seen in every version.
    fn saw(&mut self, service: &Service, key: (usize, u64), record: &ServiceRecord) {
        let version = match record.updated_at.as_str() {
            "" => usize::MAX,
            _ => self.version(service, record) + 1,
        };
        let seen = self.of(key.0, key.1).seen.entry(record.id.clone());
        let seen = seen.or_default();
        *seen = version.max(*seen);
    }

    /// Checks a commit of a row. Returns the request if it was marked.
    pub(super) fn committed(&mut self, service: &Service, commit: &Commit<'_>) -> Option<Flight> {
        let &Commit { store, row, .. } = commit;
        let (id, key) = (row.id, (store, row.id));
        let new = Row::new(id, row.record.clone(), Listing::default(), 0);
        let before = self.rows.insert(key, row.clone());
        if before.is_none() {
            self.of(store, id).copy.clone_from(&commit.copy);
        }
        if before.as_ref() == Some(row) {
            return None;
        }
        let before = before.unwrap_or(new);
        let happened = row.history.len().saturating_sub(before.history.len());
        let happened = row.history.len() - happened.max(1).min(row.history.len());
        let events: Vec<HistoryEventKind> = row.history[happened..]
            .iter()
            .map(|one| one.event)
            .collect();
        if row.state != RowState::Discarded && row.record.is_some() {
            let is_one = |other: &Row| {
                let is_there =
                    other.state != RowState::Discarded && !self.pruned.contains(&other.id);
                is_there && other.record == row.record
            };
            forbid(
                self.others(store, id).any(is_one),
                format_args!("{:?} belongs to row {id} and another one", row.record),
            );
        }
        let is_over = matches!(row.state, RowState::Confirmed | RowState::Discarded);
        let is_unknown = before.is_creation_in_doubt() && row.record.is_none();
        forbid(
            is_unknown && is_over && row.lost.is_none(),
            format_args!("a creation in doubt is not watched: {row:?}"),
        );
        forbid(
            commit.act.is_none() && row.desired != before.desired,
            format_args!("nobody has changed the intent of {before:?} to {row:?}"),
        );
        if let (RowState::Asked(Question::Changed(read)), true) =
            (&row.state, before.state != row.state)
        {
            self.check_question(service, key, row, read);
        }
        self.check_patience(service.now, key, &before, &events, row);
        if events.contains(&HistoryEventKind::Applied)
            && before.record.is_none()
            && before.adopt.is_none()
        {
            // Only if it is not from the reply to a request.
            if before.state != RowState::Sending {
                self.check_adopted(service, key, &before, row);
            }
        }
        if events.contains(&HistoryEventKind::Reported) {
            self.check_reported(service, store, &before, row);
        }
        match commit.act {
            Some(RowEvent::Requested { intent, base, .. }) => {
                // The user saw these records before the declaration was written again.
                if before.state == RowState::Confirmed && before.record.is_none() {
                    self.of(store, id).copy.clone_from(&commit.copy);
                }
                // A creation that the same commit found again may be at rest before the edit.
                let is_found = events.contains(&HistoryEventKind::Applied);
                let asked = (intent, base.as_ref());
                self.requested(service, key, &before, is_found, asked, row);
            }
            Some(RowEvent::Decided(decision)) => self.decided(service, commit, &before, decision),
            _ => {}
        }
        let sent = row.sent.as_ref()?;
        (events == [HistoryEventKind::SendStarted])
            .then(|| self.marked(service, commit, &before, &sent.request))
    }

    /// Checks a marked request, and returns it for sending.
    fn marked(
        &mut self,
        service: &Service,
        commit: &Commit<'_>,
        row: &Row,
        request: &ChangeRequest,
    ) -> Flight {
        let store = commit.store;
        let id = row.id;
        if let ChangeRequest::Create(text) = request {
            self.check_creation(service, commit, row, text);
        }
        forbid(
            request.text() != row.next_desired().text(),
            format_args!("{request:?} is not what is wanted: {row:?}"),
        );
        let doings = self.of(store, id).clone();
        let over = commit.row.sent.as_ref();
        let over = over.and_then(|sent| sent.before.as_ref());
        let request_body = request.sent(over.map(|record| &record.fields));
        let sent = request_body.clone().unwrap_or_default();
        let date = sent["movementDate"].as_str().unwrap_or_default();
        let is_late = date < "2026" && !date.is_empty() && !row.agreed.late.contains(date);
        forbid(
            is_late,
            format_args!("row {id} is sent although {date} has passed"),
        );
        let kept = request.record().and_then(|id| service.records.get(id));
        // A service that ignores null keeps the signature that an unsigned text removes.
        let kept = kept.filter(|_| request.sent(None) == request_body);
        if let Some((kept, at)) = kept.zip(commit.read.checked_sub(1))
            && let Some(sent) = sent.as_object()
        {
            let there = &kept.versions[at].value;
            let mut after = there.clone();
            after.as_object_mut().unwrap().extend(sent.clone());
            forbid(
                leaves(&after) == leaves(there),
                format_args!("row {id} sends what is there already: {request:?}"),
            );
        }
        let is_wanted = match request {
            ChangeRequest::Submit(..) => doings.wants_submit,
            ChangeRequest::Delete(_) => doings.wants_delete,
            _ => true,
        };
        forbid(
            !is_wanted,
            format_args!("invariant 1: row {id} sends {request:?} unasked"),
        );
        if let Some(text) = request.text().filter(|text| text.is_signed()) {
            let text = Text::new(&text.value());
            forbid(
                doings.replaced.contains(&text),
                format_args!("row {id} sends an old signature: {text:?}"),
            );
            forbid(
                !doings.given.contains(&text),
                format_args!("row {id} sends a signed text that nobody gave: {text:?}"),
            );
        }
        Flight {
            row: id,
            request: request.clone(),
            body: request_body,
            read: commit.read,
            doings,
        }
    }

    fn check_creation(&mut self, service: &Service, commit: &Commit<'_>, row: &Row, text: &Text) {
        let store = commit.store;
        let id = row.id;
        let doings = self.of(store, id).clone();
        let searches = |since: u64| {
            let since = |look: &&(usize, u64, u64)| look.0 == store && look.1 > since;
            self.searches.iter().filter(since).count()
        };
        // A request without a clear answer must be searched for twice.
        let is_early = doings.doubt.is_some_and(|(_, begun)| searches(begun) < 2);
        forbid(
            is_early || searches(doings.written) == 0,
            format_args!("row {id} is sent after too few looks: {row:?}"),
        );
        let had = doings.record.as_ref().map(|id| &service.records[id]);
        forbid(
            had.is_some_and(|kept| !kept.is_deleted),
            format_args!("row {id} is made twice: {had:?} is there"),
        );
        let is_open = |other: &&Row| match &other.state {
            RowState::Sending => other.record.is_none(),
            RowState::Open { .. } if other.record.is_none() => {
                other.is_creation_in_doubt() && !row.is_creation_in_doubt()
            }
            _ => false,
        };
        let open = self.others(store, id).find(is_open);
        forbid(
            open.is_some(),
            format_args!("row {id} creates while {open:?} is open"),
        );
        let doubt = row.lost.as_ref().filter(|_| row.is_creation_in_doubt());
        let texts = doubt.map_or_else(|| vec![text.clone()], |lost| lost.texts.clone());
        for other in commit.copy.difference(&doings.copy) {
            let kept = &service.records[other];
            let is_of = |by: &Row| by.record.as_ref() == Some(other) || by.is_about(other);
            // Of a pruned row only its record is known, not whether the user had named it.
            let is_maker = |by: &Row| !by.is_named || self.pruned.contains(&by.id);
            let has = |by: &Row| is_of(by) && is_maker(by) || by.duplicates.contains(other);
            let is_anothers = self.others(store, id).any(has);
            if kept.is_deleted || is_anothers || row.agreed.not.contains(other) {
                continue;
            }
            let is_of_website = |version: &Version| version.author == Author::Website;
            let is_its_own = kept.maker() == Author::Row(id)
                && !self.is_copied()
                && !row.duplicates.contains(other)
                && !kept.versions.iter().any(is_of_website);
            let is_anothers = kept.created_by == "pat" && !service.habits.hides_author;
            // Any version may have been read.
            let may_be = |version: &Version| {
                let agreements = texts
                    .iter()
                    .map(|text| agreement(service, text, &version.value));
                agreements.into_iter().any(|agreement| match agreement {
                    Agreement::Whole | Agreement::More => doubt.is_some() || !is_anothers,
                    Agreement::Load => doubt.is_some(),
                    Agreement::No => false,
                })
            };
            forbid(
                is_its_own || kept.versions.iter().all(may_be),
                format_args!("row {id} makes a declaration beside {other} {kept:?}: {row:?}"),
            );
        }
        if doubt.is_none() {
            self.of(store, id).copy.clone_from(&commit.copy);
        }
    }

    fn check_reported(&self, service: &Service, store: usize, before: &Row, row: &Row) {
        let texts = before.lost.as_ref().map_or(&[][..], |lost| &lost.texts);
        let looked = self.searches.iter().rev().find(|look| look.0 == store);
        let looked = looked.map_or(0, |look| look.2);
        let new = row.duplicates.iter();
        for id in new.filter(|id| !before.duplicates.contains(id)) {
            let kept = &service.records[id];
            // The row cannot know what the service fills in, so it reports each record that has everything that was sent.
            let is_twin = |version: &Version| {
                texts.iter().any(|text| {
                    let found = agreement(service, text, &version.value);
                    matches!(found, Agreement::Whole | Agreement::More)
                })
            };
            let is_there = |own: &String| {
                let kept = &service.records[own];
                own != id && (!kept.is_deleted || kept.last().event > looked)
            };
            let is_duplicate = (kept.maker() == Author::Row(row.id)
                || kept.versions.iter().any(is_twin))
                // If the user wants no record, every record is surplus.
                && (row.desired == Desired::Delete
                    || row.state == RowState::Discarded
                    || row.record.as_ref().is_none_or(is_there))
                && !self.others(store, row.id).any(|other| other.is_about(id));
            forbid(
                !is_duplicate,
                format_args!("invariant 3: {id} {kept:?} is reported as a duplicate: {row:?}"),
            );
        }
    }

    /// A state that only this row has written, and that the user has not seen elsewhere, must not become a question.
    fn check_question(
        &self,
        service: &Service,
        key: (usize, u64),
        row: &Row,
        read: &ServiceRecord,
    ) {
        let kept = &service.records[&read.id];
        let doings = &self.doings[&key];
        let is_own = |version: &Version| version.author == Author::Row(row.id);
        let versions = &kept.versions[..=self.version(service, read)];
        // A lost change may arrive later and overwrite a newer one.
        let was_lost = row
            .history
            .iter()
            .any(|one| one.event == HistoryEventKind::OutcomeUnknown);
        let is_known = versions.iter().all(is_own) && !was_lost && !self.is_copied();
        // The changes that the service makes to fields are known only after two replies.
        let is_plain = !service.habits.fills && !service.habits.replies_briefly;
        // A service that ignores null keeps a value that the row removed. The user learns that it is still there.
        let is_null = |text: &Text| {
            let text = text.value();
            let mut fields = text.as_object().into_iter().flatten();
            fields.any(|(_, value)| value.is_null())
        };
        let is_plain =
            is_plain && !(service.habits.ignores_null && doings.given.iter().any(is_null));
        let is_only = !doings.is_decided && !doings.seen.contains_key(&read.id);
        forbid(
            is_known && is_plain && is_only,
            format_args!("nobody else has written {kept:?}: {row:?}"),
        );
    }

    /// The user is asked only after a day without a usable answer, or after six resends.
    fn check_patience(
        &mut self,
        now: u64,
        key: (usize, u64),
        before: &Row,
        events: &[HistoryEventKind],
        row: &Row,
    ) {
        let begun = self.begun;
        // The day is measured on the clock of the program.
        let now = row.history.last().map_or(now, |last| last.at);
        let doings = self.of(key.0, key.1);
        doings.record = row.record.clone().or(doings.record.take());
        let first = doings.doubt.map(|(first, _)| first);
        let since = doings.unclear_since;
        for event in events {
            match *event {
                HistoryEventKind::OutcomeUnknown => {
                    doings.doubt = Some((first.unwrap_or(now), begun));
                }
                HistoryEventKind::Applied
                | HistoryEventKind::Refused
                | HistoryEventKind::Decided => doings.doubt = None,
                _ => {}
            }
            match *event {
                HistoryEventKind::Reported => {}
                HistoryEventKind::ReadFailed => {
                    doings.unclear_since = doings.unclear_since.or(Some(now));
                }
                _ => doings.unclear_since = None,
            }
        }
        let is_given_up = row.state == RowState::Asked(Question::ServiceUnresponsive);
        let waited = now.saturating_sub(since.or(first).unwrap_or(now));
        forbid(
            is_given_up
                && events == [HistoryEventKind::Asked]
                && before.doubt.resends() < 6
                && waited < 80_000,
            format_args!("{before:?} gives up after {waited} s"),
        );
    }

    /// A row may adopt only a record that it created, or an indistinguishable one.
    fn check_adopted(&self, service: &Service, key: (usize, u64), before: &Row, row: &Row) {
        let Some(id) = &row.record else {
            return;
        };
        let kept = &service.records[id];
        let doubt = before.lost.clone().unwrap_or_default();
        let mut versions = kept.versions.iter();
        let is_ours = match kept.maker() {
            Author::Row(maker) if maker == before.id || self.is_copied() => true,
            Author::Row(maker) => {
                // The other row has adopted an equal record of another user, so two identical loads still have one record each.
                let has_another = |own: &String| service.records[own].maker() != kept.maker();
                let place = self.rows.get(&(key.0, maker));
                let place = place.and_then(|row| row.record.as_ref());
                versions.any(|version| is_whole(service, version, &doubt.texts))
                    && place.is_some_and(has_another)
            }
            // An equal record of another user cannot be told apart if it appears while the creation is in doubt.
            Author::Website => {
                let is_later = |version: &Version| (self.date)(version.at) > doubt.listed.latest;
                let has_appeared = !self.doings[&key].copy.contains(id);
                has_appeared
                    && versions.any(|version| {
                        let is_draft = version.value["status"] == "DRAFT";
                        is_draft && is_later(version) && is_whole(service, version, &doubt.texts)
                    })
            }
        };
        let maker = kept.maker();
        forbid(
            !is_ours,
            format_args!("{before:?} adopts {id} {kept:?}, made by {maker:?}"),
        );
    }

    /// Checks the effect of an intent. `base`: the record, if another screen edited it.
    fn requested(
        &mut self,
        service: &Service,
        key: (usize, u64),
        before: &Row,
        is_found: bool,
        (intent, base): (&Intent, Option<&ServiceRecord>),
        row: &Row,
    ) {
        let is_touched = before.sent != row.sent || row.state != RowState::Sending;
        forbid(
            before.state == RowState::Sending && is_touched,
            format_args!("a request touches what is under way: {row:?}"),
        );
        let is_submitted = match intent {
            // A fulfilled intent does not affect the next one.
            Intent::Save(_) => {
                let is_first = row.first.is_some() && row.first != before.first;
                let is_kept = before.state != RowState::Confirmed && !is_first;
                is_kept && matches!(before.desired, Desired::Submit(_))
            }
            Intent::Submit(_) => true,
            Intent::Withdraw | Intent::Delete => false,
        };
        let is_deleted = *intent == Intent::Delete;
        let is_wanted = match &row.desired {
            Desired::Delete => is_deleted,
            Desired::Submit(_) => is_submitted,
            Desired::Save(_) | Desired::Withdraw(_) => !is_submitted && !is_deleted,
        };
        forbid(
            !is_wanted,
            format_args!("{intent:?} makes of {before:?}: {row:?}"),
        );
        let text = match intent {
            Intent::Save(text) | Intent::Submit(Some(text)) => Some(text),
            _ => None,
        };
        let is_replaced =
            text.is_some_and(|text| row.desired.text().map(Text::value) == Some(text.value()));
        let is_at_rest = before.state == RowState::Confirmed || is_found && is_replaced;
        match (text, base.filter(|_| !is_at_rest)) {
            (Some(text), Some(base)) => check_merge(before, row, text, base),
            (Some(text), None) => forbid(
                row.desired.text().map(Text::value) != Some(text.value()),
                format_args!("an edit is lost: {before:?} {text:?} {row:?}"),
            ),
            _ => {}
        }
        let written = self.begun;
        let doings = self.of(key.0, key.1);
        doings.written = written;
        doings.wants_submit = is_submitted || matches!(row.first, Some(Desired::Submit(_)));
        doings.wants_delete = is_deleted;
        let old = before.desired.text().map(|old| Text::new(&old.value()));
        doings
            .replaced
            .extend(old.filter(|_| text.is_some() && base.is_none()));
        let first = row.first.as_ref().filter(|_| base.is_some());
        let first = first.and_then(Desired::text);
        text.into_iter()
            .chain(first)
            .for_each(|text| doings.gave(text));
        let is_of_another = |id: &String| service.records[id].maker() != Author::Row(row.id);
        doings
            .named
            .extend(base.map(|base| base.id.clone()).filter(is_of_another));
        // The record that another screen showed counts as seen once nothing else waits. An edit of the row answers its question.
        let seen = match (base, &before.state, &row.state) {
            (Some(base), ..) => {
                let is_first = is_at_rest || before.base.is_none() || is_deleted;
                is_first.then_some(base)
            }
            (None, RowState::Asked(Question::Changed(read)), RowState::Open { .. }) => Some(read),
            _ => None,
        };
        if let Some(seen) = seen {
            self.saw(service, key, seen);
        }
    }

    fn decided(
        &mut self,
        service: &Service,
        commit: &Commit<'_>,
        before: &Row,
        decision: &Decision,
    ) {
        let key = (commit.store, before.id);
        self.of(key.0, key.1).is_decided = true;
        match (decision, &before.state) {
            (
                Decision::KeepMine,
                RowState::Asked(Question::Changed(read) | Question::NotADraft(read)),
            ) => {
                self.saw(service, key, read);
                if !read.is_draft() {
                    let version = self.version(service, read);
                    let agreed = leaves(&service.records[&read.id].versions[version].value);
                    self.of(key.0, key.1).agreed.insert(agreed);
                }
            }
            // The record is created again, after a new search.
            (Decision::KeepMine, RowState::Asked(Question::Gone)) => {
                self.of(key.0, key.1).copy.clone_from(&commit.copy);
            }
            (Decision::Adopt(record), _) => {
                self.of(key.0, key.1)
                    .named
                    .insert(record.as_str().to_owned());
            }
            _ => {}
        }
    }

    /// True if another row, currently waiting for a decision, may have created this record.
    pub(super) fn is_rivalled(&self, service: &Service, row: u64, record: &Record) -> bool {
        let is_asked = |other: &&Row| matches!(other.state, RowState::Asked(_));
        let asked = self.others(0, row).filter(is_asked);
        let first = &record.versions[0];
        let texts = asked.flat_map(Row::on_their_way);
        is_whole(service, first, texts)
    }

    /// Whether the user has decided about a row.
    pub(super) fn is_decided(&self, row: u64) -> bool {
        self.doings[&(0, row)].is_decided
    }

    /// Checks at the end that every confirmed intent is fulfilled. `has_lag`: an unlisted record may be mistaken for a deleted one.
    pub(super) fn check_end(&self, service: &Service, has_lag: bool) {
        for row in self
            .rows
            .values()
            .filter(|row| row.state == RowState::Confirmed)
        {
            let kept = row.record.as_ref().map(|id| &service.records[id]);
            let is_named =
                |id: &String| self.doings.values().any(|doings| doings.named.contains(id));
            let is_met = match (&row.desired, kept) {
                (Desired::Delete, kept) => has_lag || kept.is_none_or(|kept| kept.is_deleted),
                (_, None) => false,
                (Desired::Withdraw(text), Some(kept)) => has_version(kept, text, Some("DRAFT")),
                (Desired::Save(text), Some(kept)) => {
                    row.record.as_ref().is_some_and(is_named) && !row.is_named
                        || has_version(kept, text, None)
                }
                (Desired::Submit(text), Some(kept)) => has_version(kept, text, Some("SUBMITTED")),
            };
            forbid(
                !is_met,
                format_args!("invariant 4: a row is confirmed and not met: {row:?} {kept:?}"),
            );
        }
    }
}

/// Lets the service carry out a request, and checks the change.
pub(super) fn carry_out(service: &mut Service, flight: &Flight) -> Outcome {
    note(|| {
        format!(
            "row {}: the service carries out {:?}",
            flight.row, flight.request
        )
    });
    check_change(service, flight);
    let request = &flight.request;
    let author = Author::Row(flight.row);
    let before = request
        .record()
        .and_then(|id| service.records.get(id))
        .cloned();
    let outcome = match (request.record(), flight.body.clone()) {
        (None, sent) => Outcome::Saved(service.insert(author, sent.unwrap_or_default())),
        (Some(id), Some(sent)) => service.save(id, author, &sent),
        (Some(id), None) => service.delete(id, author),
    };
    if let (Some(before), Outcome::Saved(id)) = (before, &outcome) {
        check_loss(&before, &service.records[id], flight, service);
    }
    outcome
}

/// Checks that a request changes only a draft that was read, and submits only our own record.
fn check_change(service: &Service, flight: &Flight) {
    let row = flight.row;
    let request = &flight.request;
    let doings = &flight.doings;
    let records = &service.records;
    let Some((id, kept)) = request.record().and_then(|id| records.get_key_value(id)) else {
        return;
    };
    let is_ours = matches!(kept.maker(), Author::Row(_)) || doings.named.contains(id);
    if matches!(request, ChangeRequest::Submit(..)) && !is_ours {
        // An equal record of another user cannot be told apart.
        let is_twin = |version: &Version| is_whole(service, version, &doings.given);
        forbid(
            !kept.versions.iter().any(is_twin),
            format_args!("invariant 1: row {row} submits {id}, which we did not write: {kept:?}"),
        );
    }
    let read = flight.read.checked_sub(1);
    let read = read.map(|at| &kept.versions[at].value);
    forbid(
        read.is_none(),
        format_args!("row {row} changes {id} unread"),
    );
    let may_change =
        |read: &Value| read["status"] == "DRAFT" || doings.agreed.contains(&leaves(read));
    forbid(
        read.is_some_and(|read| !may_change(read)),
        format_args!("invariant 2: row {row} changes {id}, which was no draft: {request:?}"),
    );
}

/// Checks that a request loses no value of another user, given the record before and after it.
fn check_loss(before: &Record, after: &Record, flight: &Flight, service: &Service) {
    let row = flight.row;
    let request = &flight.request;
    let doings = &flight.doings;
    let id = request.record().unwrap_or_default();
    let versions = before.versions.iter();
    let versions: Vec<_> = versions.map(|version| leaves(&version.value)).collect();
    let now = match request {
        ChangeRequest::Delete(_) => Leaves::new(),
        _ => leaves(&after.last().value),
    };
    let given = doings.given.iter();
    let given: Vec<_> = given.map(|text| leaves(&text.value())).collect();
    let last = versions.last().unwrap();
    let seen = doings.seen.get(id).copied().unwrap_or(0);
    let seen = seen.min(versions.len());
    let paths: BTreeSet<&String> = last.keys().chain(now.keys()).collect();
    for path in paths {
        let value = last.get(path);
        // Values of the first version have an author too.
        let is_change = |at: &usize| versions[*at].get(path) != versions[at - 1].get(path);
        let changed = (1..versions.len()).rev().find(is_change);
        let Some(wrote) = changed.or(value.is_some().then_some(0)) else {
            continue;
        };
        let is_theirs = before.versions[wrote].author == Author::Website;
        let is_lost = value != now.get(path) && is_theirs && path != "/status";
        let is_given = given.iter().any(|given| match (given.get(path), value) {
            (Some(given), Some(value)) => same(given, value),
            (given, value) => given.is_none() && value.is_none(),
        });
        // A value that the user saw is back.
        let mut saw = versions[..seen].iter();
        let is_back = saw.any(|version| version.get(path) == value);
        let is_filled = service.habits.fills && path == "/destination/name";
        let is_known = wrote < seen || wrote >= flight.read || is_given || is_back || is_filled;
        forbid(
            is_lost && !is_known,
            format_args!(
                "invariant 2: row {row} overwrites {path} of {id}, version {wrote}, seen {seen}, read {}: {request:?} {before:?}",
                flight.read
            ),
        );
    }
}

/// Checks that neither of two edits of one row is lost.
fn check_merge(before: &Row, row: &Row, text: &Text, base: &ServiceRecord) {
    let (Some(old), Some(new)) = (before.desired.text(), row.desired.text()) else {
        return;
    };
    let is_signed = text.is_signed() || old.is_signed();
    let texts = [old, text, new].map(Text::value);
    let is_kept = if row.first.is_some() {
        (row.first.as_ref() == Some(&before.desired) || row.first == before.first)
            && (texts[2] == texts[1] || before.first.is_some())
    } else if is_signed {
        texts[0] == texts[1]
    } else {
        let [old, text, new] = texts.map(|text| leaves(&text));
        let base = leaves(&base.fields);
        let is_there = |(path, value): (&String, &String)| {
            base.get(path) == Some(value) || new.get(path) == Some(value)
        };
        let mut of_old = old
            .iter()
            .filter(|(path, _)| base.get(*path) == text.get(*path));
        text.iter().all(is_there) && of_old.all(is_there)
    };
    forbid(
        !is_kept,
        format_args!("an edit is lost or merged: {before:?} {text:?} {row:?}"),
    );
}

/// Whether the record had each field of the text, and the status, at some time. They may be in different versions, because another
/// user may have made the same change.
fn has_version(kept: &Record, text: &Text, status: Option<&str>) -> bool {
    let versions = kept.versions.iter();
    let versions: Vec<_> = versions.map(|version| leaves(&version.value)).collect();
    let was = |path: &str, value: &str| {
        let mut were = versions.iter().filter_map(|version| version.get(path));
        were.any(|was| same(value, was))
    };
    let text = leaves(&text.value());
    let mut text = text.iter().filter(|(_, value)| !value.trim().is_empty());
    text.all(|(path, value)| was(path, value)) && status.is_none_or(|status| was("/status", status))
}
