//! The promises of the outbox, as invariants over two logs: the instructions of the user, with the screen at that time, and the changes
//! at the service, with their authors. The invariants know declarations, words, screens and records. They do not know the rows of the
//! outbox, their states or their doubts.
//!
//! A [`Word`] is a text that the user has given, perhaps to be submitted. It stands until the user replaces or withdraws it.
//!
//! Both logs keep only the facts that an invariant still needs, so histories that no invariant can distinguish are the same state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::service::{Author, Content, FIELDS, FieldValues, NAMES, Record, SIGNATURE, Service, at};

const DAY: u64 = 24 * 60 * 60;

/// The number of requests without a clear answer after which the outbox asks the user.
const TRIES: u8 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Invariant {
    Unasked,
    SubmittedAgain,
    Signature,
    Unseen,
    Late,
    Overwritten,
    Door,
    MadeTwice,
    BesideTwin,
    Unreported,
    ReportedFalsely,
    NotOurs,
    OtherUser,
    MadeADraft,
    NotSaid,
    AskedAgain,
    Stuck,
    NotAsked,
    NotSo,
    NotAsWanted,
    SeemsUnsent,
    Untrue,
}

impl Invariant {
    /// In the order of the enum.
    pub(super) const ALL: [Self; Self::Untrue as usize + 1] = [
        Self::Unasked,
        Self::SubmittedAgain,
        Self::Signature,
        Self::Unseen,
        Self::Late,
        Self::Overwritten,
        Self::Door,
        Self::MadeTwice,
        Self::BesideTwin,
        Self::Unreported,
        Self::ReportedFalsely,
        Self::NotOurs,
        Self::OtherUser,
        Self::MadeADraft,
        Self::NotSaid,
        Self::AskedAgain,
        Self::Stuck,
        Self::NotAsked,
        Self::NotSo,
        Self::NotAsWanted,
        Self::SeemsUnsent,
        Self::Untrue,
    ];

    /// The promise that the invariant is a part of, and the text of the invariant.
    pub(super) fn promise(self) -> (&'static str, &'static str) {
        match self {
            Self::Unasked => (
                "P1",
                "nothing is submitted unless a word that stands says so",
            ),
            Self::SubmittedAgain => ("P1", "one word submits once"),
            Self::Signature => (
                "P1",
                "what is submitted has the signature of the word that says so",
            ),
            Self::Unseen => (
                "P1",
                "nothing is submitted with a value that only somebody else has seen",
            ),
            Self::Late => (
                "P1",
                "nothing is submitted after its movement day unless a person agreed",
            ),
            Self::Overwritten => ("P2", "no value of somebody else is replaced unseen"),
            Self::Door => (
                "P2",
                "a submitted record changes only as a person agreed, with that text",
            ),
            Self::MadeTwice => (
                "P3",
                "nothing is made twice unless two lists without a gap were seen since",
            ),
            Self::BesideTwin => (
                "P3",
                "nothing is made beside a record with the same text that a list has shown since",
            ),
            Self::Unreported => ("P3", "each further record of a declaration is reported"),
            Self::ReportedFalsely => ("P3", "what is reported as a further record is one"),
            Self::NotOurs => (
                "P3",
                "a record of somebody else is ours only if a person says so, or it is all that was lost",
            ),
            Self::OtherUser => (
                "P4",
                "nothing of one user is sent under the login of another",
            ),
            Self::MadeADraft => ("P5", "only a withdraw makes a draft of what is submitted"),
            Self::NotSaid => ("P5", "nothing is sent that no word says"),
            Self::AskedAgain => (
                "P6",
                "an answered question does not come back unless something happened",
            ),
            Self::Stuck => (
                "P7",
                "twelve plain passes meet each word, or it is refused or asked about",
            ),
            Self::NotAsked => ("P7", "a day without a clear answer ends in a question"),
            Self::NotSo => (
                "P8",
                "what a screen shows as saved, submitted or deleted is so",
            ),
            Self::NotAsWanted => (
                "P8",
                "what a screen shows as saved or submitted was so with this text",
            ),
            Self::SeemsUnsent => (
                "P8",
                "what was submitted is not shown as waiting to be sent",
            ),
            Self::Untrue => ("P9", "a question is true of the word that stands"),
        }
    }
}

/// A broken invariant, and what broke it.
#[derive(Clone, Debug)]
pub(super) struct Broken(pub(super) Invariant, pub(super) String);

/// A text that the user has given and not replaced or withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Word {
    pub(super) given: FieldValues,
    pub(super) submits: bool,
    /// The service has saved exactly this text.
    is_saved: bool,
    /// The service has submitted it.
    is_done: bool,
    /// It must not be sent after this time.
    not_after: Option<u64>,
    user: &'static str,
}

/// An instruction of the user.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said<'a> {
    Save(FieldValues),
    /// Submit this text, or the text that stands.
    Submit(Option<FieldValues>),
    Withdraw,
    Delete,
    KeepMine,
    TakeTheirs,
    Resend,
    Adopt(&'a str),
    SendAsMe,
    Discard,
}

/// A request at the time of sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// The record that it changes; `None` for a creation.
    pub(super) record: Option<usize>,
    /// The text that it was built from; `None` for a delete.
    pub(super) text: Option<FieldValues>,
    /// The fields that it sends; `None` for a delete.
    pub(super) given: Option<FieldValues>,
    /// The records in the local copy, as a bit set.
    pub(super) listed: u32,
    pub(super) user: &'static str,
    pub(super) is_day_past: bool,
}

/// The state of a declaration on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Screen {
    New,
    Waiting,
    /// Submitted, and waiting to become a draft again.
    WaitingToWithdraw,
    Sent,
    Saved,
    DraftAgain,
    Submitted,
    Deleted,
    Refused,
    Asked(Asked),
    GivenUp,
}

/// A question on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    Changed(usize, Content),
    NotADraft(usize, Content),
    Gone,
    Candidates(Vec<usize>),
    OtherRecord(usize),
    NotAdopted(usize),
    AnotherUser,
    NotAfterPassed,
    /// It is too late for another reason.
    MovementPassed,
    ServiceUnresponsive,
}

/// The user's instructions about one declaration, and their results.
#[derive(Clone, Debug, Default)]
struct Declared {
    /// The words that stand, in sending order.
    words: Vec<Word>,
    deletes: bool,
    deleted_by: &'static str,
    /// The user wants it to be a draft again.
    withdraws: bool,
    /// For each field, the values that the user has ever written, as a bit set.
    gave: [u8; FIELDS],
    /// After a creation without a clear answer: the number of lists without a gap since then.
    creation: Option<u8>,
    /// The text that the user agreed to send over a submitted record; `Some(None)` for a delete.
    agreed: Option<Option<FieldValues>>,
    agreed_late: bool,
    /// The question that the user answered, if nothing has happened since.
    answered: Option<u64>,
    /// The text that the service refused last; `Some(None)` for a delete.
    refused: Option<Option<FieldValues>>,
    sent: Option<Option<FieldValues>>,
    /// The time since when requests have had no clear answer.
    unclear_since: Option<u64>,
    /// The time since when reads have had no usable answer.
    unreadable_since: Option<u64>,
    unanswered: u8,
    /// The records that were listed when the user created the declaration or sent it again, as a bit set.
    knows: u32,
    /// The texts of creations that got no clear answer.
    lost: Vec<FieldValues>,
    /// The text that the service carried out last.
    carried_out: Option<FieldValues>,
    /// The records that the user named as the declaration.
    named: Vec<usize>,
    /// The records that became the declaration's own, or were reported as its duplicates.
    took: BTreeSet<usize>,
}

impl Declared {
    /// The text to send next; `None` for a delete.
    fn next(&self) -> Option<FieldValues> {
        self.words.first().map(|word| word.given)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Invariants {
    declared: BTreeMap<u64, Declared>,
    /// For each record and field, the values that the user saw before giving an instruction, as a bit set.
    said: Vec<[u8; FIELDS]>,
    /// The creators of our records, as far as replies have shown them.
    authors: BTreeSet<&'static str>,
    pub(super) broken: Vec<Broken>,
}

/// The bit of a value in a set of values.
fn bit(value: u8) -> u8 {
    1 << value
}

impl Invariants {
    fn breaks(&mut self, invariant: Invariant, how: String) {
        self.broken.push(Broken(invariant, how));
    }

    fn of(&mut self, declaration: u64) -> &mut Declared {
        self.declared.entry(declaration).or_default()
    }

    /// The user saw a record and gave an instruction about it.
    pub(super) fn saw(&mut self, record: usize, content: Content) {
        if self.said.len() <= record {
            self.said.resize(record + 1, [0; FIELDS]);
        }
        for (seen, value) in self.said[record].iter_mut().zip(content.fields) {
            *seen |= bit(value);
        }
    }

    /// The user gives an instruction about a record, whatever its content.
    pub(super) fn saw_all(&mut self, record: usize, content: Content) {
        self.saw(record, content);
        self.said[record] = [u8::MAX; FIELDS];
    }

    fn has_said(&self, record: usize, field: usize, value: u8) -> bool {
        let said = self.said.get(record).map_or(0, |said| said[field]);
        said & bit(value) > 0
    }

    /// Something other than a plain pass happened.
    pub(super) fn happened(&mut self) {
        for declared in self.declared.values_mut() {
            declared.answered = None;
        }
    }

    /// The user gives an instruction about a declaration while the screen is in this state. `base`: the record, as another screen
    /// shows it.
    pub(super) fn says(
        &mut self,
        declaration: u64,
        said: Said<'_>,
        screen: &Screen,
        base: Option<(usize, Content)>,
        not_after: Option<u64>,
        user: &'static str,
        now: u64,
    ) {
        if let Some((record, content)) = base {
            self.saw(record, content);
        }
        if let Screen::Asked(Asked::Changed(record, content) | Asked::NotADraft(record, content)) =
            screen
        {
            self.saw(*record, *content);
        }
        let is_at_rest = matches!(
            screen,
            Screen::New | Screen::Saved | Screen::DraftAgain | Screen::Submitted | Screen::Deleted
        );
        // A new text is not an answer, because every question may also be asked about that text.
        let is_text = matches!(said, Said::Save(_) | Said::Submit(_) | Said::Withdraw);
        let declared = self.of(declaration);
        let is_new = !(matches!(said, Said::Delete) && declared.deletes);
        // Choosing a record again that is gone or taken is not a new answer.
        let is_repeated = match (said, screen) {
            (Said::Adopt(chosen), Screen::Asked(Asked::NotAdopted(gone))) => at(chosen) == *gone,
            _ => false,
        };
        let is_answer = matches!(screen, Screen::Asked(_)) && !is_text && is_new && !is_repeated;
        let key = question_key(screen, declared);
        declared.answered = None;
        declared.carried_out.take_if(|_| is_at_rest);
        let waits = declared.words.last().copied().filter(|_| !is_at_rest);
        let word = |given, submits| Word {
            given,
            submits,
            is_saved: false,
            is_done: false,
            not_after,
            user,
        };
        match said {
            Said::Save(given) | Said::Submit(Some(given)) => {
                let asks_submit = matches!(said, Said::Submit(_));
                let is_over = !is_at_rest && declared.deletes;
                for (gave, value) in declared.gave.iter_mut().zip(given.fields) {
                    *gave |= bit(value.unwrap_or(0));
                }
                let kept = waits.filter(|_| !is_over);
                let (given, keeps) = match (kept, base) {
                    (None, _) => (given, false),
                    (Some(earlier), None) => (given, earlier.submits),
                    (Some(earlier), Some(_)) if earlier.given == given => (given, earlier.submits),
                    // The earlier text is sent first and unchanged, and the later text inherits nothing from it.
                    (Some(earlier), Some(_)) if earlier.given.is_signed() || given.is_signed() => {
                        declared.words.truncate(1);
                        declared.words[0] = earlier;
                        (given, false)
                    }
                    (Some(earlier), Some((_, base))) => {
                        (merged(earlier.given, given, base), earlier.submits)
                    }
                };
                let is_second = kept.zip(base).is_some_and(|(earlier, _)| {
                    earlier.given != given && (earlier.given.is_signed() || given.is_signed())
                });
                let mut next = word(given, asks_submit || keeps);
                // A merged text contains parts of the earlier text, so it keeps that user.
                if let (Some(earlier), Some(_), false) = (kept, base, is_second) {
                    next.user = earlier.user;
                }
                next.not_after = not_after.or(kept.and_then(|earlier| earlier.not_after));
                next.is_saved = declared.carried_out == Some(given);
                if !is_second {
                    let first = declared.words.first().copied();
                    let stays = declared.words.len() > 1 && first.is_some() && !is_at_rest;
                    declared.words.clear();
                    declared
                        .words
                        .extend(first.filter(|first| stays && first.given != given));
                }
                declared.words.push(next);
                declared.deletes = false;
                declared.withdraws &= !is_at_rest && (!asks_submit || is_second);
            }
            Said::Submit(None) => {
                let Some(last) = declared.words.last_mut() else {
                    return;
                };
                (last.submits, last.is_done, last.user) = (true, false, user);
                last.not_after = not_after.or(last.not_after);
                declared.withdraws = false;
            }
            Said::Withdraw => {
                for word in &mut declared.words {
                    word.submits = false;
                }
                declared.withdraws = true;
            }
            Said::Delete => {
                declared.words.clear();
                declared.deletes = true;
                declared.deleted_by = user;
            }
            Said::TakeTheirs | Said::Discard => {
                declared.words.clear();
                declared.deletes = false;
            }
            Said::KeepMine => match screen {
                Screen::Asked(Asked::NotADraft(..)) => {
                    declared.agreed = Some(declared.next());
                    declared
                        .words
                        .iter_mut()
                        .for_each(|word| word.is_done = false);
                }
                Screen::Asked(Asked::Changed(..)) => {
                    declared
                        .words
                        .iter_mut()
                        .for_each(|word| word.is_done = false);
                }
                Screen::Asked(Asked::MovementPassed | Asked::NotAfterPassed) => {
                    declared.agreed_late = true;
                }
                Screen::Asked(Asked::Gone) => {
                    declared.creation = None;
                    declared
                        .words
                        .iter_mut()
                        .for_each(|word| word.is_done = false);
                }
                _ => {}
            },
            Said::SendAsMe => {
                for word in &mut declared.words {
                    word.user = user;
                }
                declared.deleted_by = user;
            }
            Said::Resend => declared.creation = None,
            Said::Adopt(record) => declared.named.push(at(record)),
        }
        if is_answer {
            declared.answered = Some(key);
            // The outbox tries again, so the time without a clear answer starts now.
            declared.unclear_since = declared.unclear_since.map(|_| now);
            declared.unreadable_since = None;
            declared.unanswered = 0;
        }
    }

    /// Checks the screen right after an instruction.
    pub(super) fn is_shown_after(
        &mut self,
        declaration: u64,
        said: Said<'_>,
        before: &Screen,
        after: &Screen,
    ) {
        if matches!(said, Said::Withdraw)
            && *before == Screen::Submitted
            && *after == Screen::Waiting
        {
            let how = "a withdraw of what is submitted waits to be sent";
            self.breaks(Invariant::SeemsUnsent, how.to_owned());
        }
        if matches!(after, Screen::Asked(_)) {
            self.of(declaration).answered = None;
        }
    }

    /// The user creates the declaration, or sends it again, although these records are listed.
    pub(super) fn knows(&mut self, declaration: u64, listed: u32) {
        self.of(declaration).knows |= listed;
    }

    /// Checks a request at the time of sending, with the state of the service at that time.
    pub(super) fn departs(&mut self, declaration: u64, leaves: &Departure, service: &Service) {
        let Departure {
            record,
            text,
            given,
            listed,
            user,
            ..
        } = *leaves;
        let declared = self.of(declaration).clone();
        let is_submit = given.is_some_and(|given| given.is_submitted == Some(true));
        let mut words = declared.words.iter();
        let word = words.find(|word| Some(word.given) == text);
        match (text, word) {
            (None, _) if !declared.deletes => {
                self.breaks(Invariant::NotSaid, "a delete that no word says".to_owned());
            }
            (None, _) if declared.deleted_by != user => {
                let how = format!("a delete of {} is sent as {user}", declared.deleted_by);
                self.breaks(Invariant::OtherUser, how);
            }
            (Some(_), None) => {
                self.breaks(Invariant::NotSaid, "a text that no word says".to_owned());
            }
            (Some(_), Some(word)) if word.user != user => {
                let how = format!("what {} wrote is sent as {user}", word.user);
                self.breaks(Invariant::OtherUser, how);
            }
            _ => {}
        }
        if let Some(submitted) = text.filter(|_| is_submit) {
            let mut words = declared.words.iter().filter(|word| word.submits);
            let asked = words.find(|word| word.given == submitted);
            match asked {
                None => self.breaks(
                    Invariant::Unasked,
                    "no word wants this text submitted".to_owned(),
                ),
                Some(word) if word.is_done => {
                    let how = "this word was submitted, and somebody took it back";
                    self.breaks(Invariant::SubmittedAgain, how.to_owned());
                }
                Some(_) => {}
            }
        }
        let declared = self.of(declaration);
        declared.unanswered = declared.unanswered.saturating_add(1);
        declared.sent = Some(text);
        let declared = declared.clone();
        let Some(at) = record else {
            let is_new = |at: usize| listed & !declared.knows & (1 << at) > 0;
            let records = service.records.iter().enumerate();
            let mut twins = records.filter(|(at, record)| {
                let is_theirs = record.maker == Author::Other && !record.is_deleted;
                // If its creator is known to be another user, the record is another load.
                let is_another =
                    !self.authors.is_empty() && !self.authors.contains(record.created_by);
                // Another declaration already has the record, or has reported it.
                let is_taken = self
                    .declared
                    .iter()
                    .any(|(other, declared)| *other != declaration && declared.took.contains(at));
                let is_twin = text.is_some_and(|text| text.is_all_of(record.content));
                is_theirs && !is_another && !is_taken && is_new(*at) && is_twin
            });
            if let Some((at, _)) = twins.next() {
                let how = format!("c{} has the same text", at + 1);
                self.breaks(Invariant::BesideTwin, how);
            }
            let declared = self.of(declaration);
            if declared.creation.is_some_and(|lists| lists < 2) {
                let how = "made again after fewer than two lists without a gap";
                self.breaks(Invariant::MadeTwice, how.to_owned());
            }
            self.of(declaration).creation = Some(0);
            return;
        };
        let Some(record) = service.records.get(at).filter(|record| !record.is_deleted) else {
            return;
        };
        self.check_change(declaration, at, record, leaves);
    }

    /// Checks the changes of a request against the record at the time of sending.
    fn check_change(&mut self, declaration: u64, at: usize, record: &Record, leaves: &Departure) {
        let Departure {
            text,
            given,
            is_day_past,
            ..
        } = *leaves;
        let declared = self.of(declaration).clone();
        let content = record.content;
        let after = given.map(|given| given.over(content));
        let is_submit = given.is_some_and(|given| given.is_submitted == Some(true));
        if let Some(after) = after.filter(|_| is_submit) {
            let signed = text.and_then(|text| text.fields[SIGNATURE]).unwrap_or(0);
            if after.fields[SIGNATURE] != signed {
                let how = "the record keeps a signature that is not of this text";
                self.breaks(Invariant::Signature, how.to_owned());
            }
            if is_day_past && after.has_date() && !declared.agreed_late {
                self.breaks(Invariant::Late, "the movement day has passed".to_owned());
            }
        }
        for field in 0..FIELDS {
            let value = content.fields[field];
            let is_theirs = record.authors[field] == Author::Other;
            let is_known = self.has_said(at, field, value) || declared.gave[field] & bit(value) > 0;
            if !is_theirs || is_known {
                continue;
            }
            let now = after.map_or(0, |after| after.fields[field]);
            if now != value {
                let how = format!("{} of somebody else is overwritten", NAMES[field]);
                self.breaks(Invariant::Overwritten, how);
            } else if is_submit && value > 0 {
                let how = format!("{} of somebody else is submitted unseen", NAMES[field]);
                self.breaks(Invariant::Unseen, how);
            }
        }
        if content.is_submitted {
            if declared.agreed != Some(text) {
                let how = "nobody agreed to send this over the submitted record";
                self.breaks(Invariant::Door, how.to_owned());
            }
            let is_made_draft = given.is_some_and(|given| given.is_submitted == Some(false));
            if is_made_draft && !declared.withdraws {
                let how = "an update makes a draft of a submitted record";
                self.breaks(Invariant::MadeADraft, how.to_owned());
            }
        }
    }

    /// The service carried out a request.
    pub(super) fn carried_out(
        &mut self,
        declaration: u64,
        text: Option<FieldValues>,
        given: Option<FieldValues>,
    ) {
        let is_submit = given.is_some_and(|given| given.is_submitted == Some(true));
        let declared = self.of(declaration);
        declared.carried_out = text;
        let words = declared.words.iter_mut();
        for word in words.filter(|word| Some(word.given) == text) {
            word.is_saved = true;
            word.is_done |= is_submit && word.submits;
        }
    }

    /// A request got a clear answer. `is_refused`: the service refused it.
    pub(super) fn answers(&mut self, declaration: u64, is_refused: bool) {
        let declared = self.of(declaration);
        declared.refused = declared.sent.filter(|_| is_refused);
        declared.creation = None;
        if let Some(sent) = declared.sent.filter(|_| !is_refused) {
            declared.leave_first(sent);
        }
        declared.forget_trouble();
    }

    /// A request did not reach the service.
    pub(super) fn never_left(&mut self, declaration: u64, before: Option<u8>) {
        let declared = self.of(declaration);
        declared.creation = before;
        declared.unanswered = declared.unanswered.saturating_sub(1);
    }

    pub(super) fn creation(&self, declaration: u64) -> Option<u8> {
        self.declared.get(&declaration)?.creation
    }

    /// A request got no clear answer.
    pub(super) fn hears_nothing(&mut self, declaration: u64, now: u64) {
        let declared = self.of(declaration);
        declared.unclear_since = declared.unclear_since.or(Some(now));
        let sent = declared.sent.flatten();
        let lost = sent.filter(|sent| declared.creation.is_some() && !declared.lost.contains(sent));
        declared.lost.extend(lost);
    }

    /// A reply names a record of ours, which shows its creator.
    pub(super) fn learns(&mut self, author: &'static str) {
        self.authors.insert(author);
    }

    /// A declaration takes a record as its own.
    pub(super) fn takes(&mut self, declaration: u64, at: usize, service: &Service) {
        self.of(declaration).took.insert(at);
        let declared = self.of(declaration).clone();
        let record = &service.records[at];
        let mut lost = declared.lost.iter();
        let is_twin = lost.any(|text| text.is_all_of(record.content));
        let is_ours = match record.maker {
            Author::Us(maker) => maker == declaration,
            Author::Other => is_twin,
        };
        if !is_ours && !declared.named.contains(&at) {
            let how = format!("c{} is taken, which {:?} made", at + 1, record.maker);
            self.breaks(Invariant::NotOurs, how);
        }
    }

    /// A read for a declaration got a usable or an unusable answer.
    pub(super) fn reads(&mut self, declaration: u64, is_usable: bool, now: u64) {
        let declared = self.of(declaration);
        declared.unreadable_since = match declared.unreadable_since {
            _ if is_usable => None,
            since => since.or(Some(now)),
        };
    }

    /// A list was read. `has_gap`: whether an element could not be read.
    pub(super) fn listed(&mut self, has_gap: bool) {
        for declared in self.declared.values_mut().filter(|_| !has_gap) {
            declared.creation = declared.creation.map(|lists| (lists + 1).min(2));
        }
    }

    /// The record was found with the result of a request, or the search for it ended.
    pub(super) fn settles(&mut self, declaration: u64, found: Option<(FieldValues, bool)>) {
        let declared = self.of(declaration);
        if let Some((text, is_submitted)) = found {
            let words = declared.words.iter_mut();
            for word in words.filter(|word| word.given == text) {
                word.is_done |= is_submitted && word.submits;
            }
            declared.leave_first(Some(text));
        }
        declared.creation = None;
        declared.forget_trouble();
    }

    /// The outbox asks the user.
    pub(super) fn asks(
        &mut self,
        declaration: u64,
        screen: &Screen,
        service: &Service,
        now: u64,
        is_day_past: bool,
        others: &[usize],
    ) {
        let Screen::Asked(asked) = screen else {
            return;
        };
        let declared = self.of(declaration).clone();
        if declared.answered == Some(question_key(screen, &declared)) {
            let how = format!("asked again: {}", asked_in_words(asked));
            self.breaks(Invariant::AskedAgain, how);
        }
        let untrue = match asked {
            Asked::NotAfterPassed => {
                let mut words = declared.words.iter();
                !words.any(|word| word.not_after.is_some_and(|limit| limit < now))
            }
            Asked::MovementPassed => !is_day_past || declared.deletes,
            Asked::ServiceUnresponsive => {
                let since = [declared.unclear_since, declared.unreadable_since];
                let since = since.into_iter().flatten().min();
                let is_long = since.is_some_and(|since| now - since >= DAY * 9 / 10);
                !is_long && declared.unanswered < TRIES
            }
            Asked::NotADraft(at, content) => {
                let record = service.records.get(*at);
                record.is_some_and(|record| record.content == *content && !content.is_submitted)
            }
            Asked::Candidates(candidates) => {
                let mut candidates = candidates.iter();
                candidates.any(|candidate| others.contains(candidate))
            }
            Asked::OtherRecord(_)
            | Asked::NotAdopted(_)
            | Asked::AnotherUser
            | Asked::Gone
            | Asked::Changed(..) => false,
        };
        if untrue {
            let how = format!("it is not so: {}", asked_in_words(asked));
            self.breaks(Invariant::Untrue, how);
        }
    }

    /// Checks the screen after a run in which no other user acted.
    pub(super) fn shows(
        &mut self,
        declaration: u64,
        screen: &Screen,
        record: Option<usize>,
        service: &Service,
    ) {
        let is_submitted = match screen {
            Screen::Saved | Screen::DraftAgain => false,
            Screen::Submitted => true,
            Screen::Deleted => {
                if record.is_some_and(|record| service.is_there(record)) {
                    let how = "the record is there, and shown as deleted";
                    self.breaks(Invariant::NotSo, how.to_owned());
                }
                return;
            }
            _ => return,
        };
        let declared = self.of(declaration);
        let word = declared.words.last().copied();
        let there = record.filter(|record| service.is_there(*record));
        let content = there.map(|record| service.records[record].content);
        let has_text = content
            .zip(word)
            .is_some_and(|(content, word)| word.given.is_in(content));
        let is_so = content.is_some_and(|content| match screen {
            Screen::Submitted => content.is_submitted,
            Screen::DraftAgain => !content.is_submitted,
            _ => true,
        });
        // It was so, but another user has changed it since.
        let was_so = word.is_some_and(|word| {
            if is_submitted {
                word.is_done
            } else {
                word.is_saved
            }
        });
        let shown = if is_submitted { "submitted" } else { "saved" };
        if !is_so && !was_so {
            self.breaks(
                Invariant::NotSo,
                format!("shown as {shown}, and it is not there"),
            );
        } else if !has_text && !was_so {
            let how = format!("shown as {shown}, and the record never had this text");
            self.breaks(Invariant::NotAsWanted, how);
        }
    }

    /// Checks the screen after plain passes, when nothing changes any more.
    pub(super) fn ends(&mut self, declaration: u64, screen: &Screen) {
        let declared = self.of(declaration).clone();
        let is_end = match screen {
            Screen::Waiting | Screen::WaitingToWithdraw | Screen::Sent | Screen::New => false,
            Screen::Refused => {
                let mut words = declared.words.iter();
                let refused = declared.refused;
                refused == Some(None) && declared.deletes
                    || words.any(|word| refused == Some(Some(word.given)))
            }
            Screen::Saved | Screen::DraftAgain => {
                let mut words = declared.words.iter();
                !declared.deletes && !words.any(|word| word.submits && !word.is_done)
            }
            Screen::Submitted => !declared.deletes,
            Screen::Deleted => declared.deletes,
            Screen::Asked(_) | Screen::GivenUp => true,
        };
        if !is_end {
            self.breaks(Invariant::Stuck, format!("it ends as {screen:?}"));
        }
    }

    /// A pass does not end.
    pub(super) fn never_ends(&mut self) {
        self.breaks(Invariant::Stuck, "a pass does not end".to_owned());
    }

    /// Every attempt of the last day ended without a clear answer.
    pub(super) fn has_tried_for_a_day(&mut self, screen: &Screen) {
        if matches!(
            screen,
            Screen::Waiting | Screen::WaitingToWithdraw | Screen::Sent
        ) {
            let how = "a day of tries without a clear answer, and nobody is asked";
            self.breaks(Invariant::NotAsked, how.to_owned());
        }
    }

    /// The outbox reports duplicates of a declaration. `is_own_there`: whether the service has the declaration's own record.
    /// `is_of_another`: whether one of them is the record of another declaration.
    pub(super) fn tells(
        &mut self,
        declaration: u64,
        records: impl Iterator<Item = usize>,
        screen: &Screen,
        is_own_there: bool,
        is_of_another: bool,
    ) {
        self.of(declaration).took.extend(records);
        let has_own = matches!(
            screen,
            Screen::Saved | Screen::DraftAgain | Screen::Submitted
        );
        if has_own && !is_own_there {
            let how = "it is the only record";
            self.breaks(Invariant::ReportedFalsely, how.to_owned());
        }
        if is_of_another {
            let how = "it is the record of another declaration";
            self.breaks(Invariant::ReportedFalsely, how.to_owned());
        }
    }

    /// Reports the records of declarations that no screen accounts for.
    pub(super) fn check_unreported(&mut self, unreported: &[usize]) {
        for record in unreported {
            let how = format!("record c{} is reported to nobody", record + 1);
            self.breaks(Invariant::Unreported, how);
        }
    }

    pub(super) fn hash(&self, into: &mut DefaultHasher, now: u64) {
        (&self.said, &self.authors).hash(into);
        for (declaration, declared) in &self.declared {
            declaration.hash(into);
            declared.words.len().hash(into);
            for word in &declared.words {
                (word.given, word.submits, word.is_saved, word.is_done).hash(into);
                word.user.hash(into);
                word.not_after.map(|limit| limit < now).hash(into);
            }
            let Declared {
                deletes,
                deleted_by,
                withdraws,
                gave,
                creation,
                agreed,
                agreed_late,
                answered,
                refused,
                sent,
                unclear_since,
                unreadable_since,
                unanswered,
                knows,
                lost,
                carried_out,
                named,
                took,
                words: _,
            } = declared;
            (deleted_by, knows, lost, carried_out, named, took).hash(into);
            (deletes, withdraws, gave, creation, agreed, agreed_late).hash(into);
            (answered, refused, sent, unanswered).hash(into);
            let is_long = |since: &u64| now - since >= DAY;
            unclear_since.as_ref().map(is_long).hash(into);
            unreadable_since.as_ref().map(is_long).hash(into);
        }
    }
}

impl Declared {
    /// Removes the first word if this was its last request, so that the later word is next.
    fn leave_first(&mut self, sent: Option<FieldValues>) {
        let first = self.words.first().filter(|_| self.words.len() > 1);
        let is_sent = first
            .is_some_and(|first| Some(first.given) == sent && (!first.submits || first.is_done));
        if is_sent {
            self.words.remove(0);
        }
    }

    fn forget_trouble(&mut self) {
        (self.unclear_since, self.unreadable_since) = (None, None);
        self.unanswered = 0;
    }
}

/// Merges two unsigned texts. A field of the later text wins where it differs from the record that the user edited.
fn merged(earlier: FieldValues, later: FieldValues, base: Content) -> FieldValues {
    let mut fields = [None; FIELDS];
    for (field, merged) in fields.iter_mut().enumerate() {
        let base = base.fields[field];
        *merged = match (earlier.fields[field], later.fields[field]) {
            (Some(earlier), Some(later)) if later == base => Some(earlier),
            (Some(_), Some(later)) => Some(later),
            (Some(earlier), None) => Some(earlier).filter(|earlier| *earlier != base),
            (None, later) => later,
        };
    }
    FieldValues {
        fields,
        is_submitted: None,
    }
}

/// The identity of a question. Some questions are also about the text to send.
fn question_key(screen: &Screen, declared: &Declared) -> u64 {
    let mut key = DefaultHasher::new();
    screen.hash(&mut key);
    if let Screen::Asked(Asked::Changed(..) | Asked::NotADraft(..)) = screen {
        declared.next().hash(&mut key);
    }
    key.finish()
}

fn asked_in_words(asked: &Asked) -> &'static str {
    match asked {
        Asked::Changed(..) => "somebody changed it",
        Asked::NotADraft(..) => "it is no draft",
        Asked::Gone => "it is gone",
        Asked::Candidates(_) => "which record is it",
        Asked::OtherRecord(_) => "is it the record of the reply",
        Asked::AnotherUser => "another user wrote it",
        Asked::NotAdopted(_) => "the chosen record is gone or taken",
        Asked::NotAfterPassed => "its time has passed",
        Asked::MovementPassed => "its day has passed",
        Asked::ServiceUnresponsive => "no usable answer",
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, promise) = self.0.promise();
        write!(f, "{number} ({:?}): {promise}: {}", self.0, self.1)
    }
}
