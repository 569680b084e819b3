//! Mistakes that are planted into what the pure functions take and give: each law and each reading has one, and the model finds it.

use crate::outbox::apply::{Decision, Event, Intent, Unfit};
use crate::outbox::compare::{Base, merge};
use crate::outbox::decide::{Action, Owner, Read, Reply, Seen};
use crate::outbox::row::{Reason, Request, Row, State, Text, Wish};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Planted {
    /// A record that has more than was sent is adopted.
    AdoptsMore,
    /// A twin is adopted before anything was sent.
    AdoptsTwin,
    /// What was merely read becomes the base.
    BaseIsRead,
    /// A submitted declaration is changed unasked.
    OpensDoor,
    /// One look is enough.
    LooksOnce,
    /// A look is an old list.
    LooksAtOldList,
    TouchesFlight,
    EditDropsSubmit,
    IgnoresWithdraw,
    MergesSigned,
    LosesThirdText,
    SendsOldSignature,
    ConfirmsOldText,
    ConfirmsDeleteInDoubt,
    ForgetsDiscarded,
    MakesRefusedTwice,
    UpdatesThenSubmits,
    SendsWhatIsThere,
    ForgetsOlderBase,
    ReportsTheOnlyRecord,
    ReportsRecordsOfRows,
    KeepMineAgreesToAll,
    AdoptsTaken,
    BaseOfAdoptedIsRead,
    CreatesBesideDoubt,
    ForgetsRivals,
    NeverLooks,
    MissesPassedDay,
    CountsClock,
    NamedRecordIsAnothers,
    OtherRecordIsDoubt,
    BelievesOtherRecord,
    BelievesSubmit,
    DoubtsForever,
    UnclearForever,
    ForgetsSending,
    AsksForever,
    OffersRecordsOfRows,
}

impl Planted {
    pub(super) const ALL: [Self; 38] = [
        Self::AdoptsMore,
        Self::AdoptsTwin,
        Self::BaseIsRead,
        Self::OpensDoor,
        Self::LooksOnce,
        Self::LooksAtOldList,
        Self::TouchesFlight,
        Self::EditDropsSubmit,
        Self::IgnoresWithdraw,
        Self::MergesSigned,
        Self::LosesThirdText,
        Self::SendsOldSignature,
        Self::ConfirmsOldText,
        Self::ConfirmsDeleteInDoubt,
        Self::ForgetsDiscarded,
        Self::MakesRefusedTwice,
        Self::UpdatesThenSubmits,
        Self::SendsWhatIsThere,
        Self::ForgetsOlderBase,
        Self::ReportsTheOnlyRecord,
        Self::ReportsRecordsOfRows,
        Self::KeepMineAgreesToAll,
        Self::AdoptsTaken,
        Self::BaseOfAdoptedIsRead,
        Self::CreatesBesideDoubt,
        Self::ForgetsRivals,
        Self::NeverLooks,
        Self::MissesPassedDay,
        Self::CountsClock,
        Self::NamedRecordIsAnothers,
        Self::OtherRecordIsDoubt,
        Self::BelievesOtherRecord,
        Self::BelievesSubmit,
        Self::DoubtsForever,
        Self::UnclearForever,
        Self::ForgetsSending,
        Self::AsksForever,
        Self::OffersRecordsOfRows,
    ];

    pub(super) fn before_decide(
        self,
        row: &mut Row,
        read: &mut Option<Read>,
        open: &mut Vec<&Row>,
        now: u64,
    ) {
        let fields = match read {
            Some(Read::Record(Some(seen))) => Some(seen.record.fields.clone()),
            _ => None,
        };
        let seen: &mut [Seen] = match read {
            Some(Read::Listed(_, seen)) => seen,
            Some(Read::Record(Some(seen))) => std::slice::from_mut(seen),
            _ => &mut [],
        };
        match self {
            Self::AdoptsMore if row.is_creation_in_doubt() => {
                for seen in seen {
                    seen.record.fields["consignee"].take();
                    if let Some(text) = row.wish.text() {
                        seen.record.fields["consignee"] = text.value()["consignee"].clone();
                    }
                }
            }
            Self::BaseIsRead if fields.is_some() && row.sent.is_none() => {
                row.base = fields.as_ref().map(Base::shown);
            }
            Self::OpensDoor => row.agreed.not_draft = fields,
            Self::LooksAtOldList => {
                if let Some(Read::Listed(listing, _)) = read {
                    (listing.number, listing.begun) = (u64::MAX, now);
                }
            }
            Self::KeepMineAgreesToAll => {
                let is_kept = row
                    .history
                    .iter()
                    .any(|happened| happened.why == "KeepMine");
                if let (true, Some(fields), None) = (is_kept, fields, &row.sent) {
                    row.base = Some(Base::shown(&fields));
                    row.agreed.not_draft = Some(fields);
                }
            }
            Self::AdoptsTaken if row.adopt.is_some() => {
                seen.iter_mut().for_each(|seen| seen.owner = None);
            }
            Self::CreatesBesideDoubt if !row.is_creation_in_doubt() => open.clear(),
            Self::ForgetsRivals if row.is_creation_in_doubt() => open.clear(),
            Self::NeverLooks if !row.is_creation_in_doubt() => {
                if let Some(Read::Listed(_, seen)) = read {
                    seen.clear();
                }
            }
            Self::MissesPassedDay => {
                if let Wish::Save(text) | Wish::Submit(text) = &mut row.wish
                    && text.0.contains("2024-01-05T")
                {
                    row.agreed.late.insert("2024-01-05T00:00:00".to_owned());
                }
            }
            Self::NamedRecordIsAnothers => {
                for seen in seen.iter_mut().filter(|seen| seen.owner.is_some()) {
                    seen.owner = Some(Owner::Maker);
                }
            }
            Self::OffersRecordsOfRows if row.is_creation_in_doubt() => {
                seen.iter_mut().for_each(|seen| seen.owner = None);
                open.clear();
            }
            _ => {}
        }
    }

    pub(super) fn after_decide(self, row: &Row, read: Option<&Read>, action: &mut Action) {
        let Action::Append(event) = action else {
            return;
        };
        match (self, &mut *event) {
            (
                Self::AdoptsTwin,
                Event::Asked {
                    reason: Reason::Candidates,
                    candidates,
                    ..
                },
            ) => {
                let Some(Read::Listed(_, seen)) = read else {
                    return;
                };
                let twin = seen
                    .iter()
                    .find(|seen| Some(&seen.record.id) == candidates.first());
                if let (Some(twin), Some(request), None) = (twin, row.next_request(), &row.doubt) {
                    let record = twin.record.clone();
                    *event = Event::Applied {
                        request,
                        record,
                        is_found: true,
                    };
                }
            }
            (Self::UpdatesThenSubmits, Event::Marked(sent)) => {
                if let Request::Submit(id, text) = &sent.request {
                    sent.request = Request::Update(id.clone(), text.clone());
                }
            }
            (
                Self::SendsWhatIsThere,
                Event::Applied {
                    request,
                    record,
                    is_found: true,
                },
            ) => {
                if row.record.is_some() {
                    *event = Event::Marked(crate::outbox::row::Sent {
                        request: request.clone(),
                        before: Some(record.clone()),
                        listed: row.known.clone(),
                    });
                }
            }
            (
                Self::DoubtsForever,
                Event::Asked {
                    reason: Reason::NoUsableAnswer,
                    ..
                },
            ) if row.unclear.is_none() => {
                *event = Event::Absent { is_over: false };
            }
            (
                Self::UnclearForever,
                Event::Asked {
                    reason: Reason::NoUsableAnswer,
                    ..
                },
            ) if row.unclear.is_some() => {
                *event = Event::Unclear("500".to_owned());
            }
            (
                Self::AsksForever,
                Event::Asked {
                    reason: Reason::Gone,
                    ..
                },
            ) => {
                *event = Event::Unclear("gone".to_owned());
            }
            _ => {}
        }
    }

    pub(super) fn before_answer(self, row: &Row, reply: &mut Reply) {
        let Some(request) = row.sent.as_ref().map(|sent| &sent.request) else {
            return;
        };
        let Reply::Record(seen) = reply else {
            return;
        };
        let is_another = request.record().is_some_and(|id| id != seen.record.id);
        match self {
            Self::OtherRecordIsDoubt if is_another => *reply = Reply::Unclear,
            Self::BelievesOtherRecord => {
                (seen.sequence, seen.owner) = (None, None);
                if let Some(id) = request.record() {
                    seen.record.id = id.to_owned();
                }
            }
            Self::BelievesSubmit => {
                if matches!(request, Request::Submit(..)) && !is_another {
                    seen.record.fields["status"] = "SUBMITTED".into();
                }
            }
            _ => {}
        }
    }

    pub(super) fn after_apply(
        self,
        before: &Row,
        event: &Event,
        row: &mut Row,
        applied: &mut Result<(), Unfit>,
        now: u64,
    ) {
        if let (
            Self::LosesThirdText,
            Err(Unfit::ThirdText),
            Event::Wished {
                intent: Intent::Save(text),
                ..
            },
        ) = (self, &applied, event)
        {
            row.wish = Wish::Save(text.clone());
            *applied = Ok(());
        }
        if applied.is_err() {
            return;
        }
        let is_in_doubt = before.is_creation_in_doubt();
        match (self, event) {
            (Self::LooksOnce, Event::Doubt) => row.doubt.as_mut().unwrap().looks = 1,
            (
                Self::TouchesFlight,
                Event::Wished {
                    intent: Intent::Save(text),
                    ..
                },
            ) => {
                if let Some(sent) = &mut row.sent
                    && let Request::Create(sent)
                    | Request::Update(_, sent)
                    | Request::Submit(_, sent) = &mut sent.request
                {
                    *sent = text.clone();
                }
            }
            (
                Self::EditDropsSubmit,
                Event::Wished {
                    intent: Intent::Save(_),
                    ..
                },
            ) => {
                if let Wish::Submit(text) = &row.wish {
                    row.wish = Wish::Save(text.clone());
                }
            }
            (
                Self::IgnoresWithdraw,
                Event::Wished {
                    intent: Intent::Withdraw,
                    ..
                },
            ) => row.wish = before.wish.clone(),
            (
                Self::MergesSigned,
                Event::Wished {
                    intent: Intent::Save(text),
                    base: Some(base),
                    ..
                },
            ) if row.first != before.first => {
                let old = before.wish.text().unwrap().value();
                row.wish = Wish::Save(Text::new(&merge(&old, &text.value(), &base.fields)));
                row.first = None;
            }
            (
                Self::SendsOldSignature,
                Event::Wished {
                    intent: Intent::Save(_),
                    base: None,
                    ..
                },
            ) => {
                row.first = before.wish.text().filter(|text| text.is_signed()).cloned();
            }
            (Self::ConfirmsOldText, Event::Applied { .. }) => row.state = State::Confirmed,
            (
                Self::ConfirmsDeleteInDoubt,
                Event::Wished {
                    intent: Intent::Delete,
                    ..
                },
            ) if is_in_doubt => {
                row.state = State::Confirmed;
                row.doubt = None;
            }
            (Self::ForgetsDiscarded, Event::Decided(Decision::Discard)) => row.watch = None,
            (Self::MakesRefusedTwice, Event::Refused(_)) if !row.is_named => row.record = None,
            (
                Self::ForgetsOlderBase,
                Event::Wished {
                    base: Some(base), ..
                },
            ) if row.record.is_some() => {
                row.base = Some(Base::shown(&base.fields));
            }
            (Self::BaseOfAdoptedIsRead, Event::Applied { record, .. })
                if before.adopt.is_some() =>
            {
                row.base = Some(Base::shown(&record.fields));
            }
            (Self::CountsClock, Event::Absent { is_over: false }) => {
                let doubted = before
                    .history
                    .iter()
                    .find(|happened| happened.event == "doubt");
                if let (Some(doubt), Some(first)) = (&mut row.doubt, doubted) {
                    doubt.waited = now.saturating_sub(first.at);
                }
            }
            (Self::ForgetsSending, Event::Doubt) => {
                (row.doubt, row.sent) = (None, None);
                row.state = State::Queued { next_at: None };
            }
            _ => {}
        }
    }
}
