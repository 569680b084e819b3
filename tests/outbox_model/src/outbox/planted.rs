//! Planted mistakes, which the models must find. Each changes the arguments or the result of a pure function, and each invariant has at
//! least one. `explorer/paths.txt` has the steps that reveal them, `model/schedules.txt` the random schedules.

use serde_json::Value;

use crate::outbox::apply::{Intent, RowEvent, Unfit};
use crate::outbox::compare::{Base, ServiceFields, ServiceRecord, merge};
use crate::outbox::decide::{Action, Observation, ObservedRecord, WriteReply};
use crate::outbox::decision::Decision;
use crate::outbox::row::{ChangeRequest, Desired, Owner, Question, Row, RowState, Sent, Text};

pub(crate) fn before_decide(
    planted: &str,
    row: &mut Row,
    read: &mut Option<Observation>,
    open: &mut Vec<&Row>,
    now: u64,
) {
    let is_in_doubt = row.is_creation_in_doubt();
    let fields = match read {
        Some(Observation::Record(Some(seen))) => Some(seen.record.fields.clone()),
        _ => None,
    };
    let seen: &mut [ObservedRecord] = match read {
        Some(Observation::Listed(_, seen)) => seen,
        Some(Observation::Record(Some(seen))) => std::slice::from_mut(seen),
        _ => &mut [],
    };
    let disown = |seen: &mut [ObservedRecord]| seen.iter_mut().for_each(|seen| seen.owner = None);
    match planted {
        "AdoptsMore" if is_in_doubt => {
            let text = row.desired.text().map(Text::value).unwrap_or_default();
            for seen in seen {
                seen.record.fields["consignee"] = text["consignee"].clone();
            }
        }
        "BaseIsRead" if fields.is_some() && row.sent.is_none() => {
            row.base = fields.as_ref().map(Base::shown);
        }
        "OpensDoor" => row.agreed.not_draft = fields,
        "SearchesOldList" => {
            if let Some(Observation::Listed(listing, _)) = read {
                (listing.number, listing.begun) = (u64::MAX, now);
            }
        }
        "KeepMineAgreesToAll" if row.history.iter().any(|event| event.why == "keep mine") => {
            if let (Some(fields), None) = (fields, &row.sent) {
                row.base = Some(Base::shown(&fields));
                row.agreed.not_draft = Some(fields);
            }
        }
        "AdoptsTaken" if row.adopt.is_some() => disown(seen),
        "CreatesBesideDoubt" if !is_in_doubt => open.clear(),
        "ForgetsRivals" if is_in_doubt => open.clear(),
        "NeverLooks" if !is_in_doubt => {
            if let Some(Observation::Listed(_, seen)) = read {
                seen.clear();
            }
        }
        "SendsAsAnother" => row.writers.clear(),
        "IgnoresGaps" => {
            if let Some(Observation::Listed(listing, _)) = read {
                listing.gaps.clear();
            }
        }
        "MissesDayOfRecord" => {
            let text = row.desired.text().map(Text::value).unwrap_or_default();
            if text["movementDate"].is_null() {
                row.agreed.late.insert("2027-06-01".to_owned());
            }
        }
        "SubmitsAgain" => {
            let before = row.sent.as_ref().and_then(|sent| sent.before.as_ref());
            if let (Some(before), [seen]) = (before, seen) {
                seen.record.updated_at.clone_from(&before.updated_at);
            }
        }
        "MissesPassedDay" => {
            row.agreed.late.insert("2024-01-05T00:00:00".to_owned());
            row.agreed.late.insert("2027-06-01".to_owned());
        }
        "NamedRecordIsAnothers" => {
            for seen in seen.iter_mut().filter(|seen| seen.owner.is_some()) {
                seen.owner = Some(Owner::Maker);
            }
        }
        "OffersRecordsOfRows" if is_in_doubt => {
            disown(seen);
            open.clear();
        }
        _ => {}
    }
}

pub(crate) fn after_decide(
    planted: &str,
    row: &Row,
    read: Option<&Observation>,
    action: &mut Action,
) {
    let Action::Append(event) = action else {
        return;
    };
    let is_given_up = *event == RowEvent::Asked(Question::ServiceUnresponsive);
    match (planted, &mut *event) {
        ("AdoptsTwin", RowEvent::Asked(Question::Candidates(candidates)))
            if !row.is_creation_in_doubt() =>
        {
            let Some((Observation::Listed(_, seen), request)) = read.zip(row.next_request()) else {
                return;
            };
            let mut seen = seen.iter();
            if let Some(twin) = seen.find(|seen| candidates.first() == Some(&seen.record.id)) {
                let record = twin.record.clone();
                let is_found = true;
                *event = RowEvent::Applied {
                    request,
                    record,
                    is_found,
                };
            }
        }
        ("UpdatesThenSubmits", RowEvent::SendStarted(sent)) => {
            if let ChangeRequest::Submit(id, text) = &sent.request {
                sent.request = ChangeRequest::Update(id.clone(), text.clone());
            }
        }
        (
            "SendsWhatIsThere",
            RowEvent::Applied {
                request,
                record,
                is_found: true,
            },
        ) if row.record.is_some() => {
            *event = RowEvent::SendStarted(Sent {
                request: request.clone(),
                before: Some(record.clone()),
                listed: row.known.clone(),
            });
        }
        ("DoubtsForever", _) if is_given_up && row.read_failures.is_none() => {
            *event = RowEvent::Absent { is_over: false };
        }
        ("UnclearForever", _) if is_given_up && row.read_failures.is_some() => {
            *event = RowEvent::ReadFailed("500".to_owned());
        }
        ("AsksForever", RowEvent::Asked(Question::Gone)) => {
            *event = RowEvent::ReadFailed("gone".to_owned());
        }
        _ => {}
    }
}

/// `is_alone`: whether no other row searches for records with the same texts.
pub(crate) fn before_report(
    planted: &str,
    seen: &mut Vec<ObservedRecord>,
    is_there: &mut bool,
    is_alone: bool,
) {
    match planted {
        "WatchedRowsSilence" if !is_alone => seen.clear(),
        "ReportsTheFirstAlone" => seen.truncate(1),
        "ReportsTheOnlyRecord" => *is_there = true,
        "ReportsRecordsOfRows" => seen.iter_mut().for_each(|seen| seen.owner = None),
        _ => {}
    }
}

/// `body`: the body of the request; `None` for a delete.
pub(crate) fn before_send(planted: &str, request: &ChangeRequest, body: &mut Option<Value>) {
    match (planted, body) {
        ("UpdatesToDraft", Some(body)) if matches!(request, ChangeRequest::Update(..)) => {
            body["status"] = "DRAFT".into();
        }
        ("KeepsOldSignature", body) => *body = request.sent(None),
        _ => {}
    }
}

/// `service`: the facts that the outbox has learned about the service by reading the record of a creation.
pub(crate) fn after_learning(
    planted: &str,
    service: &mut ServiceFields,
    sent: &Value,
    record: &ServiceRecord,
) {
    let is_filled = sent["consignee"].is_null() && !record.fields["consignee"].is_null();
    if planted == "LearnsFromReads" && is_filled {
        let path = ["consignee", "name"].map(str::to_owned).to_vec();
        let learnt = ServiceFields::named([path], |one, other| one == other);
        *service = learnt.with_authors_of(service);
    }
}

pub(crate) fn before_answer(planted: &str, row: &Row, reply: &mut WriteReply) {
    let (Some(Sent { request, .. }), WriteReply::Record { seen, read }) = (&row.sent, &mut *reply)
    else {
        return;
    };
    let is_another = request.record().is_some_and(|id| id != seen.record.id);
    match planted {
        "OtherRecordIsDoubt" if is_another => *reply = WriteReply::OutcomeUnknown,
        "BelievesReply" | "LearnsFromReads" => *read = None,
        "BelievesOtherRecord" => {
            (seen.sequence, seen.owner) = (None, None);
            seen.record.id = request.record().unwrap_or(&seen.record.id).to_owned();
            *read = None;
        }
        "BelievesSubmit" if matches!(request, ChangeRequest::Submit(..)) && !is_another => {
            seen.record.fields["status"] = "SUBMITTED".into();
        }
        _ => {}
    }
}

pub(crate) fn after_apply(
    planted: &str,
    before: &Row,
    event: &RowEvent,
    row: &mut Row,
    applied: &mut Result<(), Unfit>,
) {
    let (intent, base) = match event {
        RowEvent::Requested { intent, base, .. } => (Some(intent), base.as_ref()),
        _ => (None, None),
    };
    let saved = match intent {
        Some(Intent::Save(text)) => Some(text),
        _ => None,
    };
    if let ("LosesThirdText", Err(Unfit::ThirdText), Some(text)) = (planted, &applied, saved) {
        row.desired = Desired::Save(text.clone());
        *applied = Ok(());
    }
    if applied.is_err() {
        return;
    }
    match (planted, event) {
        ("SearchesOnce", RowEvent::Doubt) => row.doubt.searches = 1,
        ("TouchesFlight", _) => {
            let sent = row.sent.as_mut().map(|sent| &mut sent.request);
            if let (
                Some(
                    ChangeRequest::Create(sent)
                    | ChangeRequest::Update(_, sent)
                    | ChangeRequest::Submit(_, sent),
                ),
                Some(text),
            ) = (sent, saved)
            {
                *sent = text.clone();
            }
        }
        ("MetWishColours", _) if before.state == RowState::Confirmed => {
            if let (Desired::Submit(_), Some(text)) = (&before.desired, saved) {
                row.desired = Desired::Submit(text.clone());
            }
        }
        ("FirstColoursLater", _) if row.first != before.first => {
            let first = row.first.as_ref().and_then(Desired::text).cloned();
            if let (Desired::Submit(_), Some(text)) = (&before.desired, saved) {
                row.first = first.map(Desired::Save);
                row.desired = Desired::Submit(text.clone());
            }
        }
        ("ForgetsGone", RowEvent::Decided(Decision::KeepMine)) if row.agreed.gone => {
            (row.agreed.gone, row.record, row.base) = (false, None, None);
        }
        ("RefusesCorrection", RowEvent::Refused) => row.state = RowState::Refused,
        ("CountsTries", RowEvent::ReadFailed(_)) => {
            if let Some(unclear) = &mut row.read_failures {
                unclear.unanswered.since = 0;
            }
        }
        ("NeverADay", RowEvent::Absent { .. } | RowEvent::Doubt) => row.doubt.unanswered.tries = 0,
        ("DeleteAsksAgain", _)
            if intent == Some(&Intent::Delete)
                && before.state == RowState::Asked(Question::ServiceUnresponsive) =>
        {
            row.doubt = before.doubt.clone();
        }
        ("LimitStays", _) if intent.is_some() && row.not_after.is_none() => {
            row.not_after.clone_from(&before.not_after);
        }
        ("TwinBehindEdit", _) if row.is_creation_in_doubt() => {
            if let Some(lost) = &row.lost {
                row.known = lost.listed.clone();
            }
        }
        ("AnswerKeepsClock", _) if before.state != row.state && before.doubt.sends > 0 => {
            let is_answer = matches!(event, RowEvent::Decided(_) | RowEvent::Requested { .. });
            if is_answer && matches!(before.state, RowState::Asked(Question::Late(..))) {
                row.doubt.unanswered = before.doubt.unanswered;
            }
        }
        ("ConfirmsAdopted", RowEvent::Applied { request, .. })
            if before.adopt.is_some() && row.first.is_none() && row.desired.is_met_by(request) =>
        {
            row.state = RowState::Confirmed;
        }
        ("TwinEndsWatch", RowEvent::Reported(_))
        | ("ForgetsDiscarded", RowEvent::Decided(Decision::Discard)) => row.lost = None,
        ("WithdrawOutlivesSubmit", _) => {
            if let (Desired::Withdraw(_), Some(Intent::Submit(_)), Desired::Submit(text)) =
                (&before.desired, intent, &row.desired)
            {
                row.desired = Desired::Withdraw(text.clone());
            }
        }
        ("WithdrawIsSave", _) => {
            if let Desired::Withdraw(text) = &row.desired {
                row.desired = Desired::Save(text.clone());
            }
        }
        ("AgreesToAnyText", _) if saved.is_some() => {
            row.agreed.not_draft.clone_from(&before.agreed.not_draft);
        }
        ("EditDropsSubmit", _) if saved.is_some() => {
            if let Desired::Submit(text) = &row.desired {
                row.desired = Desired::Save(text.clone());
            }
        }
        ("IgnoresWithdraw", _) if intent == Some(&Intent::Withdraw) => {
            row.desired = before.desired.clone();
        }
        ("MergesSigned", _) if row.first != before.first => {
            if let (Some(base), Some(text), Some(old)) = (base, saved, before.desired.text()) {
                let merged = merge(&old.value(), &text.value(), &base.fields);
                (row.desired, row.first) = (Desired::Save(Text::new(&merged)), None);
            }
        }
        ("SendsOldSignature", _) if saved.is_some() && base.is_none() => {
            let text = before.desired.text().filter(|text| text.is_signed());
            row.first = text.cloned().map(Desired::Save);
        }
        ("ConfirmsOldText", RowEvent::Applied { .. }) => row.state = RowState::Confirmed,
        ("ConfirmsDeleteInDoubt", _)
            if intent == Some(&Intent::Delete) && before.is_creation_in_doubt() =>
        {
            (row.state, row.lost) = (RowState::Confirmed, None);
        }
        ("MakesRefusedTwice", RowEvent::Refused) if !row.is_named => row.record = None,
        ("ForgetsOlderBase", _) if row.record.is_some() && base.is_some() => {
            row.base = base.map(|base| Base::shown(&base.fields));
        }
        ("BaseOfAdoptedIsRead", RowEvent::Applied { record, .. }) if before.adopt.is_some() => {
            row.base = Some(Base::shown(&record.fields));
        }
        ("CountsLooks", RowEvent::Absent { is_over: false }) => row.doubt.unanswered.since = 0,
        ("ForgetsSending", RowEvent::Doubt) => {
            (row.lost, row.sent) = (None, None);
            row.state = RowState::default();
        }
        _ => {}
    }
}
