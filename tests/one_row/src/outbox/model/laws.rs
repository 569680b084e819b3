//! The laws, and what they remember: what the person wrote, saw and agreed to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Arguments;

use serde_json::Value;

use super::program::Store;
use equipment::plain_service::{Author, Record as Kept, Service, Version};

use super::service::{leaves, same_text, version};
use crate::outbox::apply::RowEvent;
use crate::outbox::compare::ServiceRecord;
use crate::outbox::decide::Heard;
use crate::outbox::row::{ChangeRequest, Owner, Question, Row, RowState, Text, Wish};

/// What the person did about a row in one copy of the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Doings {
    /// How many versions of each record the person saw.
    seen: BTreeMap<String, usize>,
    /// What the person agreed to change although it is no draft.
    pub(super) agreed: BTreeSet<BTreeMap<String, String>>,
    /// Records that the person named as the declaration.
    pub(super) named: BTreeSet<String>,
    given: BTreeSet<Text>,
    /// Texts that an edit of the row replaced before they were sent.
    pub(super) replaced: BTreeSet<Text>,
    pub(super) wants_submit: bool,
    pub(super) wants_delete: bool,
    /// When the first request without a clear answer was sent, and which list was begun last when the last one was.
    doubt: Option<(u64, u64)>,
    unclear_since: Option<u64>,
    /// The record that the row had last.
    record: Option<String>,
}

impl Doings {
    pub(super) fn gave(&mut self, text: &Text) {
        self.given.insert(text.clone());
        self.replaced.remove(text);
    }

    pub(super) fn saw(&mut self, record: &ServiceRecord, service: &Service) {
        let version = version(service, record) + 1;
        let seen = self.seen.entry(record.id.clone()).or_default();
        *seen = version.max(*seen);
    }
}

/// A request, and what was known when it was marked.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) row: u64,
    pub(super) request: ChangeRequest,
    /// The row before it was marked.
    as_it_was: Box<Row>,
    /// How many versions of the record the program had read.
    read: usize,
    doings: Doings,
}

impl Flight {
    /// The text is saved, and the status is not.
    pub(super) fn saved(mut self, is_draft: bool) -> Self {
        if let (true, ChangeRequest::Submit(id, text)) = (is_draft, &self.request) {
            self.request = ChangeRequest::Update(id.clone(), text.clone());
        }
        self
    }
}

#[derive(Debug, Default)]
pub(super) struct Laws {
    pub(super) broken: Option<String>,
    doings: BTreeMap<(usize, u64), Doings>,
    /// The number that each list of a store has at the service.
    lists: BTreeMap<(usize, u64), u64>,
}

/// How a record agrees with a text, read by leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    Whole,
    More,
    Load,
    No,
}

fn same(one: &str, other: &str) -> bool {
    same_text(one.trim(), other.trim())
}

fn agreement(service: &Service, text: &Value, record: &Value) -> Agreement {
    let (text, mut read) = (leaves(text), leaves(record));
    read.remove("/status");
    // What the service fills in is nobody's.
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
        [Agreement::More, Agreement::Whole][usize::from(is_whole)]
    } else if load.into_iter().all(has) {
        Agreement::Load
    } else {
        Agreement::No
    }
}

/// How a record agrees with several texts.
fn agreements(service: &Service, texts: &[Text], record: &Value) -> Vec<Agreement> {
    let texts = texts.iter().map(Text::value);
    texts
        .map(|text| agreement(service, &text, record))
        .collect()
}

impl Laws {
    pub(super) fn forbid(&mut self, is_broken: bool, law: Arguments<'_>) {
        if is_broken && self.broken.is_none() {
            self.broken = Some(law.to_string());
        }
    }

    pub(super) fn of(&mut self, store: usize, row: u64) -> &mut Doings {
        self.doings.entry((store, row)).or_default()
    }

    fn is_copied(&self) -> bool {
        self.doings.keys().any(|(store, _)| *store == 1)
    }

    pub(super) fn copied(&mut self) {
        let doings = self.doings.clone().into_iter();
        self.doings
            .extend(doings.map(|((_, row), doings)| ((1, row), doings)));
        let lists = self.lists.clone().into_iter();
        self.lists
            .extend(lists.map(|((_, number), at)| ((1, number), at)));
    }

    pub(super) fn lists(&mut self, store: usize, number: u64, at_service: u64) {
        self.lists.insert((store, number), at_service);
    }

    /// What was marked goes.
    pub(super) fn marked(
        &mut self,
        store: &Store,
        row: &Row,
        request: ChangeRequest,
        read: usize,
        service: &Service,
    ) -> Flight {
        let (id, doings) = (row.id, self.of(store.index, row.id).clone());
        if matches!(request, ChangeRequest::Create(_)) {
            let is_early = doings
                .doubt
                .is_some_and(|(_, begun)| store.account.begun < begun + 2);
            self.forbid(
                is_early,
                format_args!("row {id} is sent again after fewer than two looks"),
            );
            let had = doings.record.as_ref().map(|id| &service.records[id]);
            let is_there = had.is_some_and(|kept| !kept.is_deleted);
            self.forbid(
                is_there,
                format_args!("row {id} is made twice: {had:?} is there"),
            );
            let mut others = store
                .rows
                .values()
                .filter(|other| other.id != id && other.record.is_none());
            let open = others.find(|other| match &other.state {
                RowState::Sending => true,
                RowState::Open { .. } if other.is_creation_in_doubt() => {
                    !row.is_creation_in_doubt()
                }
                _ => false,
            });
            self.forbid(
                open.is_some(),
                format_args!("row {id} creates while {open:?} is open"),
            );
        }
        let sent = request.sent().unwrap_or_default();
        let date = sent["movementDate"].as_str().unwrap_or_default();
        let is_late = date < "2026" && !date.is_empty() && !row.agreed.late.contains(date);
        self.forbid(
            is_late,
            format_args!("row {id} is sent although {date} has passed"),
        );
        let kept = request.record().and_then(|id| service.records.get(id));
        if let Some(there) = kept
            .zip(read.checked_sub(1))
            .map(|(kept, at)| &kept.versions[at].value)
            && let Some(sent) = sent.as_object()
        {
            let mut after = there.clone();
            after.as_object_mut().unwrap().extend(sent.clone());
            let is_there = leaves(&after) == leaves(there);
            self.forbid(
                is_there,
                format_args!("row {id} sends what is there already: {request:?}"),
            );
        }
        let is_wanted = match &request {
            ChangeRequest::Submit(..) => doings.wants_submit,
            ChangeRequest::Delete(_) => doings.wants_delete,
            _ => true,
        };
        self.forbid(
            !is_wanted,
            format_args!("law 1: row {id} sends {request:?} unasked"),
        );
        if let Some(text) = request.text().filter(|text| text.is_signed()) {
            let (is_old, is_given) = (doings.replaced.contains(text), doings.given.contains(text));
            self.forbid(
                is_old,
                format_args!("row {id} sends an old signature: {text:?}"),
            );
            self.forbid(
                !is_given,
                format_args!("row {id} sends a signed text that nobody gave: {text:?}"),
            );
        }
        let (row, as_it_was) = (id, Box::new(row.clone()));
        Flight {
            row,
            request,
            as_it_was,
            read,
            doings,
        }
    }

    /// A request is sent.
    pub(super) fn check_departure(
        &mut self,
        service: &Service,
        store: &Store,
        flight: &Flight,
        listed: &[ServiceRecord],
    ) {
        let (row, ChangeRequest::Create(text)) = (&flight.as_it_was, &flight.request) else {
            return;
        };
        let doubt = row.lost.as_ref().filter(|_| row.is_creation_in_doubt());
        let (texts, since) = doubt.map_or((vec![text.clone()], &row.known), |lost| {
            (lost.texts.clone(), &lost.listed)
        });
        for record in listed {
            let seen = store.seen(record, row.id, true);
            let has_appeared = seen.sequence.is_none_or(|at| at > since.last);
            let is_other = row.agreed.not.contains(&record.id) || seen.owner == Some(Owner::Maker);
            if !has_appeared || is_other {
                continue;
            }
            let kept = &service.records[&record.id];
            let is_its_own = kept.maker() == Author::Row(row.id)
                && !self.is_copied()
                && !row.duplicates.contains(&record.id)
                && kept
                    .versions
                    .iter()
                    .all(|version| version.author != Author::Website);
            let is_anothers = kept.created_by == "pat" && !service.habits.hides_author;
            let may_be = |one| match one {
                Agreement::Whole | Agreement::More => doubt.is_some() || !is_anothers,
                Agreement::Load => doubt.is_some(),
                Agreement::No => false,
            };
            let is_missed = agreements(service, &texts, &record.fields)
                .into_iter()
                .any(may_be);
            self.forbid(
                is_its_own || is_missed,
                format_args!("row {} makes a declaration beside {record:?}", row.id),
            );
        }
    }

    /// The service carries a request out now.
    pub(super) fn check_change(&mut self, service: &Service, flight: &Flight) {
        let Flight {
            row,
            request,
            doings,
            ..
        } = flight;
        let Some((id, kept)) = request
            .record()
            .and_then(|id| service.records.get_key_value(id))
        else {
            return;
        };
        let is_ours = matches!(kept.maker(), Author::Row(_)) || doings.named.contains(id);
        if matches!(request, ChangeRequest::Submit(..)) && !is_ours {
            // A twin that agrees wholly is not told apart.
            let given: Vec<Text> = doings.given.iter().cloned().collect();
            let is_twin = |version: &Version| {
                agreements(service, &given, &version.value).contains(&Agreement::Whole)
            };
            let is_strange = !kept.versions.iter().any(is_twin);
            self.forbid(
                is_strange,
                format_args!("law 1: row {row} submits {id}, which we did not write: {kept:?}"),
            );
        }
        let read = flight
            .read
            .checked_sub(1)
            .map(|at| &kept.versions[at].value);
        self.forbid(
            read.is_none(),
            format_args!("row {row} changes {id} unread"),
        );
        let may_change =
            |read: &Value| read["status"] == "DRAFT" || doings.agreed.contains(&leaves(read));
        self.forbid(
            read.is_some_and(|read| !may_change(read)),
            format_args!("law 2: row {row} changes {id}, which was no draft: {request:?}"),
        );
    }

    /// What the service kept before a request of ours, and after it.
    pub(super) fn check_loss(
        &mut self,
        before: &Kept,
        after: &Kept,
        flight: &Flight,
        service: &Service,
    ) {
        let Flight {
            row,
            request,
            doings,
            ..
        } = flight;
        let id = request.record().unwrap_or_default();
        let versions: Vec<_> = before
            .versions
            .iter()
            .map(|version| leaves(&version.value))
            .collect();
        let now = match request {
            ChangeRequest::Delete(_) => BTreeMap::new(),
            _ => leaves(&after.last().value),
        };
        let given: Vec<_> = doings
            .given
            .iter()
            .map(|text| leaves(&text.value()))
            .collect();
        let last = versions.last().unwrap();
        let seen = doings.seen.get(id).copied().unwrap_or(0);
        let paths: BTreeSet<&String> = last.keys().chain(now.keys()).collect();
        for path in paths {
            let value = last.get(path);
            // What was there first has its author, too.
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
            // What the person saw is there again.
            let is_back = versions[..seen]
                .iter()
                .any(|version| version.get(path) == value);
            let is_filled = service.habits.fills && path == "/destination/name";
            let is_known = wrote < seen || wrote >= flight.read || is_given || is_back || is_filled;
            self.forbid(
                is_lost && !is_known,
                format_args!("law 2: row {row} overwrites {path} of {id}, version {wrote}, seen {seen}, read {}: {request:?}", flight.read),
            );
        }
    }

    pub(super) fn check_answer(&mut self, row: &Row, reply: &Heard, event: &RowEvent) {
        let (Heard::Record(seen), Some(sent)) = (reply, &row.sent) else {
            return;
        };
        let is_another = sent.request.record().is_some_and(|id| id != seen.record.id);
        let is_asked = matches!(event, RowEvent::Asked(_));
        self.forbid(
            is_another && !is_asked,
            format_args!("no question follows from {seen:?}: {row:?}"),
        );
    }

    pub(super) fn check_told(
        &mut self,
        service: &Service,
        store: &Store,
        row: &Row,
        told: &[String],
        listed: &[ServiceRecord],
    ) {
        let texts = row.lost.as_ref().map_or(&[][..], |lost| &lost.texts);
        for record in listed.iter().filter(|record| told.contains(&record.id)) {
            let id = &record.id;
            let is_anothers = |other: &Row| other.id != row.id && other.is_about(id);
            let is_its = service.records[id].maker() == Author::Row(row.id);
            let is_twin = agreements(service, texts, &record.fields).contains(&Agreement::Whole);
            let is_there =
                |own: &String| own != id && listed.iter().any(|record| record.id == *own);
            let is_duplicate = (is_its || is_twin)
                && row.record.as_ref().is_none_or(is_there)
                && !store.rows.values().any(is_anothers);
            self.forbid(
                !is_duplicate,
                format_args!("law 3: {record:?} is reported as a duplicate: {row:?}"),
            );
        }
    }

    pub(super) fn committed(
        &mut self,
        service: &Service,
        store: &Store,
        before: &Row,
        event: &RowEvent,
        row: &Row,
    ) {
        let id = row.id;
        if row.state != RowState::Discarded && row.record.is_some() {
            let is_one =
                |other: &&Row| other.state != RowState::Discarded && other.record == row.record;
            let is_taken = store.rows.values().filter(is_one).count() > 1;
            self.forbid(
                is_taken,
                format_args!("{:?} belongs to row {id} and another one", row.record),
            );
        }
        let is_over = matches!(row.state, RowState::Confirmed | RowState::Discarded);
        let is_unknown = before.is_creation_in_doubt() && row.record.is_none();
        let is_forgotten = is_unknown && is_over && row.lost.is_none();
        self.forbid(
            is_forgotten,
            format_args!("a creation in doubt is not watched: {row:?}"),
        );
        let is_touched = before.sent != row.sent || row.state != RowState::Sending;
        let is_wish = matches!(event, RowEvent::Wished { .. }) && before.state == RowState::Sending;
        self.forbid(
            is_wish && is_touched,
            format_args!("a wish touches what is under way: {row:?}"),
        );
        self.check_patience(service.now, store, before, event, row);
        if let RowEvent::Applied {
            request: ChangeRequest::Create(_),
            record,
            is_found: true,
        } = event
            && before.adopt.is_none()
        {
            self.check_adopted(service, store, before, record);
        }
    }

    /// A person is asked only after a day without a usable answer, or six resends.
    fn check_patience(
        &mut self,
        now: u64,
        store: &Store,
        before: &Row,
        event: &RowEvent,
        row: &Row,
    ) {
        let doings = self.of(store.index, row.id);
        doings.record = row.record.clone().or(doings.record.take());
        let is_given_up = *event == RowEvent::Asked(Question::NoUsableAnswer);
        let first = doings.doubt.map(|(first, _)| first);
        let since = doings.unclear_since.or(first).unwrap_or(now);
        match event {
            RowEvent::Doubt => doings.doubt = Some((first.unwrap_or(now), store.account.begun)),
            RowEvent::Applied { .. } | RowEvent::Refused | RowEvent::Decided(_) => {
                doings.doubt = None
            }
            _ => {}
        }
        match event {
            RowEvent::Told(_) => {}
            RowEvent::Unclear(_) => doings.unclear_since = doings.unclear_since.or(Some(now)),
            _ => doings.unclear_since = None,
        }
        let resends = before.doubt.resends();
        let is_early = is_given_up && resends < 6 && now - since < 80_000;
        self.forbid(
            is_early,
            format_args!("{before:?} gives up after {} s", now - since),
        );
    }

    /// A row took a record for its own.
    fn check_adopted(
        &mut self,
        service: &Service,
        store: &Store,
        before: &Row,
        record: &ServiceRecord,
    ) {
        let kept = &service.records[&record.id];
        let doubt = before.lost.clone().unwrap_or_default();
        let is_whole =
            agreements(service, &doubt.texts, &record.fields).contains(&Agreement::Whole);
        let is_ours = match kept.maker() {
            Author::Row(maker) if maker == before.id || self.is_copied() => true,
            Author::Row(maker) => {
                // That row has a twin of somebody else in its place, so two identical loads have one record each.
                let has_another = |own: &String| service.records[own].maker() != kept.maker();
                let place = store.rows.get(&maker).and_then(|row| row.record.as_ref());
                is_whole && place.is_some_and(has_another)
            }
            Author::Website => {
                // A twin that agrees wholly and appears while ours is in doubt is not told apart.
                let list = self.lists.get(&(store.index, doubt.listed.number));
                let has_appeared = list.is_some_and(|list| kept.listed_from > *list);
                let is_later = record.updated_at > doubt.listed.latest;
                is_whole && has_appeared && is_later && record.status() == Some("DRAFT")
            }
        };
        self.forbid(
            !is_ours,
            format_args!(
                "row {} adopts {record:?}, made by {:?}",
                before.id,
                kept.maker()
            ),
        );
    }

    /// All is over: what is confirmed is met.
    pub(super) fn check_end(&mut self, service: &Service, stores: &[Store]) {
        let rows = stores.iter().flat_map(|store| store.rows.values());
        for row in rows.filter(|row| row.state == RowState::Confirmed) {
            let kept = row.record.as_ref().map(|id| &service.records[id]);
            let is_named =
                |id: &String| self.doings.values().any(|doings| doings.named.contains(id));
            let is_met = match (&row.wish, kept) {
                (Wish::Delete, kept) => kept.is_none_or(|kept| kept.is_deleted),
                (Wish::Save(_) | Wish::Submit(_), None) => false,
                (Wish::Save(text), Some(kept)) => {
                    row.record.as_ref().is_some_and(is_named) && !row.is_named
                        || has_version(kept, text, None)
                }
                (Wish::Submit(text), Some(kept)) => has_version(kept, text, Some("SUBMITTED")),
            };
            self.forbid(
                !is_met,
                format_args!("law 4: a row is confirmed and not met: {row:?} {kept:?}"),
            );
        }
    }
}

/// Whether the record had each field of the text, and the status. Not in one version: a change that somebody else made as well is
/// there, too.
fn has_version(kept: &Kept, text: &Text, status: Option<&str>) -> bool {
    let versions: Vec<_> = kept
        .versions
        .iter()
        .map(|version| leaves(&version.value))
        .collect();
    let was = |path: &str, value: &str| {
        let mut were = versions.iter().filter_map(|version| version.get(path));
        were.any(|was| same(value, was))
    };
    let text = leaves(&text.value());
    let mut text = text.iter().filter(|(_, value)| !value.trim().is_empty());
    text.all(|(path, value)| was(path, value)) && status.is_none_or(|status| was("/status", status))
}
