//! The laws, and what they remember: what the person wrote, saw and agreed to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::program::Store;
use super::service::{Author, Kept, Service, leaves, same_text};
use crate::outbox::apply::Event;
use crate::outbox::compare::Record;
use crate::outbox::decide::Reply;
use crate::outbox::row::{Reason, Request, Row, State, Text, Wish};

/// What the person did about a row in one copy of the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Doings {
    /// How many versions of each record the person saw.
    seen: BTreeMap<String, usize>,
    /// What the person agreed to change although it is no draft.
    agreed: BTreeSet<BTreeMap<String, String>>,
    /// Records that the person named as the declaration.
    named: BTreeSet<String>,
    given: BTreeSet<Text>,
    /// Texts that an edit of the row replaced before they were sent.
    replaced: BTreeSet<Text>,
    wants_submit: bool,
    wants_delete: bool,
    /// When the first request without a clear answer was sent, and which list was begun last when the last one was.
    doubt: Option<(u64, u64)>,
    unclear_since: Option<u64>,
    /// The record that the row had last.
    record: Option<String>,
}

/// A request, and what was known when it was marked.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) row: u64,
    pub(super) request: Request,
    /// The row before it was marked.
    as_it_was: Box<Row>,
    /// How many versions of the record the program had read.
    read: usize,
    doings: Doings,
}

impl Flight {
    /// The text is saved, and the status is not.
    pub(super) fn saved(mut self, is_draft: bool) -> Self {
        if let (true, Request::Submit(id, text)) = (is_draft, &self.request) {
            self.request = Request::Update(id.clone(), text.clone());
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
    if service.fills && !text.contains_key("/destination/name") {
        read.remove("/destination/name");
    }
    let has = |path: &String, value: &String| read.get(path).is_some_and(|read| same(value, read));
    if text
        .iter()
        .all(|(path, value)| has(path, value) || value.trim().is_empty())
    {
        let is_whole = read.keys().all(|path| text.contains_key(path));
        return if is_whole {
            Agreement::Whole
        } else {
            Agreement::More
        };
    }
    let load = ["/forms", "/movementDate", "/origin/pic", "/destination/pic"];
    let is_load = load.iter().all(|path| {
        let [text, read] = [&text, &read].map(|leaves| leaves.get(*path));
        text.zip(read).is_some_and(|(text, read)| same(text, read))
    });
    if is_load {
        Agreement::Load
    } else {
        Agreement::No
    }
}

impl Laws {
    fn fail(&mut self, law: impl FnOnce() -> String) {
        if self.broken.is_none() {
            self.broken = Some(law());
        }
    }

    fn of(&mut self, store: usize, row: u64) -> &mut Doings {
        self.doings.entry((store, row)).or_default()
    }

    pub(super) fn copied(&mut self) {
        let copied: Vec<_> = self
            .doings
            .iter()
            .map(|((_, row), doings)| ((1, *row), doings.clone()))
            .collect();
        self.doings.extend(copied);
        let lists: Vec<_> = self
            .lists
            .iter()
            .map(|((_, number), at)| ((1, *number), *at))
            .collect();
        self.lists.extend(lists);
    }

    pub(super) fn lists(&mut self, store: usize, number: u64, at_service: u64) {
        self.lists.insert((store, number), at_service);
    }

    pub(super) fn gave(&mut self, store: usize, row: u64, text: &Text) {
        let doings = self.of(store, row);
        doings.given.insert(text.clone());
        doings.replaced.remove(text);
    }

    /// An edit of the row replaced a text that was not sent.
    pub(super) fn replaced(&mut self, store: usize, row: u64, text: &Text) {
        self.of(store, row).replaced.insert(text.clone());
    }

    pub(super) fn wants(&mut self, store: usize, row: u64, is_submitted: bool, is_deleted: bool) {
        let doings = self.of(store, row);
        (doings.wants_submit, doings.wants_delete) = (is_submitted, is_deleted);
    }

    pub(super) fn saw(&mut self, store: usize, row: u64, record: &Record, service: &Service) {
        let kept = &service.records[&record.id];
        let at = |at: u64| format!("{at:012}") == record.updated_at;
        let version = kept
            .versions
            .iter()
            .position(|version| at(version.at))
            .unwrap()
            + 1;
        let seen = self
            .of(store, row)
            .seen
            .entry(record.id.clone())
            .or_default();
        *seen = version.max(*seen);
    }

    pub(super) fn agreed(&mut self, store: usize, row: u64, record: &Record, service: &Service) {
        let mut versions = service.records[&record.id].versions.iter();
        let version = versions.find(|version| format!("{:012}", version.at) == record.updated_at);
        self.of(store, row)
            .agreed
            .insert(leaves(&version.unwrap().value));
    }

    pub(super) fn named(&mut self, store: usize, row: u64, record: &str) {
        self.of(store, row).named.insert(record.to_owned());
    }

    /// What was marked goes.
    pub(super) fn marked(
        &mut self,
        store: &Store,
        row: &Row,
        request: Request,
        read: usize,
        service: &Service,
    ) -> Flight {
        let doings = self.of(store.index, row.id).clone();
        if let (Request::Create(_), Some((_, begun))) = (&request, doings.doubt)
            && store.account.begun < begun + 2
        {
            self.fail(|| format!("row {} is sent again after fewer than two looks", row.id));
        }
        let had = doings.record.as_ref().map(|id| &service.records[id]);
        if matches!(request, Request::Create(_)) && had.is_some_and(|kept| !kept.is_deleted) {
            self.fail(|| format!("row {} is made twice: {:?} is there", row.id, doings.record));
        }
        let value = request.text().map(Text::value).unwrap_or_default();
        let date = value["movementDate"].as_str().unwrap_or_default();
        if date < "2026" && !date.is_empty() && !row.agreed.late.contains(date) {
            self.fail(|| format!("row {} is sent although {date} has passed", row.id));
        }
        let there = request
            .record()
            .and_then(|id| service.records.get(id)?.versions.get(read.checked_sub(1)?));
        if let (Some(there), Some(sent)) = (there, request.sent()) {
            let there_leaves = leaves(&there.value);
            let is_blank = |path: &String| {
                there_leaves
                    .get(path)
                    .is_some_and(|there| !there.is_empty())
            };
            let mut blanks = leaves(&value)
                .into_iter()
                .filter(|(_, value)| value.is_empty());
            let is_cleared = sent.get("consignee").is_some_and(Value::is_null)
                || blanks.any(|(path, _)| is_blank(&path));
            let is_there = matches!(
                agreement(service, &value, &there.value),
                Agreement::Whole | Agreement::More
            );
            if is_there && !is_cleared && there.value["status"] == sent["status"] {
                self.fail(|| format!("row {} sends what is there already: {request:?}", row.id));
            }
        }
        let others = store
            .rows
            .values()
            .filter(|other| other.id != row.id && other.record.is_none());
        let mut open = others.filter(|other| match &other.state {
            State::Sending => true,
            State::InDoubt { .. } => !row.is_creation_in_doubt(),
            _ => false,
        });
        if let (Request::Create(_), Some(open)) = (&request, open.next()) {
            self.fail(|| {
                format!(
                    "row {} creates while it is open what became of row {}",
                    row.id, open.id
                )
            });
        }
        let wants = match &request {
            Request::Submit(..) => doings.wants_submit,
            Request::Delete(_) => doings.wants_delete,
            _ => true,
        };
        if !wants {
            self.fail(|| format!("law 1: row {} sends {request:?} unasked", row.id));
        }
        if let Some(text) = request.text() {
            if doings.replaced.contains(text) && text.is_signed() {
                self.fail(|| format!("row {} sends an old signature: {text:?}", row.id));
            }
            if text.is_signed() && !doings.given.contains(text) {
                self.fail(|| {
                    format!(
                        "row {} sends a signed text that nobody gave: {text:?}",
                        row.id
                    )
                });
            }
        }
        Flight {
            row: row.id,
            request,
            as_it_was: Box::new(row.clone()),
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
        listed: &[Record],
    ) {
        let row = &flight.as_it_was;
        let Request::Create(_) = &flight.request else {
            return;
        };
        let (texts, since) = match &row.doubt {
            Some(doubt) if !doubt.texts.is_empty() => (doubt.texts.clone(), &doubt.listed),
            _ => (
                flight.request.text().cloned().into_iter().collect(),
                &row.known,
            ),
        };
        for record in listed {
            let owner = store.seen(record, row.id, true).owner;
            let is_maker = owner == Some(crate::outbox::decide::Owner::Maker);
            let has_appeared = store
                .account
                .replica
                .get(&record.id)
                .is_none_or(|at| *at > since.last);
            if is_maker || !has_appeared || row.agreed.not.contains(&record.id) {
                continue;
            }
            let kept = &service.records[&record.id];
            let is_copied = self.doings.keys().any(|(store, _)| *store == 1);
            let is_its_own = kept.maker() == Author::Row(row.id)
                && !is_copied
                && !row.duplicates.contains(&record.id);
            let is_untouched = kept
                .versions
                .iter()
                .all(|version| version.author != Author::Website);
            if is_its_own && is_untouched {
                self.fail(|| {
                    format!(
                        "row {} makes a second declaration beside {record:?}",
                        row.id
                    )
                });
            }
            let is_another = kept.created_by == "pat" && !service.hides_author;
            let closest = texts
                .iter()
                .map(|text| agreement(service, &text.value(), &record.fields));
            let is_like = closest
                .clone()
                .any(|one| matches!(one, Agreement::Whole | Agreement::More));
            let may_be = if row.is_creation_in_doubt() {
                is_like || closest.into_iter().any(|one| one == Agreement::Load)
            } else {
                is_like && !is_another
            };
            if may_be {
                self.fail(|| {
                    format!(
                        "row {} makes a declaration, and {record:?} was listed",
                        row.id
                    )
                });
            }
        }
    }

    /// The service carries a request out now.
    pub(super) fn check_change(&mut self, service: &Service, flight: &Flight) {
        let (row, doings) = (flight.row, &flight.doings);
        let Some(kept) = flight
            .request
            .record()
            .and_then(|id| service.records.get(id))
        else {
            return;
        };
        let id = flight.request.record().unwrap_or_default();
        let is_ours = matches!(kept.maker(), Author::Row(_)) || doings.named.contains(id);
        if matches!(flight.request, Request::Submit(..)) && !is_ours {
            // A twin that agrees wholly is not told apart.
            let is_twin = |text: &Text| {
                let mut versions = kept.versions.iter();
                versions.any(|version| {
                    agreement(service, &text.value(), &version.value) == Agreement::Whole
                })
            };
            if !doings.given.iter().any(is_twin) {
                self.fail(|| {
                    format!("law 1: row {row} submits {id}, which we did not write: {kept:?}")
                });
            }
        }
        let Some(read) = flight.read.checked_sub(1).map(|at| &kept.versions[at]) else {
            self.fail(|| format!("row {row} changes {id} unread"));
            return;
        };
        let is_draft = read.value["status"] == "DRAFT";
        if !is_draft && !doings.agreed.contains(&leaves(&read.value)) {
            self.fail(|| {
                format!(
                    "law 2: row {row} changes {id}, which was no draft: {:?}",
                    flight.request
                )
            });
        }
    }

    /// What the service kept before a request of ours, and after it.
    pub(super) fn check_loss(
        &mut self,
        before: &Kept,
        after: &Kept,
        flight: &Flight,
        service: &Service,
    ) {
        let (row, doings) = (flight.row, &flight.doings);
        let id = flight.request.record().unwrap_or_default();
        let versions: Vec<_> = before
            .versions
            .iter()
            .map(|version| leaves(&version.value))
            .collect();
        let now = leaves(&after.last().value);
        let is_delete = matches!(flight.request, Request::Delete(_));
        let last = versions.last().unwrap();
        let seen = doings.seen.get(id).copied().unwrap_or(0);
        let paths: BTreeSet<&String> = versions
            .iter()
            .flat_map(BTreeMap::keys)
            .chain(now.keys())
            .collect();
        for path in paths {
            let value = last.get(path);
            let is_lost = is_delete && value.is_some() || !is_delete && value != now.get(path);
            // What was there first has its author, too.
            let changed = (1..versions.len())
                .rev()
                .find(|at| versions[*at].get(path) != versions[at - 1].get(path));
            let wrote = changed.or(value.is_some().then_some(0));
            let Some(wrote) = wrote.filter(|_| is_lost && path != "/status") else {
                continue;
            };
            let is_theirs = before.versions[wrote].author == Author::Website;
            if !is_theirs || wrote < seen || wrote >= flight.read {
                continue;
            }
            let mut given = doings.given.iter().map(|text| leaves(&text.value()));
            let is_given = given.any(|given| match (given.get(path), value) {
                (Some(given), Some(value)) => same(given, value),
                (given, value) => given.is_none() && value.is_none(),
            });
            // What the person saw is there again.
            let is_back = versions[..seen]
                .iter()
                .any(|version| version.get(path) == value);
            let is_filled = service.fills && path == "/destination/name";
            if !is_given && !is_filled && !is_back {
                self.fail(|| {
                    format!("law 2: row {row} overwrites {path} of {id}, version {wrote}, seen {seen}, read {}: {:?}", flight.read, flight.request)
                });
            }
        }
    }

    pub(super) fn check_answer(&mut self, row: &Row, reply: &Reply, event: &Event) {
        let Reply::Record(seen) = reply else {
            return;
        };
        let named = row.sent.as_ref().and_then(|sent| sent.request.record());
        let is_another = named.is_some_and(|id| id != seen.record.id);
        if is_another && !matches!(event, Event::Asked { .. }) {
            self.fail(|| {
                format!(
                    "row {} is answered with {} and a person is not asked",
                    row.id, seen.record.id
                )
            });
        }
    }

    pub(super) fn check_told(
        &mut self,
        service: &Service,
        store: &Store,
        row: &Row,
        told: &[String],
        listed: &[Record],
    ) {
        for id in told {
            if store
                .rows
                .values()
                .any(|other| other.id != row.id && other.is_about(id))
            {
                self.fail(|| {
                    format!(
                        "law 3: row {} reports the record {id} of another row",
                        row.id
                    )
                });
            }
            let kept = &service.records[id];
            let is_its = kept.maker() == Author::Row(row.id);
            let texts = row.watch.iter().flat_map(|watch| &watch.texts);
            let read = &listed
                .iter()
                .find(|record| record.id == *id)
                .unwrap()
                .fields;
            let mut agreements = texts.map(|text| agreement(service, &text.value(), read));
            let is_twin = agreements.any(|one| one == Agreement::Whole);
            let has_own = row
                .record
                .as_ref()
                .is_none_or(|own| listed.iter().any(|record| record.id == *own));
            if !(is_its || is_twin) || row.record.as_ref() == Some(id) || !has_own {
                self.fail(|| {
                    format!(
                        "law 3: row {} reports {id} as a duplicate: {kept:?} {row:?}",
                        row.id
                    )
                });
            }
        }
    }

    pub(super) fn committed(
        &mut self,
        service: &Service,
        store: &Store,
        before: &Row,
        event: &Event,
        row: &Row,
    ) {
        if let Some(id) = row
            .record
            .as_ref()
            .filter(|_| row.state != State::Discarded)
        {
            let mut others = store
                .rows
                .values()
                .filter(|other| other.id != row.id && other.state != State::Discarded);
            if let Some(other) = others.find(|other| other.record.as_ref() == Some(id)) {
                self.fail(|| format!("rows {} and {} have {id}", row.id, other.id));
            }
        }
        let is_over = matches!(row.state, State::Confirmed | State::Discarded);
        if before.is_creation_in_doubt() && row.record.is_none() && is_over && row.watch.is_none() {
            self.fail(|| format!("a creation in doubt is not watched: {row:?}"));
        }
        let doings = self.doings.entry((store.index, row.id)).or_default();
        doings.record = row.record.clone().or(doings.record.take());
        match event {
            Event::Doubt => {
                let first = doings.doubt.map_or(service.now, |(first, _)| first);
                doings.doubt = Some((first, store.account.begun));
            }
            Event::Applied { .. } | Event::Refused(_) | Event::Decided(_) => doings.doubt = None,
            _ => {}
        }
        let since = match event {
            Event::Unclear(_) => Some(*doings.unclear_since.get_or_insert(service.now)),
            Event::Asked {
                reason: Reason::NoUsableAnswer,
                ..
            } => {
                let first = doings.doubt.map(|(first, _)| first);
                doings.unclear_since.take().or(first)
            }
            Event::Told(_) => doings.unclear_since,
            _ => {
                doings.unclear_since = None;
                None
            }
        };
        let is_given_up = matches!(
            event,
            Event::Asked {
                reason: Reason::NoUsableAnswer,
                ..
            }
        );
        let resends = before.doubt.as_ref().map_or(0, |doubt| doubt.resends);
        let waited = since.map_or(0, |since| service.now - since);
        if is_given_up && resends < 6 && waited < 80_000 {
            self.fail(|| format!("row {} gives up after {waited} s: {before:?}", row.id));
        }
        let is_under_way = before.state == State::Sending;
        if let (true, Event::Wished { .. }) = (is_under_way, event)
            && (before.sent != row.sent || row.state != State::Sending)
        {
            self.fail(|| format!("a wish touches what is under way: {row:?}"));
        }
        let Event::Applied {
            request: Request::Create(_),
            record,
            is_found: true,
        } = event
        else {
            return;
        };
        if before.adopt.is_some() {
            return;
        }
        let kept = &service.records[&record.id];
        let is_other_copys =
            store.account.lease == 0 || self.doings.keys().any(|(store, _)| *store == 1);
        let doubt = before.doubt.clone().unwrap_or_default();
        let mut texts = doubt.texts.iter().map(Text::value);
        let is_whole =
            texts.any(|text| agreement(service, &text, &record.fields) == Agreement::Whole);
        match kept.maker() {
            Author::Row(maker) if maker == row.id || is_other_copys => {}
            Author::Row(maker) => {
                // That row has a twin of somebody else in its place, so two identical loads have one record each.
                let has_another = |own: &String| service.records[own].maker() != kept.maker();
                let place = store.rows.get(&maker).and_then(|row| row.record.as_ref());
                if !is_whole || !place.is_some_and(has_another) {
                    self.fail(|| format!("row {} adopts what row {maker} made", row.id));
                }
            }
            Author::Website => {
                // A twin that agrees wholly and appears while ours is in doubt is not told apart.
                let list = self.lists.get(&(store.index, doubt.listed.number));
                let has_appeared = list.is_some_and(|list| kept.listed_from > *list)
                    && record.updated_at > doubt.listed.latest;
                if !is_whole || !has_appeared || record.status() != Some("DRAFT") {
                    self.fail(|| format!("row {} adopts somebody's {record:?}", row.id));
                }
            }
        }
    }

    /// All is over: what is confirmed is met.
    pub(super) fn check_end(&mut self, service: &Service, stores: &[Store]) {
        for row in stores.iter().flat_map(|store| store.rows.values()) {
            if row.state != State::Confirmed {
                continue;
            }
            let kept = row.record.as_ref().map(|id| &service.records[id]);
            let is_met = match (&row.wish, kept) {
                (Wish::Delete, kept) => kept.is_none_or(|kept| kept.is_deleted),
                (Wish::Save(_) | Wish::Submit(_), None) => false,
                (Wish::Save(text), Some(kept)) => {
                    let named = row.record.as_ref().is_some_and(|id| {
                        let mut doings = self.doings.values();
                        doings.any(|doings| doings.named.contains(id))
                    });
                    named && !row.is_named || has_version(kept, text, None)
                }
                (Wish::Submit(text), Some(kept)) => has_version(kept, text, Some("SUBMITTED")),
            };
            if !is_met {
                self.fail(|| format!("law 4: a row is confirmed and not met: {row:?} {kept:?}"));
            }
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
        let mut versions = versions.iter();
        versions.any(|version| version.get(path).is_some_and(|was| same(value, was)))
    };
    let text = leaves(&text.value());
    let mut text = text.iter().filter(|(_, value)| !value.trim().is_empty());
    text.all(|(path, value)| was(path, value)) && status.is_none_or(|status| was("/status", status))
}
