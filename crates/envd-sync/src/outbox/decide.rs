//! Decides the next step for a row from the row, the records read for it, and the time. Pure.
//!
//! | row | nothing read | gone, or nothing appeared | as expected | as wanted or sent | something else |
//! | --- | --- | --- | --- | --- | --- |
//! | any, before its time | wait | | | | |
//! | queued, too late | ask | | | | |
//! | queued, delete, no record | confirm | | | | |
//! | a record to adopt | read | ask | confirm | confirm | confirm |
//! | queued, no record | list | create | | ask | everything and more: ask; partly, or by another user: create |
//! | in doubt, no record | list again | 1st search: wait; 2nd: create | | one: confirm | ask |
//! | queued, save or submit | read | ask | a draft: send; else ask | confirm | ask |
//! | queued, delete | read | confirm | a draft: send; else ask | | ask |
//! | in doubt, record | read | delete: confirm; else ask | 1st search: wait; 2nd: send | confirm | ask |

use envd_sdk::model::{Day, FormType};
use serde_json::{Value, json};

use super::apply::RowEvent;
use super::compare::{Base, Compared, Match, ServiceFields, ServiceRecord, compare, whose};
use super::row::{
    ChangeRequest, Desired, Due, Listing, Owner, Question, Reason, Row, RowState, Sent, Text, Time,
};

/// The number of searches, a wait apart, that must find nothing before a request is sent again.
const SEARCHES: u32 = 2;

/// The number of resends before the user is asked.
const RESENDS: u32 = 6;

/// The greatest age of a list that a creation relies on, in seconds.
const FRESH: Time = 60;

// OK because only one value exists at a time.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Wait until this time, or until something else happens.
    Wait(Option<Due>),
    Read(String),
    List,
    /// Append the event to the row. After [`RowEvent::SendStarted`] is committed, send its request.
    Append(RowEvent),
}

/// A record that was read for a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObservedRecord {
    pub(crate) record: ServiceRecord,
    /// The number of the change with which the replica first listed it; `None`: unknown, or never listed.
    pub(crate) sequence: Option<u64>,
    /// How another row came to have it; `None`: no other row has it.
    pub(crate) owner: Option<Owner>,
}

/// The result of a read for a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Observation {
    /// The row's record; `None`: it is gone.
    Record(Option<ObservedRecord>),
    /// The list, and the records that may be the row's and appeared since it was written or sent.
    Listed(Listing, Vec<ObservedRecord>),
    /// The service's answer cannot be used, for this reason.
    Failed(String),
}

/// The meaning of a reply to a change.
// OK because only one value exists at a time.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WriteReply {
    Record {
        /// The record as the reply shows it: id and status.
        seen: ObservedRecord,
        /// The new record as read by the id in the reply to a creation; `None`: it could not be read.
        read: Option<ServiceRecord>,
    },
    /// The service itself refused the request.
    Refused,
    NotSent {
        wait: Time,
    },
    OutcomeUnknown,
}

/// The inputs of a decision besides the row and the records read.
pub(crate) struct Circumstances<'a> {
    pub(crate) now: Time,
    /// Today in the place where the day ends last.
    pub(crate) today: &'a str,
    pub(crate) service: &'a ServiceFields,
    /// The other rows with creations that are under way, in doubt or watched.
    pub(crate) open: &'a [&'a Row],
    /// The user who is logged in, if known.
    pub(crate) user: Option<&'a str>,
}

/// Decides the next step. A change that one user wrote is not sent under the login of another without the other user's consent.
pub(crate) fn decide(row: &Row, read: Option<&Observation>, when: &Circumstances<'_>) -> Action {
    let others = row.other_writers(when.user);
    match (decide_of_writer(row, read, when), others) {
        (Action::Append(RowEvent::SendStarted(_)), Some(others)) => {
            ask(Question::AnotherUser(others))
        }
        (Action::Wait(_), None)
            if matches!(row.state, RowState::Asked(Question::AnotherUser(_)))
                && when.user.is_some() =>
        {
            Action::Append(RowEvent::WriterReturned)
        }
        (action, _) => action,
    }
}

fn decide_of_writer(row: &Row, read: Option<&Observation>, when: &Circumstances<'_>) -> Action {
    let RowState::Open { next_at } = &row.state else {
        return Action::Wait(None);
    };
    if let Some(due) = next_at.filter(|due| due.is_ahead(when.now)) {
        return Action::Wait(Some(due));
    }
    if let Some(Observation::Failed(reason)) = read {
        return unclear(row, reason, when.now);
    }
    if let Some(id) = &row.adopt {
        return match read {
            Some(Observation::Record(seen)) => adopted(row, id, seen.as_ref()),
            _ => Action::Read(id.clone()),
        };
    }
    if !row.is_in_doubt() {
        if row.desired == Desired::Delete && row.record.is_none() {
            return OVER;
        }
        if let Some(late) = late(row, when) {
            return ask(late);
        }
    }
    match (&row.record, read) {
        (None, Some(Observation::Listed(listing, seen))) if is_fresh(row, listing, when.now) => {
            creation(row, listing, seen, when)
        }
        (None, _) => Action::List,
        (Some(_), Some(Observation::Record(seen))) => match seen {
            Some(seen) if seen.record.status() != Some("DELETED") => {
                change(row, &seen.record, when)
            }
            _ if row.desired == Desired::Delete => OVER,
            _ if row.agreed.gone => SEARCH_AGAIN,
            _ => ask(Question::Gone),
        },
        (Some(id), _) => Action::Read(id.clone()),
    }
}

/// The intent is fulfilled, or there is nothing left to create.
const OVER: Action = Action::Append(RowEvent::Absent { is_over: true });

/// Whether the list can answer what the row waits for. It must have started after the row last changed, and before a first creation it
/// must be recent.
pub(crate) fn is_fresh(row: &Row, listing: &Listing, now: Time) -> bool {
    let age = now.checked_sub(listing.begun);
    listing.number > row.listed && (row.is_in_doubt() || age.is_some_and(|age| age <= FRESH))
}

fn ask(question: Question) -> Action {
    Action::Append(RowEvent::Asked(question))
}

fn unclear(row: &Row, reason: &str, now: Time) -> Action {
    let before = row.read_failures.as_ref();
    if before.is_some_and(|unclear| unclear.unanswered.is_over(now)) {
        ask(Question::ServiceUnresponsive)
    } else {
        Action::Append(RowEvent::ReadFailed(reason.to_owned()))
    }
}

/// Compares the record that the user adopted. It may differ from the text: the next step compares that.
fn adopted(row: &Row, id: &str, seen: Option<&ObservedRecord>) -> Action {
    // Assume that the record was created from the text sent last, or from the text that would be sent.
    let lost = row.lost.iter().find_map(|lost| lost.texts.last());
    let text = lost.or(row.next_desired().text());
    // Nothing was sent, and the only intent is a delete.
    let text = text.cloned().unwrap_or_else(|| Text::new(&json!({})));
    match seen.filter(|seen| seen.owner.is_none()) {
        Some(seen) => applied(&ChangeRequest::Create(text), &seen.record, true),
        // It stays a candidate: a resend says that it is not the declaration.
        None => ask(Question::NotAdopted(id.to_owned())),
    }
}

/// The next step for a row without a record, once the account was listed.
fn creation(
    row: &Row,
    listing: &Listing,
    seen: &[ObservedRecord],
    when: &Circumstances<'_>,
) -> Action {
    let is_in_doubt = row.is_creation_in_doubt();
    let is_hidden = row
        .lost
        .as_ref()
        .is_some_and(|lost| lost.may_be_hidden_in(listing));
    if is_in_doubt && is_hidden {
        // The created record may be hidden in the gap of this list.
        return unclear(row, "the list has an entry that cannot be read", when.now);
    }
    let found = seen.iter().filter_map(|seen| {
        let (whose, text) = candidate(row, seen, when)?;
        Some((whose, text, &seen.record))
    });
    let found: Vec<(Match, &Text, &ServiceRecord)> = found.collect();
    let mut close = found.iter().filter(|(whose, ..)| is_close(*whose));
    if let (true, Some((Match::Exact, text, record)), None) =
        (is_in_doubt, close.next(), close.next())
    {
        return applied(&ChangeRequest::Create((*text).clone()), record, true);
    }
    // A record that is only similar can be the declaration only if a creation was sent.
    let rivals = found
        .iter()
        .filter(|(whose, ..)| is_in_doubt || is_close(*whose));
    let rivals: Vec<String> = rivals.map(|(.., record)| record.id.clone()).collect();
    if !rivals.is_empty() {
        return ask(Question::Candidates(rivals));
    }
    if is_in_doubt && is_first_search(row) {
        return SEARCH_AGAIN;
    }
    if row.desired == Desired::Delete {
        return OVER;
    }
    if let Some(question) = hindrance(row, when).filter(|_| is_in_doubt) {
        return ask(question);
    }
    if when.open.iter().any(|other| is_before(other, row)) {
        return Action::Wait(None);
    }
    let twins = twins(row, seen, when);
    if is_in_doubt && !twins.is_empty() {
        return ask(Question::Candidates(twins));
    }
    send(row, None, listing.clone())
}

/// The records that equal the current intent and appeared since the row was written. After an edit, the intent may be another text than
/// the creations in doubt have.
fn twins(row: &Row, seen: &[ObservedRecord], when: &Circumstances<'_>) -> Vec<String> {
    let wanted = row.next_desired().text();
    let is_twin = |seen: &&ObservedRecord| {
        let found = closest(row, seen, wanted.into_iter(), &row.known, when);
        found.is_some_and(|(whose, _)| is_close(whose))
    };
    let twins = seen.iter().filter(is_twin);
    twins.map(|seen| seen.record.id.clone()).collect()
}

/// Whether a record has everything of a text, regardless of its author.
fn is_close(whose: Match) -> bool {
    matches!(
        whose,
        Match::Exact | Match::ExactButNotNew | Match::Superset
    )
}

/// If the record may be the declaration of the row: how it compares, and with which text.
fn candidate<'a>(
    row: &'a Row,
    seen: &ObservedRecord,
    when: &Circumstances<'_>,
) -> Option<(Match, &'a Text)> {
    let (texts, since) = row.searched_for();
    closest(row, seen, texts, since, when)
}

/// Like [`candidate`], with the given texts. None of them was sent before the list `since`.
fn closest<'a>(
    row: &Row,
    seen: &ObservedRecord,
    texts: impl DoubleEndedIterator<Item = &'a Text>,
    since: &Listing,
    when: &Circumstances<'_>,
) -> Option<(Match, &'a Text)> {
    let has_appeared = seen.sequence.is_none_or(|sequence| sequence > since.last);
    let is_other = seen.owner == Some(Owner::Maker) || row.agreed.not.contains(&seen.record.id);
    if !has_appeared || is_other {
        return None;
    }
    let whose_of = |text: &Text| whose(&text.value(), &since.latest, &seen.record, when.service);
    // If several texts agree, take the latest.
    let closest = texts.rev().map(|text| (whose_of(text), text));
    match closest.min_by_key(|(whose, _)| *whose as u8)? {
        (Match::Unrelated, _) => None,
        (Match::Exact, text)
            if seen.owner.is_some() || rivals(row, &seen.record, when).next().is_some() =>
        {
            Some((Match::ExactButNotNew, text))
        }
        found => Some(found),
    }
}

/// The other rows that may have created the record too.
fn rivals<'a>(
    row: &'a Row,
    record: &'a ServiceRecord,
    when: &'a Circumstances<'_>,
) -> impl Iterator<Item = &'a Row> {
    let may_be_made_of = |text: &Text| {
        let found = whose(&text.value(), "", record, when.service);
        matches!(found, Match::Exact | Match::Superset)
    };
    let others = when.open.iter().filter(|other| other.id != row.id);
    let others = others.filter(move |other| other.on_their_way().any(may_be_made_of));
    others.copied()
}

/// Whether the creation of another row goes first. Only one creation of an account may be in doubt at a time.
pub(crate) fn is_before(other: &Row, row: &Row) -> bool {
    let is_sending = other.state == RowState::Sending && other.record.is_none();
    let is_open = matches!(other.state, RowState::Open { .. });
    let is_in_doubt = is_open && other.is_creation_in_doubt();
    let is_later = row.is_creation_in_doubt() && other.id > row.id;
    other.id != row.id && (is_sending || is_in_doubt && !is_later)
}

/// The next step for a row with a record, which was just read.
fn change(row: &Row, record: &ServiceRecord, when: &Circumstances<'_>) -> Action {
    let shown = Base::shown(&record.fields);
    if let Some(Sent {
        request,
        before: Some(before),
        ..
    }) = &row.sent
    {
        let sent = request.sent(Some(&before.fields));
        let has_all = |sent| shown.has(sent, when.service);
        let is_submit = matches!(request, ChangeRequest::Submit(..));
        let expected = Base::shown(&before.fields);
        match compare(&expected, sent.as_ref(), &record.fields, when.service) {
            // The record is submitted, but perhaps with the text of another user.
            Compared::Ours(_) if is_submit && !sent.as_ref().is_some_and(has_all) => {
                return changed(record);
            }
            Compared::Ours(_) => return applied(request, record, false),
            Compared::Theirs(_) => return changed(record),
            // The request may have been carried out and undone since.
            Compared::Same if changes_status(request) && record.updated_at != before.updated_at => {
                return changed(record);
            }
            Compared::Same if is_first_search(row) => return SEARCH_AGAIN,
            Compared::Same => {
                if let Some(question) = hindrance(row, when) {
                    return ask(question);
                }
            }
        }
    }
    let Some(request) = row.next_request() else {
        return Action::Wait(None);
    };
    let nothing = Base::default();
    let base = row.base.as_ref().unwrap_or(&nothing);
    let sent = request.sent(Some(&record.fields));
    let is_there = sent
        .as_ref()
        .is_some_and(|sent| shown.has(sent, when.service));
    // If it is unknown what the user saw, a delete applies to the current record.
    let is_seen = match &row.seen_at {
        Some(seen_at) => *seen_at == record.updated_at,
        None => row.base.is_none(),
    };
    let is_seen = is_seen && sent.is_none();
    match compare(base, sent.as_ref(), &record.fields, when.service) {
        Compared::Ours(beside) if beside.is_empty() => return applied(&request, record, true),
        Compared::Same if is_there => return applied(&request, record, true),
        Compared::Same => {}
        _ if is_seen => {}
        _ => return changed(record),
    }
    let agreed = row.agreed.not_draft.as_ref().map(Base::shown);
    let is_agreed = agreed.is_some_and(|agreed| {
        compare(&agreed, None, &record.fields, when.service) == Compared::Same
    });
    if record.is_draft() || is_agreed {
        send(row, Some(record.clone()), Listing::default())
    } else {
        changed(record)
    }
}

/// Whether a request changes the status of a record. After such a request, equal content with a later date need not be the same state.
fn changes_status(request: &ChangeRequest) -> bool {
    !matches!(
        request,
        ChangeRequest::Create(_) | ChangeRequest::Update(..)
    )
}

fn applied(request: &ChangeRequest, record: &ServiceRecord, is_found: bool) -> Action {
    Action::Append(RowEvent::Applied {
        request: request.clone(),
        record: record.clone(),
        is_found,
    })
}

fn changed(record: &ServiceRecord) -> Action {
    let record = record.clone();
    ask(if record.is_draft() {
        Question::Changed(record)
    } else {
        Question::NotADraft(record)
    })
}

fn send(row: &Row, before: Option<ServiceRecord>, listed: Listing) -> Action {
    match row.next_request() {
        None => Action::Wait(None),
        Some(request) => Action::Append(RowEvent::SendStarted(Sent {
            request,
            before,
            listed,
        })),
    }
}

/// Whether another search must follow before the request is sent again.
fn is_first_search(row: &Row) -> bool {
    row.doubt.searches + 1 < SEARCHES
}

const SEARCH_AGAIN: Action = Action::Append(RowEvent::Absent { is_over: false });

/// The question to ask instead of sending again, if any.
fn hindrance(row: &Row, when: &Circumstances<'_>) -> Option<Question> {
    let is_hopeless = row.doubt.resends() >= RESENDS || row.doubt.unanswered.is_over(when.now);
    let given_up = is_hopeless.then_some(Question::ServiceUnresponsive);
    given_up.or_else(|| late(row, when))
}

/// The question to ask if the next request is late.
fn late(row: &Row, when: &Circumstances<'_>) -> Option<Question> {
    let request = row.next_request()?;
    let text = request.text()?.value();
    let limit = row.not_after.iter().map(|limit| limit.at);
    let mut limit = limit.filter(|at| when.now > *at);
    let limit = limit
        .next()
        .map(|at| (Reason::NotAfterPassed, at.to_string()));
    // A submit that omits the day declares the day of the record. A draft may be edited after its day.
    let base = row.base.as_ref();
    let base = base.filter(|_| matches!(request, ChangeRequest::Submit(..)));
    let movement = text.get("movementDate");
    let movement = movement.or_else(|| base?.field("movementDate"));
    let date = movement.and_then(Value::as_str).map(str::trim);
    let movement = date.filter(|date| !date.is_empty()).and_then(|date| {
        let reason = match day(date) {
            None => Reason::MovementUnreadable,
            Some(day) if day.as_str() < when.today => Reason::MovementPassed,
            Some(_) => return None,
        };
        Some((reason, date.to_owned()))
    });
    let forms = text.get("forms").and_then(Value::as_array);
    let forms = forms.into_iter().flatten();
    let mut forms = forms.filter_map(Value::as_str);
    let retired = forms.find(|form| {
        let from = retired_from(form).filter(|_| row.record.is_none());
        from.is_some_and(|from| from.as_str() <= when.today)
    });
    let retired = retired.map(|form| (Reason::FormRetired, form.to_owned()));
    let mut late = [limit, movement, retired].into_iter().flatten();
    let (reason, what) = late.find(|(_, what)| !row.agreed.late.contains(what))?;
    Some(Question::Late(reason, what))
}

/// The day of a date that may have a time after it.
fn day(date: &str) -> Option<String> {
    let (day, rest) = date.split_at_checked(10)?;
    let has_end = rest.is_empty() || rest.starts_with(['T', ' ']);
    let day = Day::parse(day).ok().filter(|_| has_end);
    day.map(|day| day.to_string())
}

/// The first day on which a form is closed for new declarations.
fn retired_from(form: &str) -> Option<String> {
    let from = FormType::from(form).closed_from()?;
    Some(from.to_string())
}

/// The event that follows from the reply to the request under way.
pub(crate) fn answer(row: &Row, reply: WriteReply, service: &ServiceFields) -> RowEvent {
    let Some(Sent {
        request, listed, ..
    }) = &row.sent
    else {
        return RowEvent::Doubt;
    };
    let (seen, read) = match reply {
        WriteReply::Record { seen, read } => (seen, read),
        WriteReply::Refused => return RowEvent::Refused,
        WriteReply::NotSent { wait } => return RowEvent::NotSent { wait },
        WriteReply::OutcomeUnknown => return RowEvent::Doubt,
    };
    let is_its_own = match request.record() {
        Some(id) => seen.record.id == id,
        None => seen.owner.is_none() && seen.sequence.is_none_or(|at| at > listed.last),
    };
    if !is_its_own {
        return RowEvent::Asked(Question::OtherRecord(seen.record.id));
    }
    let is_submitted = seen.record.status() == Some("SUBMITTED");
    if matches!(request, ChangeRequest::Submit(..)) && !is_submitted {
        return RowEvent::Doubt;
    }
    if let (ChangeRequest::Create(text), Some(read)) = (request, &read) {
        let found = whose(&text.value(), "", read, service);
        // The reply may name a record that another user created at the same time.
        if !matches!(found, Match::Exact | Match::ExactButNotNew) {
            return RowEvent::Doubt;
        }
    }
    RowEvent::Applied {
        request: request.clone(),
        record: read.unwrap_or(seen.record),
        is_found: false,
    }
}

/// The user edits a record by its id, and a creation of this row may have created that record. The record then belongs to this row, or
/// the user is asked, before the edit makes the record differ from the text that was sent.
pub(crate) fn claim(
    row: &Row,
    seen: &ObservedRecord,
    when: &Circumstances<'_>,
) -> Option<RowEvent> {
    let asked = match &row.state {
        RowState::Open { .. } => None,
        RowState::Sending => return claim_under_way(row, seen, when),
        RowState::Asked(asked) if !asked.candidates().contains(&seen.record.id) => {
            Some(asked.candidates())
        }
        _ => return None,
    };
    if row.lost.is_none() || row.record.is_some() {
        return None;
    }
    match candidate(row, seen, when)? {
        (Match::OfAnotherUser, _) => None,
        (Match::Exact, text) if row.is_creation_in_doubt() && asked.is_none() => {
            Some(RowEvent::Applied {
                request: ChangeRequest::Create(text.clone()),
                record: seen.record.clone(),
                is_found: true,
            })
        }
        _ => {
            let mut candidates = asked.unwrap_or_default().to_vec();
            candidates.push(seen.record.id.clone());
            Some(RowEvent::Asked(Question::Candidates(candidates)))
        }
    }
}

/// As [`claim`], for a creation that is being sent. The reply shows later whether it has created the record.
fn claim_under_way(row: &Row, seen: &ObservedRecord, when: &Circumstances<'_>) -> Option<RowEvent> {
    let Some(Sent {
        request: ChangeRequest::Create(text),
        listed,
        ..
    }) = &row.sent
    else {
        return None;
    };
    let (found, _) = closest(row, seen, std::iter::once(text), listed, when)?;
    let candidates = Question::Candidates(vec![seen.record.id.clone()]);
    (found != Match::OfAnotherUser).then_some(RowEvent::Asked(candidates))
}

/// Finds late records to report. `is_there`: whether the list shows the row's own record.
pub(crate) fn late_duplicates(
    row: &Row,
    seen: &[ObservedRecord],
    is_there: bool,
    when: &Circumstances<'_>,
) -> Option<RowEvent> {
    // A watch whose time is over gets one last search, because there may have been none since.
    let lost = row.watched()?;
    // The row's own record, if a reply named it, shows our author name, which may not be learned yet.
    let mut own = seen.iter().map(|seen| &seen.record);
    let own = own.find(|own| row.record.as_ref() == Some(&own.id) && !row.shown.is_adopted);
    let is_one = |seen: &&ObservedRecord| {
        let ObservedRecord {
            record,
            sequence,
            owner,
        } = seen;
        let is_known = row.record.as_ref() == Some(&record.id)
            || row.duplicates.contains(&record.id)
            || row.agreed.not.contains(&record.id)
            || own.is_some_and(|own| own.created_by != record.created_by)
            || sequence.is_some_and(|at| at <= lost.listed.last);
        let is_new = record.is_draft() && record.updated_at > lost.listed.latest;
        // The service may have filled in a field that the profile does not name, so the record may have more than the text.
        let may_be_made_of = |text: &Text| {
            let found = whose(&text.value(), &lost.listed.latest, record, when.service);
            matches!(found, Match::Exact | Match::Superset)
        };
        // A watched row no longer searches for its own record, so it does not prevent the report.
        let is_searched_for = rivals(row, record, when).any(|other| other.watched().is_none());
        !is_known
            && is_new
            && owner.is_none()
            && lost.texts.iter().any(may_be_made_of)
            && !is_searched_for
    };
    // A late record looks the same as an equal record of another user, so each is reported as possibly surplus.
    let found = seen.iter().filter(is_one);
    let found: Vec<String> = found.map(|seen| seen.record.id.clone()).collect();
    // If the user wants no record, every record is surplus.
    let is_unwanted = row.desired == Desired::Delete || row.state == RowState::Discarded;
    let is_another = row.record.is_none() || is_there || is_unwanted;
    let is_reported = !found.is_empty() && is_another;
    is_reported.then_some(RowEvent::Reported(found))
}

#[cfg(test)]
mod tests {
    use super::super::row::DAY;
    use super::super::tests::cases::{NOW, lines, listing, read, record, row, with_circumstances};
    use super::*;

    /// Describes an action in the words of the tables.
    fn said(action: &Action) -> String {
        let request = |request: &ChangeRequest| match request {
            ChangeRequest::Create(_) => "create",
            ChangeRequest::Update(..) => "update",
            ChangeRequest::Submit(..) => "submit",
            ChangeRequest::Withdraw(..) => "withdraw",
            ChangeRequest::Delete(_) => "delete",
        };
        match action {
            Action::Wait(_) => "wait".to_owned(),
            Action::Read(_) => "read".to_owned(),
            Action::List => "list".to_owned(),
            Action::Append(event) => match event {
                RowEvent::SendStarted(sent) => {
                    let is_first = sent.request.text().is_some_and(Text::is_signed);
                    request(&sent.request).to_owned() + if is_first { " first" } else { "" }
                }
                RowEvent::Applied {
                    request: applied,
                    is_found,
                    ..
                } => {
                    let found = if *is_found { " found" } else { "" };
                    format!("applied {}{found}", request(applied))
                }
                RowEvent::Absent { is_over } => {
                    (if *is_over { "over" } else { "absent" }).to_owned()
                }
                RowEvent::ReadFailed(_) => "unclear".to_owned(),
                RowEvent::Asked(question) => {
                    let reason = question.reason();
                    let records = question.candidates().join(" ");
                    format!("ask {reason:?} {records}").trim().to_owned()
                }
                other => format!("{other:?}"),
            },
        }
    }

    #[test]
    fn a_movement_day_is_read_with_a_time_after_it() {
        for date in "2027-06-01|2027-06-01T05:15:00|2027-06-01 05:15|2028-02-29".split('|') {
            assert_eq!(day(date).as_deref(), date.get(..10));
        }
        let others =
            "|soon|2027-06-31|2027-02-29|01/06/2027|2027-6-1|2027-06-01x|2027-06-0ä|+027-06-01";
        assert!(others.split('|').all(|date| day(date).is_none()));
    }

    #[test]
    fn the_next_step_follows_from_the_row_and_the_read() {
        for line in lines(include_str!("decide.txt")) {
            let has = |word: &str| line[0].split(' ').any(|one| one == word);
            let row = row(line[0]);
            let read = read(line[1], &row);
            // Another row, written before or after this one, with a creation in doubt or with a question.
            let mut other = super::super::tests::cases::row(if has("rival") {
                "asked:no-answer"
            } else {
                "doubt"
            });
            other.id = if has("later") { 2 } else { 0 };
            if has("rival") {
                other.lost = super::super::tests::cases::row("doubt").lost;
            }
            let others = [&other];
            let is_alone = !["blocked", "later", "rival"].into_iter().any(has);
            let open = if is_alone { &[] } else { &others[..] };
            let action = with_circumstances(open, |when| decide(&row, read.as_ref(), when));
            assert_eq!(said(&action), line[2], "{line:?}: {action:?}");
        }
    }

    #[test]
    fn a_reply_counts_if_it_shows_the_record_that_was_sent() {
        for line in lines(include_str!("tests/answers.txt")) {
            let [of, shows, sequence, means] = line[..] else {
                panic!("{line:?}")
            };
            let reply = match shows.split(' ').collect::<Vec<_>>()[..] {
                ["unclear"] => WriteReply::OutcomeUnknown,
                ["refused"] => WriteReply::Refused,
                ["not-sent"] => WriteReply::NotSent { wait: 5 },
                [id, status, ref rest @ ..] => {
                    let has = |word: &str| rest.contains(&word);
                    let seen = ObservedRecord {
                        record: record(id, json!({"status": status})),
                        sequence: sequence.parse().ok(),
                        owner: has("of-maker").then_some(Owner::Maker),
                    };
                    let read = rest.iter().find_map(|word| word.strip_prefix("read:"));
                    let read =
                        read.map(
                            |word| match super::super::tests::cases::read(word, &row(of)) {
                                Some(Observation::Listed(_, seen)) => seen[0].record.clone(),
                                _ => panic!("{line:?}"),
                            },
                        );
                    WriteReply::Record { seen, read }
                }
                _ => panic!("{line:?}"),
            };
            let event = answer(&row(of), reply, &super::super::tests::cases::service());
            assert_eq!(said(&Action::Append(event)), means, "{line:?}");
        }
    }

    #[test]
    fn an_edited_record_may_be_the_result_of_a_creation() {
        for line in lines(include_str!("tests/claims.txt")) {
            let row = row(line[0]);
            let Some(Observation::Listed(_, seen)) = read(line[1], &row) else {
                panic!("{line:?}")
            };
            let event = with_circumstances(&[], |when| claim(&row, seen.last()?, when));
            let said = event.map_or("-".to_owned(), |event| said(&Action::Append(event)));
            assert_eq!(said, line[2], "{line:?}");
        }
    }

    #[test]
    fn late_duplicates_are_reported_once_and_never_the_only_record() {
        let text = row("save").desired.text().cloned().unwrap();
        let watched = |record: Option<&str>| {
            let mut row = row("save confirmed");
            row.record = record.map(str::to_owned);
            row.lost = Some(super::super::row::UnresolvedCreates {
                texts: vec![text.clone(), text.clone()],
                listed: listing(2),
                left: 1,
                watched_until: Some(NOW + 60),
            });
            row
        };
        let found = |row: &Row, word: &str, is_there: bool| {
            let Some(Observation::Listed(_, seen)) = read(word, row) else {
                panic!("{word}")
            };
            with_circumstances(&[], |when| late_duplicates(row, &seen, is_there, when)).is_some()
        };
        let row = watched(Some("c1"));
        let words = "ours ours+ ours-submitted part another older known of-maker of-namer";
        let reported = words.split(' ').filter(|word| found(&row, word, true));
        assert!(reported.eq(["ours", "ours+"]));
        assert!(!found(&row, "ours", false), "it may be the only record");
        let mut deleted = row.clone();
        deleted.desired = Desired::Delete;
        assert!(found(&deleted, "ours", false), "none is wanted");
        assert!(found(&watched(None), "ours", false), "there is no other");
        assert!(
            !found(&watched(Some("c2")), "ours", true),
            "it is the record itself"
        );
        for (is_adopted, is_reported) in [(false, false), (true, true)] {
            let mut row = row.clone();
            row.shown.is_adopted = is_adopted;
            let Some(Observation::Listed(_, mut seen)) = read("ours", &row) else {
                panic!("it is listed")
            };
            let mut own = seen[0].clone();
            own.record.id = "c1".to_owned();
            own.record.created_by = Some("pat".to_owned());
            seen.push(own);
            let reported = with_circumstances(&[], |when| late_duplicates(&row, &seen, true, when));
            assert_eq!(
                reported.is_some(),
                is_reported,
                "the own record has another author"
            );
        }
        let mut reported = row.clone();
        super::super::tests::cases::applied(
            &mut reported,
            &RowEvent::Reported(vec!["c2".to_owned()]),
        )
        .unwrap();
        assert!(!found(&reported, "ours", true), "once");
        let mut over = row;
        for (until, is_open) in [
            (NOW - DAY, false),
            (NOW, false),
            (NOW + 1, true),
            (NOW + 2 * DAY, true),
            (NOW + 2 * DAY + 1, false),
        ] {
            let lost = over.lost.as_mut().unwrap();
            lost.watched_until = Some(until);
            assert_eq!(lost.is_watched(NOW), is_open, "for a day: {until}");
            assert!(found(&over, "ours", true), "once more");
        }
    }
}
