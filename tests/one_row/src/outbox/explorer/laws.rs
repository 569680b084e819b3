//! The promises of the outbox as laws over two logs: what persons said, with what they were shown, and what the service did, with the
//! author of each change. They know declarations, words, screens and records. They know no row, no state and no doubt.
//!
//! Of both logs only what a law still needs is kept, so that two histories that make no difference any more are one state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::service::{Author, Content, FIELDS, Given, NAMES, Record, SIGNATURE, Service, at};

const DAY: u64 = 24 * 60 * 60;

/// After so many requests without a clear answer a person is asked.
const TRIES: u8 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Law {
    Unasked,
    SubmittedAgain,
    Signature,
    Unseen,
    Late,
    Overwritten,
    Door,
    MadeTwice,
    BesideTwin,
    Untold,
    ToldFalsely,
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

impl Law {
    /// In the order of their declaration.
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
        Self::Untold,
        Self::ToldFalsely,
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

    /// The promise that it is a part of, and what it says.
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
            Self::Untold => ("P3", "each further record of a declaration is reported"),
            Self::ToldFalsely => ("P3", "what is reported as a further record is one"),
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

/// A law, and how it is broken.
#[derive(Clone, Debug)]
pub(super) struct Broken(pub(super) Law, pub(super) String);

/// What a person wants, as a text that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Word {
    pub(super) given: Given,
    pub(super) submits: bool,
    /// The service has saved it as it is.
    is_saved: bool,
    /// The service has submitted it.
    is_done: bool,
    /// It is not to be sent after this moment.
    not_after: Option<u64>,
    user: &'static str,
}

/// What a person says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said<'a> {
    Save(Given),
    /// Submit with this text, or with the one that stands.
    Submit(Option<Given>),
    Withdraw,
    Delete,
    KeepMine,
    TakeTheirs,
    Resend,
    Adopt(&'a str),
    SendAsMe,
    Discard,
}

/// A request, as it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// The record that it changes.
    pub(super) record: Option<usize>,
    /// The text of which it was made; `None`: a delete.
    pub(super) text: Option<Given>,
    /// What it says of each field.
    pub(super) given: Option<Given>,
    /// The records that the local copy has, by their bits.
    pub(super) listed: u32,
    pub(super) user: &'static str,
    pub(super) is_day_past: bool,
}

/// What a screen shows of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Screen {
    New,
    Waiting,
    /// Submitted, and waiting to be made a draft again.
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

/// A question as it is shown.
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
    /// Any other thing that is too late.
    MovementPassed,
    NoUsableAnswer,
}

/// What persons said about one declaration, and what became of it.
#[derive(Clone, Debug, Default)]
struct Declared {
    /// The words that stand, in the order in which they are to be sent.
    words: Vec<Word>,
    deletes: bool,
    deleted_by: &'static str,
    /// A person said that it is to be a draft again.
    withdraws: bool,
    /// By field, the values that a person ever wrote here.
    gave: [u8; FIELDS],
    /// How many lists without a gap were seen since a creation without a clear answer.
    creation: Option<u8>,
    /// What a person agreed to send over a submitted record; the text, or none of a delete.
    agreed: Option<Option<Given>>,
    agreed_late: bool,
    /// The question that a person answered, if nothing has happened since.
    answered: Option<u64>,
    /// What the service refused last; `None` in it is a delete.
    refused: Option<Option<Given>>,
    sent: Option<Option<Given>>,
    /// Since when nothing clear was heard of a request, or of a read.
    unclear_since: Option<u64>,
    unreadable_since: Option<u64>,
    unanswered: u8,
    /// The records that were listed when a person spoke of it as new, by their bits.
    knows: u32,
    /// The texts of creations that got no clear answer.
    lost: Vec<Given>,
    /// What of these words the service carried out last.
    carried_out: Option<Given>,
    /// The records that a person named as the declaration.
    named: Vec<usize>,
    /// The records that became the declaration, or were reported as further ones of it.
    took: BTreeSet<usize>,
}

impl Declared {
    /// What is to be sent next: a text, or none of a delete.
    fn next(&self) -> Option<Given> {
        self.words.first().map(|word| word.given)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Laws {
    declared: BTreeMap<u64, Declared>,
    /// By record and field, the values that a person saw there, and spoke afterwards.
    said: Vec<[u8; FIELDS]>,
    /// What the records of ours say about who made them, as far as a reply has named one.
    authors: BTreeSet<&'static str>,
    pub(super) broken: Vec<Broken>,
}

/// A set of the values of a field.
fn bit(value: u8) -> u8 {
    1 << value
}

impl Laws {
    fn breaks(&mut self, law: Law, how: String) {
        self.broken.push(Broken(law, how));
    }

    fn of(&mut self, declaration: u64) -> &mut Declared {
        self.declared.entry(declaration).or_default()
    }

    /// A person saw a record and spoke about it.
    pub(super) fn saw(&mut self, record: usize, content: Content) {
        if self.said.len() <= record {
            self.said.resize(record + 1, [0; FIELDS]);
        }
        for (seen, value) in self.said[record].iter_mut().zip(content.fields) {
            *seen |= bit(value);
        }
    }

    /// A person speaks about a record whatever it holds.
    pub(super) fn saw_all(&mut self, record: usize, content: Content) {
        self.saw(record, content);
        self.said[record] = [u8::MAX; FIELDS];
    }

    fn has_said(&self, record: usize, field: usize, value: u8) -> bool {
        let said = self.said.get(record).map_or(0, |said| said[field]);
        said & bit(value) > 0
    }

    /// Something happened beside plain passes.
    pub(super) fn happened(&mut self) {
        for declared in self.declared.values_mut() {
            declared.answered = None;
        }
    }

    /// A person says something about a declaration that the screen shows so. `base`: the record as another screen shows it.
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
        // A text answers only the question what of two texts counts; the others may be asked about it as well.
        let is_text = matches!(said, Said::Save(_) | Said::Submit(_) | Said::Withdraw);
        let declared = self.of(declaration);
        let is_new = !(matches!(said, Said::Delete) && declared.deletes);
        // To choose a record again that is gone says nothing new.
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
                    // It goes first as what it was, and the later text has nothing of it.
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
                // What is merged is of both.
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
            // What nothing clear was heard of is tried again from now on.
            declared.unclear_since = declared.unclear_since.map(|_| now);
            declared.unreadable_since = None;
            declared.unanswered = 0;
        }
    }

    /// What is shown right after a person has spoken.
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
            self.breaks(Law::SeemsUnsent, how.to_owned());
        }
        if matches!(after, Screen::Asked(_)) {
            self.of(declaration).answered = None;
        }
    }

    /// What was listed when a person said that it is new, or that it is none of them.
    pub(super) fn knows(&mut self, declaration: u64, listed: u32) {
        self.of(declaration).knows |= listed;
    }

    /// A request leaves. The service is as it is then.
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
                self.breaks(Law::NotSaid, "a delete that no word says".to_owned());
            }
            (None, _) if declared.deleted_by != user => {
                let how = format!("a delete of {} is sent as {user}", declared.deleted_by);
                self.breaks(Law::OtherUser, how);
            }
            (Some(_), None) => {
                self.breaks(Law::NotSaid, "a text that no word says".to_owned());
            }
            (Some(_), Some(word)) if word.user != user => {
                let how = format!("what {} wrote is sent as {user}", word.user);
                self.breaks(Law::OtherUser, how);
            }
            _ => {}
        }
        if let Some(submitted) = text.filter(|_| is_submit) {
            let mut words = declared.words.iter().filter(|word| word.submits);
            let asked = words.find(|word| word.given == submitted);
            match asked {
                None => self.breaks(Law::Unasked, "no word wants this text submitted".to_owned()),
                Some(word) if word.is_done => {
                    let how = "this word was submitted, and somebody took it back";
                    self.breaks(Law::SubmittedAgain, how.to_owned());
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
                // A load of a user who is known to be another one is another load.
                let is_another =
                    !self.authors.is_empty() && !self.authors.contains(record.created_by);
                // Of two equal loads here, it is the other one, or a person was shown it with that one.
                let is_taken = self
                    .declared
                    .iter()
                    .any(|(other, declared)| *other != declaration && declared.took.contains(at));
                let is_twin = text.is_some_and(|text| text.is_all_of(record.content));
                is_theirs && !is_another && !is_taken && is_new(*at) && is_twin
            });
            if let Some((at, _)) = twins.next() {
                let how = format!("c{} has the same text", at + 1);
                self.breaks(Law::BesideTwin, how);
            }
            let declared = self.of(declaration);
            if declared.creation.is_some_and(|lists| lists < 2) {
                let how = "made again after fewer than two lists without a gap";
                self.breaks(Law::MadeTwice, how.to_owned());
            }
            self.of(declaration).creation = Some(0);
            return;
        };
        let Some(record) = service.records.get(at).filter(|record| !record.is_deleted) else {
            return;
        };
        self.check_change(declaration, at, record, leaves);
    }

    /// What a request changes, as the record is when it leaves.
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
                self.breaks(Law::Signature, how.to_owned());
            }
            if is_day_past && after.has_date() && !declared.agreed_late {
                self.breaks(Law::Late, "the movement day has passed".to_owned());
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
                self.breaks(Law::Overwritten, how);
            } else if is_submit && value > 0 {
                let how = format!("{} of somebody else is submitted unseen", NAMES[field]);
                self.breaks(Law::Unseen, how);
            }
        }
        if content.is_submitted {
            if declared.agreed != Some(text) {
                let how = "nobody agreed to send this over the submitted record";
                self.breaks(Law::Door, how.to_owned());
            }
            let is_made_draft = given.is_some_and(|given| given.is_submitted == Some(false));
            if is_made_draft && !declared.withdraws {
                let how = "an update makes a draft of a submitted record";
                self.breaks(Law::MadeADraft, how.to_owned());
            }
        }
    }

    /// The service carried a request out.
    pub(super) fn carried_out(
        &mut self,
        declaration: u64,
        text: Option<Given>,
        given: Option<Given>,
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

    /// A reply names a record of ours, which says who made it.
    pub(super) fn learns(&mut self, author: &'static str) {
        self.authors.insert(author);
    }

    /// A record becomes that of a declaration.
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
            self.breaks(Law::NotOurs, how);
        }
    }

    /// A read about a declaration was answered, or not so that it can be used.
    pub(super) fn reads(&mut self, declaration: u64, is_usable: bool, now: u64) {
        let declared = self.of(declaration);
        declared.unreadable_since = match declared.unreadable_since {
            _ if is_usable => None,
            since => since.or(Some(now)),
        };
    }

    /// A list was read. `has_gap`: one element of it could not be read.
    pub(super) fn listed(&mut self, has_gap: bool) {
        for declared in self.declared.values_mut().filter(|_| !has_gap) {
            declared.creation = declared.creation.map(|lists| (lists + 1).min(2));
        }
    }

    /// A declaration was found to be as a request wants it, or its search ended.
    pub(super) fn settles(&mut self, declaration: u64, found: Option<(Given, bool)>) {
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

    /// A person is asked.
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
            self.breaks(Law::AskedAgain, how);
        }
        let untrue = match asked {
            Asked::NotAfterPassed => {
                let mut words = declared.words.iter();
                !words.any(|word| word.not_after.is_some_and(|limit| limit < now))
            }
            Asked::MovementPassed => !is_day_past || declared.deletes,
            Asked::NoUsableAnswer => {
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
            self.breaks(Law::Untrue, how);
        }
    }

    /// What a screen shows at the end of a pass in which nobody else acted.
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
                    self.breaks(Law::NotSo, how.to_owned());
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
        // It was so, and somebody has changed it since.
        let was_so = word.is_some_and(|word| {
            if is_submitted {
                word.is_done
            } else {
                word.is_saved
            }
        });
        let shown = if is_submitted { "submitted" } else { "saved" };
        if !is_so && !was_so {
            self.breaks(Law::NotSo, format!("shown as {shown}, and it is not there"));
        } else if !has_text && !was_so {
            let how = format!("shown as {shown}, and the record never had this text");
            self.breaks(Law::NotAsWanted, how);
        }
    }

    /// After plain passes nothing changes any more: what the screen shows of a declaration is its end.
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
            self.breaks(Law::Stuck, format!("it ends as {screen:?}"));
        }
    }

    /// A pass goes on for ever.
    pub(super) fn never_ends(&mut self) {
        self.breaks(Law::Stuck, "a pass does not end".to_owned());
    }

    /// A day has passed in which each try ended without a clear answer.
    pub(super) fn has_tried_for_a_day(&mut self, screen: &Screen) {
        if matches!(
            screen,
            Screen::Waiting | Screen::WaitingToWithdraw | Screen::Sent
        ) {
            let how = "a day of tries without a clear answer, and nobody is asked";
            self.breaks(Law::NotAsked, how.to_owned());
        }
    }

    /// Further records of a declaration are reported. `is_own_there`: whether the service has the one that the screen shows.
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
            self.breaks(Law::ToldFalsely, how.to_owned());
        }
        if is_of_another {
            let how = "it is the record of another declaration";
            self.breaks(Law::ToldFalsely, how.to_owned());
        }
    }

    /// The records of declarations that no screen accounts for.
    pub(super) fn counts(&mut self, untold: &[usize]) {
        for record in untold {
            let how = format!("record c{} is reported to nobody", record + 1);
            self.breaks(Law::Untold, how);
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
    /// What goes first was sent, so that the later word is next.
    fn leave_first(&mut self, sent: Option<Given>) {
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

/// Two unsigned texts as one: the later one counts where it changes the record that the person had before it.
fn merged(earlier: Given, later: Given, base: Content) -> Given {
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
    Given {
        fields,
        is_submitted: None,
    }
}

/// What makes a question the same question. Some are about what is wanted as well.
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
        Asked::NoUsableAnswer => "no usable answer",
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, promise) = self.0.promise();
        write!(f, "{number} ({:?}): {promise}: {}", self.0, self.1)
    }
}
