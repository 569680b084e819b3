//! The possible steps, each with its text: instructions of the user, edits on the website, the fates of requests, and time.

use std::fmt;

use super::invariants::{Asked, Screen};
use super::service::{Author, CONSIGNEE, Draft, FIELDS, FieldValues, PAT, TIME, id};
use super::world::{About, World, limit};
use crate::outbox::apply::{Intent, RowEvent};
use crate::outbox::decision::Decision;
use crate::outbox::row::{DAY, RowState};

/// The completeness of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Complete,
    /// Our newest record is null.
    Null,
    /// Our newest record is missing while it is younger than a day.
    Behind,
    /// Our newest record is missing, and reads do not find it either, as if it was deleted.
    Gone,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Answered,
    /// It never arrives, or gets an unusable answer, such as 502 or a page.
    NeverArrives,
    /// It may arrive in a later step.
    ArrivesLate,
    /// It is carried out, but its reply is lost.
    ReplyLost,
    Refused,
    /// There is no connection.
    NotSent,
    /// It is carried out, but the reply names a record that a colleague created.
    NamesAnother,
    /// It is carried out, and a colleague changes the consignee before the record is read.
    QuickColleague,
    /// It is in flight during the next steps.
    Held,
    /// It is carried out, and its reply is in flight during the next steps.
    HeldAfter,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "is answered",
            Self::NeverArrives => "never arrives",
            Self::ArrivesLate => "is late",
            Self::ReplyLost => "is applied and its reply is lost",
            Self::Refused => "is refused",
            Self::NotSent => "finds no connection",
            Self::NamesAnother => "is applied and the reply names a record of a colleague",
            Self::QuickColleague => "is applied and a colleague writes Pat as consignee at once",
            Self::Held => "is under way",
            Self::HeldAfter => "is applied and its reply is under way",
        })
    }
}

/// One run of the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Waits until requests in doubt can be reconciled, as `send` does.
    pub(super) waits: bool,
    pub(super) list: List,
    /// Reads get unusable answers.
    pub(super) is_unreadable: bool,
    /// Started by a timer, not when something is due.
    pub(super) is_timed: bool,
    /// The index of the request that gets this fate; all others are answered.
    pub(super) at: u8,
    pub(super) fate: Fate,
}

impl Run {
    pub(super) const PLAIN: Self = Self {
        waits: true,
        list: List::Complete,
        is_unreadable: false,
        is_timed: false,
        at: 0,
        fate: Fate::Answered,
    };

    pub(super) fn is_plain(self) -> bool {
        let is_plain = self.list == List::Complete && !self.is_unreadable;
        is_plain && self.fate == Fate::Answered
    }

    pub(super) const fn with(at: u8, fate: Fate) -> Self {
        Self {
            at,
            fate,
            ..Self::PLAIN
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the outbox runs")?;
        match self.list {
            List::Complete => {}
            List::Null => f.write_str(", lists show null in place of our newest record")?,
            List::Behind => f.write_str(", lists do not show our newest record yet")?,
            List::Gone => f.write_str(", our newest record seems to be deleted")?,
        }
        if self.is_unreadable {
            f.write_str(", reads get no usable answer")?;
        }
        if !self.waits {
            f.write_str(" without waiting")?;
        }
        if self.fate != Fate::Answered {
            let which = if self.at == 0 {
                "its first request"
            } else {
                "its second request"
            };
            write!(f, ", {which} {}", self.fate)?;
        }
        Ok(())
    }
}

/// A change to a record by another user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Consignee,
    Time,
    Submit,
    TakeBack,
    Delete,
}

pub(super) const CHANGES: &[Change] = &[
    Change::Consignee,
    Change::Time,
    Change::Submit,
    Change::TakeBack,
    Change::Delete,
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Save(Draft),
    /// A save that must not be sent later than an hour from now.
    SaveInTime(Draft),
    Submit(Draft),
    Edit(u64, Draft),
    EditAndSubmit(u64, Draft),
    SubmitSaved(u64),
    Withdraw(u64),
    Delete(u64),
    Decide(u64, Decision),
    Update(usize, Draft),
    SubmitRecord(usize, Draft),
    DeleteRecord(usize),
    Website(usize, Change),
    /// A colleague creates a record with the text A.
    Twin,
    Run(Run),
    /// The request in flight ends with this fate.
    Reply(Fate),
    HeldArrives,
    Kill(Fate),
    Arrive(usize),
    Day,
    MovementDayPasses,
    /// A scheduler runs the outbox every minute for an hour; reads get no usable answer.
    HourOfCron,
    /// The outbox runs until it asks the user; no change gets a clear answer.
    Tries,
    /// The outbox is started eight times in thirty hours; no change gets a clear answer.
    ThirtyHours,
    /// The same, but reads get no usable answer.
    UnreadableHours,
    /// The user with this name logs in.
    Login(&'static str),
    Sync,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Save(draft) => write!(f, "save {draft}"),
            Self::SaveInTime(draft) => write!(f, "save {draft}, not after an hour"),
            Self::Submit(draft) => write!(f, "submit {draft}"),
            Self::Edit(id, draft) => write!(f, "edit declaration {id}: {draft}"),
            Self::EditAndSubmit(id, draft) => {
                write!(f, "edit declaration {id} and submit it: {draft}")
            }
            Self::SubmitSaved(id) => write!(f, "submit declaration {id}"),
            Self::Withdraw(id) => write!(f, "withdraw declaration {id}"),
            Self::Delete(id) => write!(f, "delete declaration {id}"),
            Self::Decide(id, Decision::Adopt(record)) => {
                write!(f, "decide on declaration {id}: it is {record}")
            }
            Self::Decide(declaration, decision) => {
                write!(
                    f,
                    "decide on declaration {declaration}: {}",
                    decision.name()
                )
            }
            Self::Update(at, draft) => write!(f, "update {} as it is now: {draft}", id(*at)),
            Self::SubmitRecord(at, draft) => {
                write!(f, "update {} as it is now and submit it: {draft}", id(*at))
            }
            Self::DeleteRecord(at) => write!(f, "delete {} as the copy shows it", id(*at)),
            Self::Website(at, change) => match change {
                Change::Consignee => {
                    write!(f, "the website writes Pat as consignee of {}", id(*at))
                }
                Change::Time => write!(f, "the website writes another time into {}", id(*at)),
                Change::Submit => write!(f, "the website submits {}", id(*at)),
                Change::TakeBack => write!(f, "the website makes {} a draft again", id(*at)),
                Change::Delete => write!(f, "the website deletes {}", id(*at)),
            },
            Self::Twin => f.write_str("a colleague makes a record of text A"),
            Self::Run(run) => run.fmt(f),
            Self::Reply(fate) => write!(f, "the request under way {fate}"),
            Self::HeldArrives => f.write_str("the request under way is applied"),
            Self::Kill(fate) => write!(f, "the program is killed; the request under way {fate}"),
            Self::Arrive(at) => write!(f, "late request {} arrives", at + 1),
            Self::Day => f.write_str("a day passes"),
            Self::MovementDayPasses => f.write_str("the movement day passes"),
            Self::HourOfCron => {
                f.write_str("the outbox runs each minute for an hour, reads get no usable answer")
            }
            Self::Tries => f.write_str("the outbox runs until it gives up, changes never arrive"),
            Self::ThirtyHours => {
                f.write_str("the outbox is started eight times in 30 hours, changes get no answer")
            }
            Self::UnreadableHours => f.write_str(
                "the outbox is started eight times in 30 hours, reads get no usable answer",
            ),
            Self::Login(user) => write!(f, "{user} logs in"),
            Self::Sync => f.write_str("the local copy is brought up to date"),
        }
    }
}

/// The actors of a scope.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Actors {
    /// The maximum number of declarations.
    pub(super) declarations: usize,
    pub(super) drafts: &'static [Draft],
    /// The user edits, submits, withdraws and deletes declarations.
    pub(super) edits: bool,
    /// The user changes records by their ids.
    pub(super) records: bool,
    pub(super) website: &'static [Change],
    pub(super) twins: usize,
    pub(super) fates: &'static [Fate],
    pub(super) lists: bool,
    /// A record is gone for one run, and there again afterwards.
    pub(super) gone: bool,
    pub(super) unreadable: bool,
    pub(super) time: bool,
    pub(super) limits: bool,
    pub(super) long: bool,
    pub(super) users: bool,
}

impl Actors {
    /// All actors.
    pub(super) const ALL: Self = Self {
        declarations: 4,
        drafts: &[Draft::A, Draft::B, Draft::S, Draft::Part, Draft::Moved],
        edits: true,
        records: true,
        website: CHANGES,
        twins: 4,
        fates: &[
            Fate::NeverArrives,
            Fate::ArrivesLate,
            Fate::ReplyLost,
            Fate::Refused,
            Fate::NotSent,
            Fate::NamesAnother,
            Fate::QuickColleague,
            Fate::Held,
            Fate::HeldAfter,
        ],
        lists: true,
        gone: true,
        unreadable: true,
        time: true,
        limits: true,
        long: true,
        users: true,
    };
}

impl World {
    /// The steps that are possible now.
    pub(super) fn steps(&self, actors: &Actors) -> Vec<Step> {
        let mut steps = Vec::new();
        self.runs(actors, &mut steps);
        self.persons(actors, &mut steps);
        let records = 0..self.service.records.len();
        let there: Vec<usize> = records.filter(|at| self.service.is_there(*at)).collect();
        for at in &there {
            let changes = actors.website.iter().copied();
            steps.extend(changes.map(|change| Step::Website(*at, change)));
        }
        let others = self.service.records.iter();
        let others = others.filter(|record| record.maker == Author::Other);
        if others.count() < actors.twins {
            steps.push(Step::Twin);
        }
        steps.extend((0..self.late.len()).map(Step::Arrive));
        if actors.time {
            steps.push(Step::Day);
            steps.extend((!self.is_day_past).then_some(Step::MovementDayPasses));
        }
        if actors.long {
            steps.extend([
                Step::HourOfCron,
                Step::Tries,
                Step::ThirtyHours,
                Step::UnreadableHours,
            ]);
        }
        if actors.users {
            let users = ["sam", "kim"].into_iter();
            steps.extend(users.filter(|user| *user != self.user).map(Step::Login));
        }
        steps
    }

    fn runs(&self, actors: &Actors, steps: &mut Vec<Step>) {
        let fates = actors.fates.iter().copied();
        if let Some(held) = &self.held {
            let after = [Fate::Answered, Fate::ReplyLost];
            let before = [
                Fate::Answered,
                Fate::NeverArrives,
                Fate::ArrivesLate,
                Fate::ReplyLost,
                Fate::Refused,
            ];
            if held.has_arrived() {
                steps.extend(after.map(Step::Reply));
                steps.push(Step::Kill(Fate::ReplyLost));
            } else {
                steps.extend(before.map(Step::Reply));
                steps.push(Step::HeldArrives);
                let killed = [Fate::NeverArrives, Fate::ReplyLost, Fate::ArrivesLate];
                steps.extend(killed.map(Step::Kill));
            }
            return;
        }
        steps.push(Step::Run(Run::PLAIN));
        for fate in fates {
            steps.extend([0, 1].map(|at| Step::Run(Run::with(at, fate))));
        }
        if actors.lists {
            let lists = [List::Null, List::Behind].map(|list| Run { list, ..Run::PLAIN });
            steps.extend(lists.map(Step::Run));
            let waits = false;
            steps.push(Step::Run(Run {
                waits,
                ..Run::PLAIN
            }));
        }
        if actors.gone && !self.was_gone {
            let list = List::Gone;
            steps.push(Step::Run(Run { list, ..Run::PLAIN }));
        }
        if actors.unreadable {
            let is_unreadable = true;
            steps.push(Step::Run(Run {
                is_unreadable,
                ..Run::PLAIN
            }));
        }
    }

    fn persons(&self, actors: &Actors, steps: &mut Vec<Step>) {
        let whole = || {
            actors
                .drafts
                .iter()
                .copied()
                .filter(|draft| *draft != Draft::Part)
        };
        if self.rows.len() < actors.declarations {
            steps.extend(whole().map(Step::Save));
            steps.extend(whole().map(Step::Submit));
            if actors.limits {
                steps.push(Step::SaveInTime(Draft::A));
            }
        }
        for (id, row) in &self.rows {
            if actors.edits && row.state != RowState::Discarded {
                steps.extend(whole().map(|draft| Step::Edit(*id, draft)));
                steps.extend(whole().map(|draft| Step::EditAndSubmit(*id, draft)));
                steps.extend([
                    Step::SubmitSaved(*id),
                    Step::Withdraw(*id),
                    Step::Delete(*id),
                ]);
            }
            let candidates = match self.screen(*id) {
                Screen::Asked(Asked::Candidates(candidates)) => candidates,
                Screen::Asked(Asked::OtherRecord(at) | Asked::NotAdopted(at)) => vec![at],
                Screen::Asked(_) | Screen::Refused | Screen::Sent => Vec::new(),
                _ => continue,
            };
            let adopts = candidates
                .into_iter()
                .map(super::service::id)
                .map(|id| Decision::Adopt(id.into()));
            let decisions = [
                Decision::KeepMine,
                Decision::TakeTheirs,
                Decision::Resend,
                Decision::SendAsMe,
                Decision::Discard,
            ];
            let decisions = decisions.into_iter().chain(adopts);
            steps.extend(decisions.map(|decision| Step::Decide(*id, decision)));
        }
        for at in (0..self.service.records.len()).filter(|at| self.service.is_there(*at)) {
            if actors.records {
                let drafts = actors.drafts.iter().copied();
                steps.extend(drafts.clone().map(|draft| Step::Update(at, draft)));
                steps.extend(drafts.map(|draft| Step::SubmitRecord(at, draft)));
                steps.push(Step::DeleteRecord(at));
            }
        }
    }

    /// The world after a step. `None` if the step is an error, or has the same effect as a simpler step.
    pub(super) fn after(&self, step: &Step) -> Option<Self> {
        let mut world = self.clone();
        world.invariants.broken.clear();
        world.take(step).then_some(world)
    }

    fn take(&mut self, step: &Step) -> bool {
        let save = |draft: Draft| Intent::Save(draft.text());
        let submit = |draft: Draft| Intent::Submit(Some(draft.text()));
        if *step != Step::Run(Run::PLAIN) {
            self.invariants.happened();
        }
        match step {
            Step::Save(draft) => self.requests(About::New, save(*draft), Some(*draft), None),
            Step::SaveInTime(draft) => {
                let not_after = Some(limit(self.now).at);
                self.requests(About::New, save(*draft), Some(*draft), not_after)
            }
            Step::Submit(draft) => self.requests(About::New, submit(*draft), Some(*draft), None),
            Step::Edit(id, draft) => {
                self.requests(About::Row(*id), save(*draft), Some(*draft), None)
            }
            Step::EditAndSubmit(id, draft) => {
                self.requests(About::Row(*id), submit(*draft), Some(*draft), None)
            }
            Step::SubmitSaved(id) => {
                self.requests(About::Row(*id), Intent::Submit(None), None, None)
            }
            Step::Withdraw(id) => self.requests(About::Row(*id), Intent::Withdraw, None, None),
            Step::Delete(id) => self.requests(About::Row(*id), Intent::Delete, None, None),
            Step::Decide(id, decision) => {
                let event = RowEvent::Decided(decision.clone());
                self.says(About::Row(*id), &event, None, None)
            }
            Step::Update(at, draft) => {
                self.requests(About::Record(*at), save(*draft), Some(*draft), None)
            }
            Step::SubmitRecord(at, draft) => {
                self.requests(About::Record(*at), submit(*draft), Some(*draft), None)
            }
            Step::DeleteRecord(at) => self.requests(About::Record(*at), Intent::Delete, None, None),
            Step::Website(at, change) => self.website(*at, *change),
            Step::Twin => {
                let given = FieldValues::of_text(&Draft::A.text());
                self.service.insert(Author::Other, "pat", &given, self.now);
                true
            }
            Step::Run(run) => self.run(*run),
            Step::Reply(fate) => {
                self.held_ends(*fate);
                true
            }
            Step::HeldArrives => {
                self.held_arrives();
                true
            }
            Step::Kill(fate) => {
                self.kill(*fate);
                true
            }
            Step::Arrive(at) => {
                let can_arrive = self.can_arrive(*at);
                if can_arrive {
                    self.arrive(*at);
                }
                can_arrive
            }
            Step::Day => {
                self.now += DAY;
                true
            }
            Step::MovementDayPasses => {
                self.now += 200 * DAY;
                self.is_day_past = true;
                true
            }
            Step::HourOfCron => {
                for _ in 0..60 {
                    self.run(Run {
                        is_unreadable: true,
                        is_timed: true,
                        ..Run::PLAIN
                    });
                }
                true
            }
            Step::Tries => {
                for _ in 0..60 {
                    if self.is_settled() {
                        break;
                    }
                    self.run(Run::with(0, Fate::NeverArrives));
                }
                true
            }
            Step::ThirtyHours => self.thirty_hours(Run::with(0, Fate::NeverArrives)),
            Step::UnreadableHours => self.thirty_hours(Run {
                is_unreadable: true,
                ..Run::PLAIN
            }),
            Step::Login(user) => {
                self.user = user;
                true
            }
            Step::Sync => {
                self.read_list(List::Complete);
                true
            }
        }
    }

    fn thirty_hours(&mut self, run: Run) -> bool {
        for _ in 0..8 {
            self.now += 4 * 60 * 60;
            self.run(Run {
                waits: false,
                is_timed: true,
                ..run
            });
        }
        for id in self.rows.keys().copied().collect::<Vec<_>>() {
            let screen = self.screen(id);
            self.invariants.has_tried_for_a_day(&screen);
        }
        true
    }

    fn requests(
        &mut self,
        about: About,
        intent: Intent,
        draft: Option<Draft>,
        not_after: Option<u64>,
    ) -> bool {
        let base = match about {
            About::Record(at) if intent == Intent::Delete => Some(self.copied(at)),
            About::Record(at) => Some(self.service.shown(at)),
            _ => None,
        };
        let event = RowEvent::Requested {
            intent,
            base,
            not_after: not_after.map(|_| limit(self.now)),
        };
        self.says(about, &event, draft, not_after)
    }

    /// Another user changes a record. Returns false if the change has no effect.
    fn website(&mut self, at: usize, change: Change) -> bool {
        let before = self.service.records[at].content;
        let mut given = FieldValues {
            fields: [None; FIELDS],
            is_submitted: None,
        };
        match change {
            Change::Consignee => given.fields[CONSIGNEE] = Some(PAT),
            Change::Time => given.fields[TIME] = Some(2),
            Change::Submit => given.is_submitted = Some(true),
            Change::TakeBack => given.is_submitted = Some(false),
            Change::Delete => {
                self.service.delete(at);
                return true;
            }
        }
        if given.over(before) == before {
            return false;
        }
        self.service.save(at, Author::Other, &given);
        true
    }

    /// The state after these steps, which must be possible.
    pub(super) fn after_all(planted: &'static str, steps: &[Step]) -> Self {
        let mut world = Self::new(planted);
        for step in steps {
            assert!(world.take(step), "{step} is not possible");
            world.invariants.broken.clear();
        }
        world
    }
}
