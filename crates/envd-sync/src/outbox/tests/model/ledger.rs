//! What the user wants, and what the programs did about it so far: each change is checked when it is marked and when it is sent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::SystemTime;

use equipment::plain_service::{Author, Record, Service, Version};
use serde_json::{Value, json};

use super::note;
use super::service::shows_nothing_new;
use crate::outbox::row::{self, ChangeRequest, Question, Row, RowState};
use envd_sdk::model::Timestamp;

/// A text that the user wrote.
#[derive(Debug)]
pub(super) struct Text {
    /// The version of the record that the user edited.
    pub(super) seen: Option<usize>,
    pub(super) is_submitted: bool,
    /// The call that wrote it has returned.
    pub(super) is_acknowledged: bool,
}

/// One row as the ledger knows it.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are true independently of each other"
)]
pub(super) struct Noted {
    /// As it was written last.
    row: Option<Row>,
    /// What was wanted, in this order.
    texts: Vec<usize>,
    pub(super) may_submit: bool,
    pub(super) may_delete: bool,
    /// The version of the record that the user has seen or decided about.
    seen: usize,
    /// The version that the row shows as what the service has.
    shown: Option<usize>,
    /// The version that is changed although it is no draft.
    agreed: Option<usize>,
    /// What is sent although it has passed.
    late: Option<Timestamp>,
    attempts: u64,
    /// When a text was written last, in events.
    written: u64,
    /// The texts of creations that were sent.
    sent: Vec<Value>,
    /// When it was sent last, in seconds and events.
    departed: (u64, u64),
    /// The last reply said that it was not carried out.
    was_turned_down: bool,
    /// A person said that none of the candidates is it.
    is_resent: bool,
    /// A person said so at some time, named the record, or gave it up.
    is_decided: bool,
    is_ended: bool,
}

#[derive(Clone, Debug)]
struct Mark {
    row: u64,
    request: ChangeRequest,
    is_first: bool,
    /// When what is sent was written, in events. An edit after the mark changes nothing of it.
    written: u64,
    not_after: Option<SystemTime>,
}

/// What a process has done last.
#[derive(Debug, Default)]
struct Doings {
    mark: Option<Mark>,
    /// The versions of the records that it read since its last change.
    reads: HashMap<String, usize>,
    /// When the walk that it makes began, in events, and whether it is full.
    walk: Option<(u64, bool)>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) texts: Vec<Text>,
    rows: BTreeMap<u64, Noted>,
    /// Records that the user wants gone.
    pub(super) deletes: BTreeSet<String>,
    /// Rows that the user knows: their calls returned.
    pub(super) acknowledged: BTreeSet<u64>,
    pub(super) settle: u64,
    /// The user has removed rows that were at their end.
    pub(super) is_pruned: bool,
    /// New records were not listed at once.
    pub(super) has_lag: bool,
    /// By how much the clocks of the processes were set in all, in seconds.
    pub(super) skew: u64,
    doings: HashMap<usize, Doings>,
    /// The walks that ended.
    walks: Vec<(u64, bool)>,
}

impl Ledger {
    pub(super) fn lists(&mut self, process: usize, is_full: bool, event: u64) {
        self.doings.entry(process).or_default().walk = Some((event, is_full));
    }

    pub(super) fn listed(&mut self, process: usize) {
        let walk = self.doings.entry(process).or_default().walk.take();
        self.walks.extend(walk);
    }

    pub(super) fn reads(&mut self, process: usize, id: &str, versions: usize) {
        let reads = &mut self.doings.entry(process).or_default().reads;
        reads.insert(id.to_owned(), versions);
    }

    /// The version that a process read last of a record.
    fn read_by(&self, process: usize, id: &str) -> Option<usize> {
        self.doings.get(&process)?.reads.get(id).copied()
    }

    /// The call that wrote a text about a row has returned.
    pub(super) fn acknowledge(&mut self, row: u64, text: usize) {
        self.acknowledged.insert(row);
        self.texts[text].is_acknowledged = true;
        let noted = self.row(row);
        assert_eq!(noted.texts.last(), Some(&text), "row {row} is not written");
        noted.may_delete = false;
        let record = noted.row.as_ref().and_then(|row| row.record.clone());
        record.map(|record| self.deletes.remove(&record));
    }

    pub(super) fn row(&mut self, row: u64) -> &mut Noted {
        self.rows.get_mut(&row).unwrap()
    }

    /// The user decides about a row.
    pub(super) fn decided(
        &mut self,
        row: u64,
        is_kept: bool,
        is_resent: bool,
        late: Option<Timestamp>,
    ) {
        let noted = self.row(row);
        if is_kept {
            // What a person agreed to before stays so.
            noted.agreed = noted.shown.or(noted.agreed);
            noted.late = late.or(noted.late.take());
        }
        noted.is_resent |= is_kept || is_resent;
        noted.is_decided = true;
    }

    /// A row was written.
    pub(super) fn written(&mut self, process: usize, is_past: bool, row: &Row, service: &Service) {
        note(|| {
            let text = row.wish.text().and_then(|text| text_of(&text.value()));
            let (id, record, doubt) = (row.id, &row.record, row.doubt.sends > 0);
            format!(
                "{process} writes {id} {text:?} {:?} {record:?} {doubt} {is_past}",
                row.state
            )
        });
        let read = row
            .record
            .as_ref()
            .and_then(|record| self.read_by(process, record));
        let noted = self.rows.entry(row.id).or_default();
        let before = noted.row.replace(row.clone());
        noted.is_ended = is_past;
        let text = row.wish.text().and_then(|text| text_of(&text.value()));
        if let Some(text) = text.filter(|text| noted.texts.last() != Some(text)) {
            let is_new = noted.texts.last().is_none_or(|last| text > *last);
            assert!(
                is_new,
                "an edit of row {} is lost: {text} {:?}",
                row.id, noted.texts
            );
            noted.texts.push(text);
            noted.written = service.events;
            let text = &self.texts[text];
            noted.may_submit |= text.is_submitted;
            let is_base =
                |before: &Row| before.base.is_none() || before.state == RowState::Confirmed;
            if before.as_ref().is_none_or(is_base) {
                noted.seen = text.seen.unwrap_or(0).max(noted.seen);
            }
        }
        let reason = match &row.state {
            RowState::Asked(Question::Changed(_) | Question::NotADraft(_)) => Some(&row.state),
            _ => None,
        };
        if reason.is_some() {
            noted.shown = noted.shown.or(read);
        } else if let Some(shown) = noted.shown.take() {
            noted.seen = shown.max(noted.seen);
        }
        let applied = before.as_ref().filter(|before| before.base != row.base);
        // The wish may have changed since it was sent.
        let applied = applied.and_then(|before| {
            let sent = before.sent.as_ref().and_then(|sent| sent.request.text());
            sent.or(before.first.as_ref()).or(before.wish.text())
        });
        if let (Some(record), Some(read), Some(text)) = (&row.record, read, applied) {
            let record = &service.records[record];
            // What was there already as it is wanted was not sent.
            let is_wanted = read > 0 && has_content(record, read, &text.value());
            if is_wanted || shows_nothing_new(record, noted.seen, read, &text.value()) {
                noted.seen = read.max(noted.seen);
            }
        }
        // Another screen, which has read nothing, may write to the row while the question stays.
        let is_asked = before
            .as_ref()
            .is_none_or(|before| before.state != row.state);
        let is_made = before
            .as_ref()
            .is_none_or(|before| before.record != row.record)
            && !row.is_named;
        match (&row.record, reason) {
            (Some(record), _) if is_made => self.made(row, record, read, service),
            // Where a delete by id began the row, nothing is known of what an edit of it was made of: a question is right.
            (Some(record), Some(RowState::Asked(Question::Changed(_))))
                if row.base.is_some() && is_asked =>
            {
                self.check_conflict(row.id, &service.records[record], read.unwrap_or(0));
            }
            _ => {}
        }
    }

    /// A record that a row made and nobody but the outbox has changed is what the next edit of it was made of.
    fn check_conflict(&self, row: u64, record: &Record, read: usize) {
        let Author::Row(maker) = record.maker() else {
            return;
        };
        let is_of_others = |one: &Version| one.author == Author::Website || one.is_late;
        // A person said that the record of another row is the declaration: it may differ.
        let is_adopted = maker != row && self.is_decided(row);
        // What another screen has saved meanwhile, the user of this one did not see.
        let last = self.rows[&row].texts.last();
        let seen = last.and_then(|text| self.texts[*text].seen);
        let is_old = seen.is_some_and(|seen| seen < read);
        assert!(
            is_adopted
                || is_old
                || self.rows[&maker].is_decided
                || record.versions[..read].iter().any(is_of_others),
            "row {row} is a conflict with what the outbox itself has saved: {record:?}"
        );
    }

    /// A creation was confirmed with this record.
    fn made(&mut self, row: &Row, record: &str, read: Option<usize>, service: &Service) {
        let (id, known) = (row.id, &service.records[record]);
        if known.maker() == Author::Row(id) {
            return;
        }
        let noted = self.row(id);
        // Or the user read it, and wrote about it.
        let read = read.unwrap_or(noted.seen);
        let is_same = |text: &Value| read > 0 && has_content(known, read, text);
        let is_sent = noted.sent.iter().any(is_same);
        if is_sent || row.wish.text().is_some_and(|text| is_same(&text.value())) {
            noted.seen = noted.seen.max(read);
        }
        let is_adopted = known.maker() == Author::Website && is_sent;
        assert!(
            is_adopted || noted.is_decided,
            "row {id} adopts {record}, which is not what it sent: {known:?}"
        );
    }

    /// A row was written as being sent.
    pub(super) fn marked(
        &mut self,
        process: usize,
        row: &Row,
        copied: &[String],
        service: &Service,
    ) {
        let Some(sent) = &row.sent else {
            panic!("{row:?} is sent")
        };
        let (id, request) = (row.id, &sent.request);
        let noted = self.row(id);
        if row.shown.attempts <= noted.attempts {
            return;
        }
        noted.attempts = row.shown.attempts;
        if let ChangeRequest::Create(text) = request {
            noted.sent.push(text.value());
        }
        let is_first = noted.attempts == 1;
        let noted = &self.rows[&id];
        match request {
            ChangeRequest::Create(text) => {
                let twin = copied
                    .iter()
                    .find(|id| self.is_twin(noted, text, id, service));
                assert!(
                    twin.is_none() || noted.is_decided,
                    "row {id} is made beside {twin:?}"
                );
                let is_resent = noted.is_resent;
                let records = copied.iter().filter_map(|id| service.records.get(id));
                let mut own = records.filter(|record| record.is_only_of(Author::Row(id)));
                let own = own.find(|_| !is_first && !is_resent);
                assert!(
                    own.is_none(),
                    "row {id} is made again, and the copy has {own:?}"
                );
                let others = self.rows.values().filter_map(|other| other.row.as_ref());
                let open = others
                    .filter(|other| other.id != id)
                    .find(|other| match other.state {
                        RowState::Sending => other.record.is_none(),
                        RowState::Open { .. } => other.is_creation_in_doubt(),
                        _ => false,
                    });
                assert!(
                    row.is_creation_in_doubt() || open.is_none(),
                    "row {id} is sent while it is open what became of {open:?}"
                );
            }
            ChangeRequest::Submit(record, text) => {
                assert!(noted.may_submit, "row {id} submits {record} unasked");
                let text = text_of(&text.value());
                let mut written = noted.texts.iter().rev();
                let last = written.find(|text| self.texts[**text].is_acknowledged);
                assert!(
                    text >= last.copied(),
                    "row {id} submits the text {text:?} and not {last:?}"
                );
            }
            ChangeRequest::Delete(record) => assert!(
                noted.may_delete || self.deletes.contains(record),
                "row {id} deletes {record}, which nobody wanted"
            ),
            ChangeRequest::Update(..) => {}
        }
        let limit = row.not_after.as_ref();
        let limit = limit.map(|limit| Timestamp::from(limit.given.as_str()));
        let limit = limit.filter(|limit| noted.late.as_ref() != Some(limit));
        let mark = Mark {
            row: id,
            request: request.clone(),
            is_first,
            written: noted.written,
            not_after: limit.map(|limit| limit.to_time().unwrap()),
        };
        self.doings.entry(process).or_default().mark = Some(mark);
    }

    /// Whether somebody has made the record with the same login since a row was written, and it agrees with the row's text.
    fn is_twin(&self, noted: &Noted, text: &row::Text, id: &str, service: &Service) -> bool {
        let record = &service.records[id];
        let is_new = record.is_only_of(Author::Website) && record.versions[0].event > noted.written;
        let mut rows = self.rows.values().filter_map(|noted| noted.row.as_ref());
        let is_of = |row: &Row| row.is_about(id) || row.duplicates.iter().any(|one| one == id);
        is_new
            && service.habits.shares_login
            && !text.is_signed()
            && has_content(record, 1, &text.value())
            && !rows.any(is_of)
    }

    /// Whether a person has decided about a row.
    pub(super) fn is_decided(&self, row: u64) -> bool {
        self.rows.get(&row).is_some_and(|noted| noted.is_decided)
    }

    /// Whether another row may have made the record for all that the outbox knows, and a person is asked about that row.
    pub(super) fn is_rivalled(&self, row: u64, record: &Record) -> bool {
        let others = self.rows.values().filter_map(|noted| noted.row.as_ref());
        let mut asked = others
            .filter(|other| other.id != row && matches!(other.state, RowState::Asked(_)))
            .flat_map(Row::on_their_way);
        asked.any(|text| has_content(record, 1, &text.value()))
    }

    /// Whether a row is at its end, so that it may be removed.
    pub(super) fn is_ended(&self, row: u64) -> bool {
        self.rows.get(&row).is_some_and(|noted| noted.is_ended)
    }

    /// Whether a record is that of a row.
    pub(super) fn is_kept(&self, id: &str) -> bool {
        let mut rows = self.rows.values().filter_map(|noted| noted.row.as_ref());
        rows.any(|row| row.record.as_deref() == Some(id))
    }

    /// The records of the rows but one.
    pub(super) fn records_of_others(&self, row: u64) -> Vec<String> {
        let others = self.rows.values().filter_map(|noted| noted.row.as_ref());
        let others = others.filter(|other| other.id != row);
        let records = others.filter_map(|other| other.record.clone());
        let own = self.rows[&row]
            .row
            .as_ref()
            .and_then(|row| row.record.as_ref());
        records.filter(|record| own != Some(record)).collect()
    }

    /// The service does not carry a change out, and its program hears so.
    pub(super) fn turned_down(&mut self, row: u64) {
        self.row(row).was_turned_down = true;
    }

    /// Checks a change that is sent now. Returns its row.
    pub(super) fn sends(
        &mut self,
        process: usize,
        now: SystemTime,
        operation: &str,
        variables: &Value,
        service: &Service,
    ) -> u64 {
        let doings = self.doings.entry(process).or_default();
        let mark = doings.mark.take();
        let mark =
            mark.unwrap_or_else(|| panic!("{operation} is sent without a mark: {variables}"));
        let reads = std::mem::take(&mut doings.reads);
        let row = mark.row;
        let is_in_time = mark.not_after.is_none_or(|limit| now <= limit);
        assert!(is_in_time, "row {row} is sent after its limit");
        let input = &variables["input"];
        let (named, text, status) = match &mark.request {
            ChangeRequest::Delete(id) => (variables["id"] == **id, None, None),
            request => (
                input["id"].as_str() == request.record(),
                request.text(),
                request.sent(),
            ),
        };
        let is_marked = text.is_none_or(|text| text_of(&text.value()) == text_of(input))
            && status.is_none_or(|sent| sent["status"] == input["status"])
            && (operation == "DeleteConsignment")
                == matches!(mark.request, ChangeRequest::Delete(_));
        assert!(
            named && is_marked,
            "row {row} sends {operation} {variables}: {mark:?}"
        );
        match mark.request.record() {
            None => self.check_creation(&mark, service),
            Some(id) => self.check_change(&mark, id, reads.get(id).copied(), service),
        }
        let noted = self.row(row);
        noted.departed = (service.now, service.events);
        (noted.was_turned_down, noted.is_resent) = (false, false);
        row
    }

    fn check_creation(&self, mark: &Mark, service: &Service) {
        let (row, noted) = (mark.row, &self.rows[&mark.row]);
        if mark.is_first {
            assert!(
                self.walks.iter().any(|(begun, _)| *begun > mark.written),
                "row {row} is made, and the list was read before it was written"
            );
        }
        let (seconds, event) = noted.departed;
        if mark.is_first || noted.is_resent || event == 0 || noted.was_turned_down {
            return;
        }
        // Clocks that are far apart leave nothing of it.
        let is_settled = service.now + self.skew >= seconds + self.settle || self.skew > 1_800;
        assert!(
            is_settled,
            "row {row} was sent at {seconds} and is again at {}",
            service.now
        );
        let walks = self.walks.iter().filter(|walk| walk.0 > event);
        assert!(
            walks.count() >= 2,
            "row {row} is sent again after fewer than two looks"
        );
        let looked = self.last_look();
        let is_overlooked = |record: &&Record| {
            let was_listed = service.is_listed(record) && record.versions[0].event < looked;
            was_listed && record.is_only_of(Author::Row(row))
        };
        let own = service.records.values().find(is_overlooked);
        assert!(
            own.is_none(),
            "row {row} is made again, and {own:?} was listed"
        );
    }

    /// When the last walk that was copied began at the latest. A full one is followed by a list that is not copied.
    fn last_look(&self) -> u64 {
        match self.walks.as_slice() {
            [.., (begun, true), (_, false)] | [.., (begun, _)] => *begun,
            [] => 0,
        }
    }

    fn check_change(&self, mark: &Mark, id: &str, read: Option<usize>, service: &Service) {
        let (row, record, noted) = (mark.row, &service.records[id], &self.rows[&mark.row]);
        let read = read.unwrap_or_else(|| panic!("row {row} changes {id} unread"));
        let is_draft = record.versions[read - 1].value["status"] == "DRAFT";
        assert!(
            is_draft || noted.agreed == Some(read),
            "row {row} changes {id}, which is no draft any more: {mark:?} {record:?}"
        );
        let Some(text) = mark.request.text() else {
            return;
        };
        assert!(
            shows_nothing_new(record, noted.seen, read, &text.value()),
            "row {row} overwrites what the website made of {id}: {} {read} {record:?}",
            noted.seen
        );
        let is_ours = |one: &Version| one.author != Author::Website;
        assert!(
            noted.seen > 0 || record.versions[..read].iter().any(is_ours),
            "row {row} changes {id}, which nobody here has written or seen"
        );
    }
}

/// The number of the text that a record or an input is made of: so many blanks, which no comparison with what was sent uses.
pub(super) fn text_of(value: &Value) -> Option<usize> {
    let certificate = value["declaration"]["certificateNumber"].as_str()?;
    certificate.len().checked_sub(2)
}

pub(super) fn certificate(text: usize) -> Value {
    json!(format!("A{:1$}", "", text + 1))
}

/// Whether a version of a record shows what was sent, and nothing that somebody else has filled in.
fn has_content(record: &Record, version: usize, sent: &Value) -> bool {
    let value = &record.versions[version - 1].value;
    [
        "/movementDate",
        "/movementTime",
        "/answers/0/value",
        "/consignee",
        "/owner",
        "/destination/name",
    ]
    .iter()
    .all(|path| value.pointer(path) == sent.pointer(path))
}
