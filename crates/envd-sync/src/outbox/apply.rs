//! Applies an event to a row. Rows change only here.

use std::collections::BTreeSet;

use envd_sdk::model::ConsignmentId;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::compare::{Base, ServiceFields, ServiceRecord, merge};
use super::decision::Decision;
use super::row::{
    ChangeRequest, DAY, Desired, Doubt, Due, HISTORY, Happened, HistoryEventKind, Limit, Listing,
    Question, ReadFailures, Row, RowState, Sent, Text, Time, Unanswered, UnresolvedCreates,
};

/// The longest wait before the next try, in seconds.
const LONGEST: Time = 30 * 60;

/// A change that the user asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Intent {
    /// Save this text, and keep an intent to submit.
    Save(Text),
    /// Submit this text, or the text that the row has.
    Submit(Option<Text>),
    /// Do not submit, or make a submitted record a draft again.
    Withdraw,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum RowEvent {
    Requested {
        intent: Intent,
        /// The record that the user edited; `None`: the user edited the row.
        base: Option<ServiceRecord>,
        not_after: Option<Limit>,
    },
    /// The request is stored, and is sent next. From now on it may be under way.
    SendStarted(Sent),
    /// The service has carried the request out, according to its reply or to the record.
    Applied {
        request: ChangeRequest,
        record: ServiceRecord,
        /// The record may not be the work of this row: it already was as wanted, or was found by a search.
        is_found: bool,
    },
    Refused,
    /// The service did not carry it out. The next try is possible after this wait, in seconds.
    NotSent {
        wait: Time,
    },
    /// The request got no clear answer.
    Doubt,
    /// A search found nothing. If `is_over`, the intent is fulfilled.
    Absent {
        is_over: bool,
    },
    /// A read got no usable answer, for this reason.
    ReadFailed(String),
    Asked(Question),
    /// Late duplicates were found, and are reported.
    Reported(Vec<String>),
    /// The search for late records of earlier creations has ended.
    WatchOver,
    /// The user who wrote the intent is logged in again.
    WriterReturned,
    Decided(Decision),
}

impl RowEvent {
    fn kind(&self) -> HistoryEventKind {
        match self {
            Self::Requested { .. } => HistoryEventKind::Requested,
            Self::SendStarted(_) => HistoryEventKind::SendStarted,
            Self::Applied { .. } => HistoryEventKind::Applied,
            Self::Refused => HistoryEventKind::Refused,
            Self::NotSent { .. } => HistoryEventKind::NotSent,
            Self::Doubt => HistoryEventKind::OutcomeUnknown,
            Self::Absent { .. } => HistoryEventKind::Absent,
            Self::ReadFailed(_) => HistoryEventKind::ReadFailed,
            Self::Asked(_) => HistoryEventKind::Asked,
            Self::Reported(_) => HistoryEventKind::Reported,
            Self::WatchOver => HistoryEventKind::WatchOver,
            Self::WriterReturned => HistoryEventKind::WriterReturned,
            Self::Decided(_) => HistoryEventKind::Decided,
        }
    }

    pub(crate) fn why(&self) -> String {
        match self {
            Self::ReadFailed(reason) => reason.clone(),
            Self::Asked(question) => question.reason().to_string(),
            Self::Reported(records) => records.join(" "),
            Self::Decided(decision) => decision.name().to_owned(),
            _ => String::new(),
        }
    }
}

/// The time of an event, and the state of the account then.
pub(crate) struct Moment<'a> {
    pub(crate) now: Time,
    /// The current state of the replica.
    pub(crate) listed: &'a Listing,
    /// The number of the last list that had started.
    pub(crate) begun: u64,
    /// How long a request without a clear answer may still be carried out, in seconds.
    pub(crate) reconcile_after: Time,
    pub(crate) service: &'a ServiceFields,
    /// The user who is logged in, if known.
    pub(crate) user: Option<&'a str>,
}

impl Moment<'_> {
    /// The wait between two searches, in seconds. It doubles with each resend.
    fn wait_after(&self, resends: u32) -> Time {
        let doubled = self.reconcile_after.saturating_mul(1 << resends.min(20));
        doubled.min(LONGEST.max(self.reconcile_after))
    }
}

/// Why an event does not fit a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    Discarded,
    /// The row is not in a state that takes this event.
    State,
    /// Two texts wait already, and one of them is signed.
    ThirdText,
    /// The row has no text to submit or save.
    NoText,
    /// The row does not take this decision now.
    Decision,
    /// Another user signed the text.
    Signed,
}

impl RowState {
    /// Whether a row in this state takes the event.
    fn takes(&self, event: &RowEvent) -> bool {
        let is_open = matches!(self, Self::Open { .. });
        let is_sending = *self == Self::Sending;
        match event {
            RowEvent::Requested { .. }
            | RowEvent::Decided(_)
            | RowEvent::Reported(_)
            | RowEvent::WatchOver => true,
            RowEvent::SendStarted(_) | RowEvent::Absent { .. } | RowEvent::ReadFailed(_) => is_open,
            RowEvent::Refused | RowEvent::NotSent { .. } | RowEvent::Doubt => is_sending,
            RowEvent::Applied { .. } => is_open || is_sending,
            RowEvent::WriterReturned => matches!(self, Self::Asked(Question::AnotherUser(_))),
            // A row with a question may get another candidate.
            RowEvent::Asked(_) => is_open || is_sending || matches!(self, Self::Asked(_)),
        }
    }
}

/// Applies the event. If it does not fit, the row stays unchanged.
pub(crate) fn apply(row: &mut Row, event: &RowEvent, moment: &Moment<'_>) -> Result<(), Unfit> {
    if !row.state.takes(event) {
        return Err(Unfit::State);
    }
    let mut next = row.clone();
    next.change(event, moment)?;
    let is_aside = matches!(
        event,
        RowEvent::ReadFailed(_) | RowEvent::Reported(_) | RowEvent::WatchOver
    );
    if !is_aside {
        next.read_failures = None;
    }
    next.history.push(Happened {
        at: moment.now,
        event: event.kind(),
        why: event.why(),
    });
    let excess = next.history.len().saturating_sub(HISTORY);
    next.history.drain(..excess);
    *row = next;
    Ok(())
}

impl Row {
    fn change(&mut self, event: &RowEvent, moment: &Moment<'_>) -> Result<(), Unfit> {
        match event {
            RowEvent::Requested {
                intent,
                base,
                not_after,
            } => {
                let is_at_rest = self.state == RowState::Confirmed;
                self.requested(intent, base.as_ref(), moment)?;
                // Like a new declaration. The changes before it may have been pruned while the row was at rest.
                if is_at_rest && self.record.is_none() {
                    self.known = moment.listed.clone();
                }
                // A limit applies to the waiting intent only. It ends with that intent, and a delete has none.
                let kept = self.not_after.take().filter(|_| !is_at_rest);
                self.not_after = not_after.clone().or(kept);
                if self.desired == Desired::Delete {
                    self.not_after = None;
                }
            }
            RowEvent::SendStarted(sent) => {
                self.listed = moment.begun;
                self.agreed.gone = false;
                self.agreed.edited.clear();
                (self.sent, self.state) = (Some(sent.clone()), RowState::Sending);
                self.shown.attempts += 1;
                self.shown.findings.clear();
            }
            RowEvent::Applied {
                request,
                record,
                is_found,
            } => self.applied(request, record, *is_found, moment),
            RowEvent::Refused => {
                let refused = self.sent.take().map(|sent| sent.request);
                // If the intent has changed meanwhile, the refusal is not about the current one.
                self.state = if refused == self.next_request() {
                    RowState::Refused
                } else {
                    RowState::default()
                };
                self.listed = moment.begun;
            }
            RowEvent::NotSent { wait } => {
                // An earlier try may still be carried out.
                let is_in_doubt = self.doubt.sends > 0;
                self.sent
                    .take_if(|sent| !is_in_doubt || sent.request.record().is_none());
                self.wait(*wait, moment);
                self.listed = moment.begun;
            }
            RowEvent::Doubt => self.doubted(moment),
            RowEvent::Absent { is_over: true } => {
                self.end(moment);
                self.state = RowState::Confirmed;
            }
            RowEvent::Absent { is_over: false } if self.agreed.gone => {
                self.agreed.gone = false;
                self.record = None;
                self.base = None;
                self.is_named = false;
                self.listed = moment.begun;
                self.state = RowState::default();
            }
            RowEvent::Absent { is_over: false } => {
                let doubt = &mut self.doubt;
                doubt.unanswered.add_try();
                // The search right after the request is too early to count.
                doubt.searches += u32::from(doubt.wait > 0);
                doubt.wait = moment.wait_after(doubt.resends());
                let wait = doubt.wait;
                self.wait(wait, moment);
                self.listed = moment.begun;
            }
            RowEvent::ReadFailed(reason) => self.read_failed(reason, moment),
            // The request under way is not changed. The question is asked if the outcome stays unknown.
            RowEvent::Asked(Question::Candidates(records)) if self.state == RowState::Sending => {
                self.agreed.edited.extend(records.iter().cloned());
            }
            RowEvent::Asked(question) => {
                self.adopt = None;
                self.agreed.gone = false;
                if self.state == RowState::Sending {
                    self.doubted(moment);
                }
                self.state = RowState::Asked(question.clone());
            }
            RowEvent::Reported(records) => {
                // Each may also be the record of another user, so the watch continues until its end.
                self.duplicates.extend(records.iter().cloned());
                self.lost
                    .take_if(|lost| lost.ends_with(moment.listed, moment.now));
            }
            RowEvent::WatchOver => {
                self.lost.take_if(|lost| lost.watched_until.is_some());
            }
            RowEvent::WriterReturned => {
                self.state = RowState::default();
                self.listed = moment.begun;
            }
            RowEvent::Decided(decision) => self.decided(decision, moment)?,
        }
        Ok(())
    }

    fn requested(
        &mut self,
        intent: &Intent,
        base: Option<&ServiceRecord>,
        moment: &Moment<'_>,
    ) -> Result<(), Unfit> {
        if self.state == RowState::Discarded {
            return Err(Unfit::Discarded);
        }
        let is_at_rest = self.state == RowState::Confirmed;
        let desired = self.desired_of(intent, base.filter(|_| !is_at_rest))?;
        self.written_by(intent, base.is_some(), is_at_rest, moment);
        // A text equal to the intent need not be sent before it.
        let first = self.first.as_ref().and_then(Desired::text);
        if desired == Desired::Delete || first == desired.text() {
            self.first = None;
        }
        // The user agreed to change a submitted record, but with another text than this.
        self.agreed.not_draft = None;
        if let (Desired::Delete, Some(base)) = (&desired, base) {
            self.seen_at = base.seen_at();
        }
        self.desired = desired;
        if is_at_rest || self.base.is_none() && self.record.is_some() {
            self.base = base.and_then(ServiceRecord::base).or(self.base.take());
        }
        self.listed = moment.begun;
        let is_answered = match (&self.state, base) {
            (RowState::Asked(Question::Changed(read)), None) => {
                let read = read.clone();
                self.keep_mine_over(&read);
                true
            }
            (RowState::Confirmed | RowState::Refused, _)
            | (RowState::Asked(Question::Late(..) | Question::AnotherUser(_)), None) => true,
            (RowState::Asked(Question::ServiceUnresponsive), None) if *intent == Intent::Delete => {
                self.search_again(moment);
                true
            }
            (RowState::Asked(asked), None) => {
                // The user still has to say which of the candidates to delete.
                let is_open = self.is_creation_in_doubt() && !asked.candidates().is_empty();
                *intent == Intent::Delete && !is_open
            }
            _ => false,
        };
        if is_answered {
            self.state = RowState::default();
            self.doubt.count_from(moment.now);
        }
        Ok(())
    }

    /// Updates the writers. If the user who is logged in replaces everything that waits, that user is the only writer.
    fn written_by(
        &mut self,
        intent: &Intent,
        is_of_record: bool,
        is_at_rest: bool,
        moment: &Moment<'_>,
    ) {
        let has_text = matches!(intent, Intent::Save(_) | Intent::Submit(Some(_)));
        let is_replaced = has_text && !is_of_record && self.first.is_none();
        let is_waiting = self.desired.text().is_some() && !is_at_rest;
        if is_replaced || *intent == Intent::Delete || !is_waiting {
            self.writers.clear();
        }
        self.writers.extend(moment.user.map(str::to_owned));
    }

    /// Returns the new intent. `base`: the record as another screen showed it while this row waits.
    fn desired_of(
        &mut self,
        intent: &Intent,
        base: Option<&ServiceRecord>,
    ) -> Result<Desired, Unfit> {
        let given = match intent {
            Intent::Delete => return Ok(Desired::Delete),
            Intent::Withdraw => None,
            Intent::Submit(text) => text.as_ref(),
            Intent::Save(text) => Some(text),
        };
        let mut is_kept = self.state != RowState::Confirmed;
        let text = match (given, self.desired.text(), base) {
            (None, kept, _) => kept.ok_or(Unfit::NoText)?.clone(),
            (Some(text), Some(kept), Some(base)) if text != kept => {
                if text.is_signed() || kept.is_signed() {
                    if self.first.is_some() {
                        return Err(Unfit::ThirdText);
                    }
                    // The earlier intent is sent first, unchanged, and then the later text.
                    self.first = Some(self.desired.clone());
                    is_kept = false;
                    text.clone()
                } else {
                    Text::new(&merge(&kept.value(), &text.value(), &base.fields))
                }
            }
            (Some(text), ..) => text.clone(),
        };
        Ok(match (intent, &self.desired) {
            (Intent::Submit(_), _) => Desired::Submit(text),
            (Intent::Withdraw, _) => {
                if let Some(Desired::Submit(first)) = &self.first {
                    self.first = Some(Desired::Save(first.clone()));
                }
                if self.may_be_submitted() {
                    Desired::Withdraw(text)
                } else {
                    Desired::Save(text)
                }
            }
            // An edit changes only the text of a waiting submit or withdraw.
            (_, Desired::Submit(_)) if is_kept => Desired::Submit(text),
            (_, Desired::Withdraw(_)) if is_kept => Desired::Withdraw(text),
            _ => Desired::Save(text),
        })
    }

    fn applied(
        &mut self,
        request: &ChangeRequest,
        record: &ServiceRecord,
        is_found: bool,
        moment: &Moment<'_>,
    ) {
        let read = self.sent.as_ref().and_then(|sent| sent.before.as_ref());
        let read = read.map(|record| &record.fields);
        let before = match (read, request) {
            (_, ChangeRequest::Create(_)) => Base::default(),
            (Some(read), _) => Base::shown(read),
            (None, _) => self.base.clone().unwrap_or_default(),
        };
        self.base = request
            .sent(read)
            .map(|sent| before.laid(&sent).settled(&record.fields, moment.service));
        // This row sent nothing that could have created the record. Expect only its status, so that its fields are compared with the
        // intent next.
        let is_only_named = self.adopt.is_some() && self.lost.is_none();
        if is_only_named {
            let status = json!({"status": record.status()});
            self.base = Some(Base::shown(&status));
        }
        // A record that a search found accounts for one of the creations in doubt.
        let explained = u32::from(is_found && self.adopt.is_none());
        self.watch(explained, moment);
        self.shown.is_adopted = self.state != RowState::Sending;
        if self.shown.is_adopted {
            // The reply with the problems of this request was lost, and those of an earlier reply are about another request.
            self.shown.findings.clear();
        }
        self.record = Some(record.id.clone());
        if !is_only_named {
            self.first.take_if(|first| first.is_met_by(request));
        }
        self.explained();
        // A record that the user adopted may differ from the text that was sent. The next step compares them.
        let is_named_by_person = self.adopt.is_some();
        (self.adopt, self.agreed.not_draft) = (None, None);
        let is_met = self.first.is_none() && self.desired.is_met_by(request);
        self.state = if is_met && !is_named_by_person {
            RowState::Confirmed
        } else {
            RowState::default()
        };
        self.listed = moment.begun;
    }

    fn doubted(&mut self, moment: &Moment<'_>) {
        let unanswered = match self.doubt.sends {
            0 => Unanswered::from(moment.now),
            _ => self.doubt.unanswered,
        };
        self.doubt = Doubt {
            sends: self.doubt.sends + 1,
            unanswered,
            ..Doubt::default()
        };
        if let Some(Sent {
            request: ChangeRequest::Create(text),
            listed,
            ..
        }) = self.sent.clone()
        {
            // Creations that were only watched are searched for as well.
            let mut lost = self.lost.take().unwrap_or_default();
            let is_first = lost.left == 0 || lost.watched_until.is_some();
            lost.texts.push(text);
            self.lost = Some(UnresolvedCreates {
                listed: if is_first { listed } else { lost.listed },
                left: lost.left + 1,
                watched_until: None,
                ..lost
            });
            self.sent = None;
        }
        let edited = std::mem::take(&mut self.agreed.edited);
        self.state = if edited.is_empty() {
            RowState::default()
        } else {
            RowState::Asked(Question::Candidates(edited.into_iter().collect()))
        };
        self.listed = moment.begun;
    }

    fn read_failed(&mut self, reason: &str, moment: &Moment<'_>) {
        let before = self.read_failures.as_ref();
        let wait = before.map_or(moment.reconcile_after, |unclear| {
            unclear.wait.saturating_mul(2).min(LONGEST)
        });
        let mut unanswered =
            before.map_or_else(|| Unanswered::from(moment.now), |before| before.unanswered);
        unanswered.add_try();
        self.read_failures = Some(ReadFailures {
            reason: reason.to_owned(),
            wait,
            unanswered,
        });
        self.wait(wait, moment);
    }

    fn decided(&mut self, decision: &Decision, moment: &Moment<'_>) -> Result<(), Unfit> {
        let is_over = matches!(self.state, RowState::Confirmed | RowState::Discarded);
        if is_over || self.state == RowState::Sending {
            return Err(Unfit::State);
        }
        let question = match self.state.clone() {
            RowState::Asked(question) => Some(question),
            _ => None,
        };
        match (decision, question) {
            (Decision::Discard, _)
            | (
                Decision::TakeTheirs,
                Some(Question::Changed(_) | Question::NotADraft(_) | Question::Gone),
            ) => {
                self.end(moment);
                self.state = RowState::Discarded;
                return Ok(());
            }
            (Decision::KeepMine, Some(Question::Changed(read) | Question::NotADraft(read))) => {
                self.keep_mine_over(&read);
            }
            (Decision::KeepMine, Some(Question::Late(_, late))) => {
                self.agreed.late.insert(late);
            }
            (Decision::KeepMine, Some(Question::Gone)) => {
                let request = self.next_request();
                let text = request.as_ref().and_then(ChangeRequest::text);
                if !text.is_some_and(Text::is_whole) {
                    return Err(Unfit::Decision);
                }
                self.explained();
                self.agreed.gone = true;
                self.known = moment.listed.clone();
            }
            (Decision::Adopt(id), question) => {
                let is_offered = question.is_some_and(|asked| !asked.candidates().is_empty());
                if self.record.is_some() || !is_offered && !self.is_creation_in_doubt() {
                    return Err(Unfit::Decision);
                }
                self.adopt = Some(id.as_str().to_owned());
            }
            (Decision::SendAsMe, Some(Question::AnotherUser(_))) => {
                let user = moment.user.ok_or(Unfit::Decision)?;
                let both = [Some(&self.desired), self.first.as_ref()];
                let mut texts = both.into_iter().flatten().filter_map(Desired::text);
                if texts.any(Text::is_signed) {
                    return Err(Unfit::Signed);
                }
                self.writers = BTreeSet::from([user.to_owned()]);
            }
            (Decision::Resend, None) if self.state == RowState::Refused => {}
            (Decision::Resend, Some(question))
                if question == Question::ServiceUnresponsive
                    || !question.candidates().is_empty() =>
            {
                self.agreed
                    .not
                    .extend(question.candidates().iter().cloned());
                self.search_again(moment);
            }
            _ => return Err(Unfit::Decision),
        }
        self.state = RowState::default();
        self.doubt.count_from(moment.now);
        self.listed = moment.begun;
        Ok(())
    }

    /// Makes the record that the question showed the new base.
    fn keep_mine_over(&mut self, read: &ServiceRecord) {
        self.base = Some(Base::shown(&read.fields));
        self.agreed.not_draft = (!read.is_draft()).then(|| read.fields.clone());
        self.explained();
    }

    /// Restarts the search for a request in doubt.
    fn search_again(&mut self, moment: &Moment<'_>) {
        // The user has decided even though these gaps may hide the record.
        if let Some(lost) = &mut self.lost {
            lost.listed.gaps.clone_from(&moment.listed.gaps);
        }
        self.doubt.searches = 0;
    }

    /// Ends every request of the row. Creations that may still be carried out are watched.
    fn end(&mut self, moment: &Moment<'_>) {
        self.watch(0, moment);
        self.explained();
        (self.first, self.adopt) = (None, None);
    }

    /// Forgets the request under way and its doubt.
    fn explained(&mut self) {
        (self.sent, self.doubt, self.seen_at) = (None, Doubt::default(), None);
    }

    /// Stops waiting for the creations in doubt, and watches those that are not `explained` for a day.
    fn watch(&mut self, explained: u32, moment: &Moment<'_>) {
        if let Some(lost) = self
            .lost
            .as_mut()
            .filter(|lost| lost.watched_until.is_none())
        {
            lost.left = lost.left.saturating_sub(explained);
            lost.watched_until = Some(moment.now.saturating_add(DAY));
        }
        self.lost.take_if(|lost| lost.left == 0);
    }

    fn wait(&mut self, wait: Time, moment: &Moment<'_>) {
        let next_at = Some(Due::after(moment.now, wait));
        self.state = RowState::Open { next_at };
    }
}

/// The decisions that the row takes now.
pub(crate) fn fitting(row: &Row) -> Vec<Decision> {
    let listed = Listing::default();
    let service = ServiceFields::default();
    let moment = Moment {
        now: 0,
        listed: &listed,
        begun: 0,
        reconcile_after: 0,
        service: &service,
        // Someone is logged in to see the question.
        user: Some(""),
    };
    let candidates: Vec<ConsignmentId> = row
        .candidates()
        .iter()
        .map(|id| id.as_str().into())
        .collect();
    let mut all = Decision::all(&candidates);
    all.retain(|decision| {
        let event = RowEvent::Decided(decision.clone());
        apply(&mut row.clone(), &event, &moment).is_ok()
    });
    all
}

#[cfg(test)]
mod tests {
    use super::super::compare::Compared;
    use super::super::tests::cases::{self, NOW, applied, base, lines, record, row, signed, text};
    use super::*;

    fn event(word: &str, row: &Row) -> RowEvent {
        let mut party = text("05:15");
        party["consignee"] = json!({"name": "Sam"});
        let [plain, signed, first, party] =
            [text("08:00"), signed("08:00"), signed("07:00"), party].map(|text| Text::new(&text));
        let requested = |intent, is_of_record: bool| RowEvent::Requested {
            intent,
            base: is_of_record.then(|| record("c1", base())),
            not_after: None,
        };
        let decided = RowEvent::Decided;
        let saved = |request: &ChangeRequest, is_found| RowEvent::Applied {
            request: request.clone(),
            record: record(
                row.record.as_deref().unwrap_or("c2"),
                request.sent(None).unwrap_or_else(base),
            ),
            is_found,
        };
        match word {
            "edit" => requested(Intent::Save(plain), false),
            "edit-as-first" => requested(Intent::Save(first), false),
            "update" => requested(Intent::Save(plain), true),
            "update-signed" => requested(Intent::Save(signed), true),
            "update-party" => requested(Intent::Save(party), true),
            "submit" => requested(Intent::Submit(None), false),
            "submit-text" => requested(Intent::Submit(Some(plain)), false),
            "withdraw" => requested(Intent::Withdraw, false),
            "delete" => requested(Intent::Delete, false),
            "applied" => saved(&row.sent.as_ref().unwrap().request, false),
            "found" => saved(
                &ChangeRequest::Create(row.desired.text().unwrap().clone()),
                true,
            ),
            "refused" => RowEvent::Refused,
            "not-sent" => RowEvent::NotSent { wait: 60 },
            "doubt" => RowEvent::Doubt,
            "ask" => RowEvent::Asked(Question::OtherRecord("c2".to_owned())),
            "marked" => RowEvent::SendStarted(cases::row("save sending").sent.unwrap()),
            "absent" => RowEvent::Absent { is_over: false },
            "over" => RowEvent::Absent { is_over: true },
            "keep" => decided(Decision::KeepMine),
            "take" => decided(Decision::TakeTheirs),
            "resend" => decided(Decision::Resend),
            "as-me" => decided(Decision::SendAsMe),
            "writer" => RowEvent::WriterReturned,
            "adopt" => decided(Decision::Adopt("c2".into())),
            "discard" => decided(Decision::Discard),
            other => panic!("{other}"),
        }
    }

    /// Describes the row after an event, in the words of `apply.txt`.
    #[expect(clippy::format_push_string, reason = "a text for people")]
    fn said(row: &Row, before: &Row) -> String {
        let time = |text: &Text| text.value()["movementTime"].as_str().unwrap().to_owned();
        let (state, next_at) = match &row.state {
            RowState::Open { next_at } if row.is_in_doubt() => ("in-doubt".to_owned(), *next_at),
            RowState::Open { next_at } => ("queued".to_owned(), *next_at),
            RowState::Sending => ("sending".to_owned(), None),
            RowState::Confirmed => ("confirmed".to_owned(), None),
            RowState::Refused => ("refused".to_owned(), None),
            RowState::Asked(question) => (format!("asked:{:?}", question.reason()), None),
            RowState::Discarded => ("discarded".to_owned(), None),
        };
        let mut said = state;
        said += &match &row.desired {
            Desired::Save(text) => format!(" save {}", time(text)),
            Desired::Submit(text) => format!(" submit {}", time(text)),
            Desired::Withdraw(text) => format!(" withdraw {}", time(text)),
            Desired::Delete => " delete".to_owned(),
        };
        let has_consignee = |text: &Text| !text.value()["consignee"].is_null();
        if row.desired.text().is_some_and(has_consignee) {
            said += " consignee";
        }
        if let Some(first) = &row.first {
            let submit = if matches!(first, Desired::Submit(_)) {
                "submit "
            } else {
                ""
            };
            said += &format!(
                " first={submit}{}",
                first.text().map_or_else(String::new, time)
            );
        }
        if row.doubt.searches > before.doubt.searches {
            said += &format!(" looks={}", row.doubt.searches);
        }
        let service = cases::service();
        let base = row.base.as_ref().filter(|_| row.base != before.base);
        let is_time = |time: &&str| {
            let has = |base: &Base| base.has(&json!({"movementTime": time}), &service);
            base.is_some_and(has)
        };
        // The base that a record has at the start is left out.
        let mut known = ["04:00", "07:00", "08:00", "09:00"].into_iter();
        if row.base.is_none() && before.base.is_some() {
            said += " base=-";
        } else if let Some(known) = known.find(is_time) {
            said += &format!(" base={known}");
        }
        let flags = [
            (" +record", row.record.is_some()),
            (" +sent", row.sent.is_some()),
            (" +doubt", row.doubt != Doubt::default()),
            (" +watch", row.lost.is_some() && !row.is_creation_in_doubt()),
            (" +door", row.agreed.not_draft.is_some()),
            (" +late", !row.agreed.late.is_empty()),
            (" +not", !row.agreed.not.is_empty()),
            (" +gone", row.agreed.gone),
            (" +adopt", row.adopt.is_some()),
            (" +pat", row.writers.contains("pat")),
            (" +sam", row.writers.contains("sam")),
            (" +wait", next_at.is_some_and(|due| due.is_ahead(NOW))),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
        said.extend(flags.map(|(flag, _)| flag));
        said
    }

    #[test]
    fn an_event_changes_a_row() {
        for line in lines(include_str!("apply.txt")) {
            let before = row(line[0]);
            let mut row = before.clone();
            let result = applied(&mut row, &event(line[1], &before));
            let said = match result {
                Ok(()) => said(&row, &before),
                Err(unfit) => {
                    assert_eq!(row, before, "{line:?}");
                    format!("unfit {unfit:?}")
                }
            };
            assert_eq!(said, line[2], "{line:?}");
        }
    }

    #[test]
    fn six_resends_pass_within_some_two_hours() {
        let mut row = row("save sending");
        let mut waited = 0;
        for _ in 0..6 {
            applied(&mut row, &RowEvent::Doubt).unwrap();
            for _ in 0..2 {
                applied(&mut row, &RowEvent::Absent { is_over: false }).unwrap();
                waited += row.doubt.wait;
            }
            let sent = cases::row("save sending").sent.unwrap();
            applied(&mut row, &RowEvent::SendStarted(sent)).unwrap();
        }
        applied(&mut row, &RowEvent::Doubt).unwrap();
        assert_eq!(row.doubt.resends(), 6);
        assert_eq!(waited, 2 * (60 + 120 + 240 + 480 + 960 + 1_800));
    }

    #[test]
    fn a_day_without_an_answer_needs_three_tries() {
        let unanswered = |since, searches| Unanswered {
            since,
            tries: searches,
        };
        for (asked, now, is_over) in [
            (unanswered(NOW, 60), NOW + 3_600, false),
            (unanswered(NOW, 3), NOW + DAY - 1, false),
            (unanswered(NOW, 2), NOW + DAY, false),
            (unanswered(NOW, 3), NOW + DAY, true),
            (unanswered(NOW, 3), NOW - DAY, false),
        ] {
            assert_eq!(asked.is_over(now), is_over, "{asked:?} {now}");
        }
        // The day counts from the first request, and resends do not restart it.
        let mut row = row("save sending");
        applied(&mut row, &RowEvent::Doubt).unwrap();
        assert_eq!(row.doubt.unanswered.since, NOW);
        row.doubt.unanswered.since = NOW - 60;
        row.state = RowState::Sending;
        applied(&mut row, &RowEvent::Doubt).unwrap();
        assert_eq!(row.doubt.unanswered.since, NOW - 60);
    }

    #[test]
    fn a_wait_does_not_get_longer_when_the_clock_is_set_back() {
        let due = Due::after(NOW, 2 * DAY);
        let at = [NOW - DAY, NOW, NOW + DAY, NOW + 2 * DAY].map(|now| due.is_ahead(now));
        assert_eq!(at, [false, true, true, false]);
    }

    #[test]
    fn changes_are_needed_from_the_start_of_the_search() {
        for (of, since) in [
            ("save", Some(10)),
            ("save sending", Some(10)),
            ("save doubt", Some(10)),
            ("save record", None),
            ("save record sending", None),
            ("save record doubt", None),
        ] {
            assert_eq!(row(of).needs_since(), since, "{of}");
        }
        // No list was read before the creation.
        let mut row = row("save doubt");
        row.lost.as_mut().unwrap().listed = Listing::default();
        applied(&mut row, &RowEvent::Decided(Decision::Discard)).unwrap();
        row.record = Some("c2".to_owned());
        assert_eq!(row.needs_since(), Some(0));
    }

    /// The record of the first creation may appear after the second one was sent.
    #[test]
    fn a_search_after_a_resend_starts_at_the_list_before_the_first_creation() {
        let mut row = row("save doubt");
        let first = row.searched_for().1.clone();
        let mut sent = cases::row("save sending").sent.unwrap();
        sent.listed.last = first.last + 5;
        applied(&mut row, &RowEvent::SendStarted(sent)).unwrap();
        applied(&mut row, &RowEvent::Doubt).unwrap();
        assert_eq!(row.searched_for().1, &first);
        assert_eq!(row.lost.unwrap().left, 2);
    }

    #[test]
    fn a_history_is_bounded() {
        let mut row = row("save");
        for _ in 0..300 {
            applied(&mut row, &RowEvent::ReadFailed("500".to_owned())).unwrap();
        }
        assert_eq!(row.history.len(), HISTORY);
        let unclear = row.read_failures.unwrap();
        assert!((60..=LONGEST).contains(&unclear.wait));
        assert_eq!(unclear.unanswered.tries, 300);
    }

    #[test]
    fn a_field_that_was_only_read_is_not_in_the_base() {
        let mut row = row("save sending");
        let sent = row.sent.as_ref().unwrap().request.clone();
        let mut fields = sent.sent(None).unwrap();
        fields["consignee"] = json!({"name": "Pat"});
        let record = record("c2", fields.clone());
        applied(
            &mut row,
            &RowEvent::Applied {
                request: sent,
                record,
                is_found: false,
            },
        )
        .unwrap();
        let compared =
            super::super::compare::compare(&row.base.unwrap(), None, &fields, &cases::service());
        assert!(matches!(compared, Compared::Theirs(_)));
    }
}
