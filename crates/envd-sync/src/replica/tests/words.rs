//! The words of the scenarios of a copy.

use std::time::Duration;

use test_support::words;

use crate::tests::script::{Argument, Refusal, Vocabulary, Words, parse_seconds};

words! {
    "step";
    pub(super) enum Does {
        With(usize, Option<Order>) = "with",
        Sync = "sync",
        SyncFull = "full",
        Calm = "calm",
        Tell(Option<String>) = "tell",
        Hear(String, Option<usize>) = "hear",
        Acknowledge(String, usize) = "ack",
        ChunksOf(usize) = "chunks of",
        Restart = "restart",
        RemoveConsumer(String) = "remove",
        BeforeCommit(usize, Vec<Happening>) = "before commit",
        BeforeRequest(Nth, WebsiteStep) = "before",
        TakesCommits(usize) = "takes",
        TakesAll = "takes all",
        Overlap(Duration) = "overlap",
        Horizon(Duration) = "horizon",
        Retention(Duration, Pruning) = "retention",
        PageSize(u32) = "pages of",
        DepthFull = "depth full",
        Date(DateWord) = "date",
        DateStated(DateWord) = "date stated",
        AdvanceClock(Duration) = "clock",
        SetClockBack(Duration) = "clock back",
        OtherVersion(u32) = "version",
    }
}

words! {
    "order";
    pub(super) enum Order {
        ById = "by id",
        LatestFirst = "latest first",
        EarliestFirst = "earliest first",
    }
}

words! {
    "kind";
    pub(super) enum Pruning {
        Reported = "aloud",
        Unreported = "silently",
    }
}

words! {
    "date";
    pub(super) enum DateWord {
        LastChange = "last_change",
        Creation = "creation",
        Movement = "movement",
        Unknown = "unknown",
    }
}

words! {
    "action";
    /// An action of another program.
    pub(super) enum OtherProgram {
        Sync = "another sync",
        SyncFull = "another full",
    }
}

words! {
    "step";
    /// An edit on the website, or a change in the behaviour of the service.
    pub(super) enum WebsiteStep {
        Save(String, Option<SavedField>) = "save",
        /// An edit that does not change the date of the last change.
        Alter(String, AlteredField, String) = "alter",
        NextDay(String, u32) = "day",
        Delete(String) = "delete",
        Hide(String) = "hide",
        Show(String) = "show",
        Mend(String) = "mend",
        Garble(String, Damage) = "garble",
        /// All dates earlier, as after a restart of the fake.
        Earlier(Duration) = "earlier",
        Later(Seconds) = "later",
        Compares(ComparedWord) = "compares",
        Lag(usize) = "lag",
        NoTotals = "no totals",
        RefusesCursor(String) = "refuses",
        ReadsAnswer(u16) = "reads",
        ReadsAsTheyAre = "reads as they are",
        ErrorAt(String) = "error at",
    }
}

words! {
    "field";
    pub(super) enum SavedField {
        Heads(u32) = "heads",
        Origin(String) = "origin",
        Status(String) = "status",
        MovementDate(String) = "movementDate",
    }
}

words! {
    "field";
    pub(super) enum AlteredField {
        UpdatedAt = "updatedAt",
        Status = "status",
    }
}

words! {
    "damage";
    pub(super) enum Damage {
        Null = "null",
        NoId = "no-id",
        Heads = "heads",
        Id = "id",
    }
}

words! {
    "date";
    pub(super) enum ComparedWord {
        Created = "created",
        Moved = "moved",
        Nothing = "nothing",
        Updated = "updated",
    }
}

words! {
    "check";
    pub(super) enum Sees {
        Copied = "copied",
        Told = "told",
        From = "from",
        First = "first",
        Sent = "sent",
        Asked = "asked",
        Commits = "commits",
        Reads = "reads",
        Progress = "progress",
        Problems = "problems",
        Gap = "gap",
        Refuted = "refuted",
        Says = "says",
        Hides = "hides",
        Why = "why",
        Consumers = "consumers",
        Changes = "changes",
        Whole = "whole",
        StoredVersion = "stored version",
        Mode = "mode",
        Clean = "clean",
        Seen = "seen",
        Appeared = "appeared",
        Changed = "changed",
        Gone = "gone",
        Pruned = "pruned",
        Pages = "pages",
        Requests = "requests",
        Restarts = "restarts",
        Resumed = "resumed",
        Watermark = "watermark",
        NextFullWalk = "nextFullWalk",
    }
}

/// A step of the program, or one of the website.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Program(Does),
    Website(WebsiteStep),
}

impl Argument for Step {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        if words.begin::<WebsiteStep>() {
            WebsiteStep::take(words).map(Self::Website)
        } else {
            let does = words.phrase_or(WebsiteStep::PHRASES);
            does.map(Self::Program)
        }
    }
}

/// What happens before a commit. Several are joined by `and`.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    OtherProgram(OtherProgram),
    Website(WebsiteStep),
}

impl Argument for Happening {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        words.next_if(|word| word == "and");
        if words.begin::<OtherProgram>() {
            return OtherProgram::take(words).map(Self::OtherProgram);
        }
        // The arguments of an edit may be optional, so they end before the next `and`.
        let mut edit = words.until("and");
        let parsed = edit.phrase_or(OtherProgram::PHRASES)?;
        edit.end()?;
        Ok(Self::Website(parsed))
    }
}

/// The number of a request, such as `2:`.
#[derive(Clone, Debug)]
pub(super) struct Nth(pub(super) usize);

impl Argument for Nth {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let number = |word: &str| word.strip_suffix(':')?.parse().ok();
        words
            .next_as("the number of a request", "number and colon", number)
            .map(Self)
    }
}

/// A time in seconds, which may be negative.
#[derive(Clone, Debug)]
pub(super) struct Seconds(pub(super) f64);

impl Argument for Seconds {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        words.next_as("a time", "time", parse_seconds).map(Self)
    }
}
