//! Mistakes that are planted into what the pure functions take and give. Each law and each reading has one; `planted.txt` has the
//! schedules that find them.

use crate::outbox::apply::{Intent, RowEvent, Unfit};
use crate::outbox::decision::Decision;
use crate::outbox::compare::{Base, merge};
use crate::outbox::decide::{Action, Heard, Read, Seen};
use crate::outbox::row::{ChangeRequest, Owner, Question, Row, RowState, Sent, Text, Wish};

pub(super) fn before_decide(
    planted: &str,
    row: &mut Row,
    read: &mut Option<Read>,
    open: &mut Vec<&Row>,
    now: u64,
) {
    let is_in_doubt = row.is_creation_in_doubt();
    let fields = match read {
        Some(Read::Record(Some(seen))) => Some(seen.record.fields.clone()),
        _ => None,
    };
    let seen: &mut [Seen] = match read {
        Some(Read::Listed(_, seen)) => seen,
        Some(Read::Record(Some(seen))) => std::slice::from_mut(seen),
        _ => &mut [],
    };
    let disown = |seen: &mut [Seen]| seen.iter_mut().for_each(|seen| seen.owner = None);
    match planted {
        "AdoptsMore" if is_in_doubt => {
            let text = row.wish.text().map(Text::value).unwrap_or_default();
            for seen in seen {
                seen.record.fields["consignee"] = text["consignee"].clone();
            }
        }
        "BaseIsRead" if fields.is_some() && row.sent.is_none() => {
            row.base = fields.as_ref().map(Base::shown);
        }
        "OpensDoor" => row.agreed.not_draft = fields,
        "LooksAtOldList" => {
            if let Some(Read::Listed(listing, _)) = read {
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
            if let Some(Read::Listed(_, seen)) = read {
                seen.clear();
            }
        }
        "MissesPassedDay" => {
            row.agreed.late.insert("2024-01-05T00:00:00".to_owned());
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

pub(super) fn after_decide(planted: &str, row: &Row, read: Option<&Read>, action: &mut Action) {
    let Action::Append(event) = action else {
        return;
    };
    let is_given_up = *event == RowEvent::Asked(Question::NoUsableAnswer);
    match (planted, &mut *event) {
        ("AdoptsTwin", RowEvent::Asked(Question::Candidates(candidates)))
            if !row.is_creation_in_doubt() =>
        {
            let Some((Read::Listed(_, seen), request)) = read.zip(row.next_request()) else {
                return;
            };
            let mut seen = seen.iter();
            if let Some(twin) = seen.find(|seen| candidates.first() == Some(&seen.record.id)) {
                let (record, is_found) = (twin.record.clone(), true);
                *event = RowEvent::Applied {
                    request,
                    record,
                    is_found,
                };
            }
        }
        ("UpdatesThenSubmits", RowEvent::Marked(sent)) => {
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
            *event = RowEvent::Marked(Sent {
                request: request.clone(),
                before: Some(record.clone()),
                listed: row.known.clone(),
            });
        }
        ("DoubtsForever", _) if is_given_up && row.unclear.is_none() => {
            *event = RowEvent::Absent { is_over: false };
        }
        ("UnclearForever", _) if is_given_up && row.unclear.is_some() => {
            *event = RowEvent::Unclear("500".to_owned());
        }
        ("AsksForever", RowEvent::Asked(Question::Gone)) => {
            *event = RowEvent::Unclear("gone".to_owned());
        }
        _ => {}
    }
}

pub(super) fn before_report(planted: &str, seen: &mut [Seen], is_there: &mut bool) {
    match planted {
        "ReportsTheOnlyRecord" => *is_there = true,
        "ReportsRecordsOfRows" => seen.iter_mut().for_each(|seen| seen.owner = None),
        _ => {}
    }
}

pub(super) fn before_answer(planted: &str, row: &Row, reply: &mut Heard) {
    let (Some(Sent { request, .. }), Heard::Record { seen, read }) = (&row.sent, &mut *reply)
    else {
        return;
    };
    let is_another = request.record().is_some_and(|id| id != seen.record.id);
    match planted {
        "OtherRecordIsDoubt" if is_another => *reply = Heard::Unclear,
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

pub(super) fn after_apply(
    planted: &str,
    before: &Row,
    event: &RowEvent,
    row: &mut Row,
    applied: &mut Result<(), Unfit>,
) {
    let (intent, base) = match event {
        RowEvent::Wished { intent, base, .. } => (Some(intent), base.as_ref()),
        _ => (None, None),
    };
    let saved = match intent {
        Some(Intent::Save(text)) => Some(text),
        _ => None,
    };
    if let ("LosesThirdText", Err(Unfit::ThirdText), Some(text)) = (planted, &applied, saved) {
        row.wish = Wish::Save(text.clone());
        *applied = Ok(());
    }
    if applied.is_err() {
        return;
    }
    match (planted, event) {
        ("LooksOnce", RowEvent::Doubt) => row.doubt.looks = 1,
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
        ("EditDropsSubmit", _) if saved.is_some() => {
            if let Wish::Submit(text) = &row.wish {
                row.wish = Wish::Save(text.clone());
            }
        }
        ("IgnoresWithdraw", _) if intent == Some(&Intent::Withdraw) => {
            row.wish = before.wish.clone();
        }
        ("MergesSigned", _) if row.first != before.first => {
            if let (Some(base), Some(text), Some(old)) = (base, saved, before.wish.text()) {
                let merged = merge(&old.value(), &text.value(), &base.fields);
                (row.wish, row.first) = (Wish::Save(Text::new(&merged)), None);
            }
        }
        ("SendsOldSignature", _) if saved.is_some() && base.is_none() => {
            let text = before.wish.text().filter(|text| text.is_signed());
            row.first = text.cloned().map(Wish::Save);
        }
        ("ConfirmsOldText", RowEvent::Applied { .. }) => row.state = RowState::Confirmed,
        ("ConfirmsDeleteInDoubt", _)
            if intent == Some(&Intent::Delete) && before.is_creation_in_doubt() =>
        {
            (row.state, row.lost) = (RowState::Confirmed, None);
        }
        ("ForgetsDiscarded", RowEvent::Decided(Decision::Discard)) => row.lost = None,
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
