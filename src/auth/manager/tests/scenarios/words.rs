//! The words of the scenarios: steps, replies of the provider, calls, and what a step sees.

use std::time::Duration;

use serde_json::json;
use test_support::script::{Argument, Expected, Refusal, Times, Vocabulary, Words, parse_seconds};
use test_support::words;

use crate::auth::StoreErrorKind;
use crate::auth::manager::tests::bench::DAY;

words! {
    "step";
    /// A step that affects the clock, the provider or the store.
    pub(super) enum WorldStep {
        Stored(Span, Option<Without>) = "stored",
        Next(Reply) = "next",
        Hold = "hold",
        Held = "held",
        Open = "open",
        ProviderWorks = "provider works",
        ProviderAcceptsTwice = "provider accepts twice",
        ProviderRefusesRevocations(u32) = "provider refuses revocations",
        WaitForRetry(Option<Less>) = "wait for retry",
        Wait(Span) = "wait",
        Pass(Span) = "pass",
        Until(Expected<Sees>) = "until",
        SetCalendar(Offset) = "calendar",
        AnotherStores(u64) = "another stores",
        AnotherBacksUp = "another backs up",
        AnotherRestores = "another restores",
        AnotherMarks(Option<Unsigned>) = "another marks",
        AnotherRemoves = "another removes",
        AnotherLocks = "another locks",
        AnotherUnlocks = "another unlocks",
    }
}

words! {
    "step";
    pub(super) enum ProcessStep {
        With(Vec<ProcessOption>) = "with",
        Begins(Call, Option<Times>) = "begins",
        Ends(Option<CallKind>) = "ends",
        UntilEnded = "until ended",
        GivesUp = "gives up",
        /// Begins a logout, and drops it at its first await.
        Leaves = "leaves",
        Drops = "drops",
        Flush = "flush",
        Hears(EventName) = "hears",
        PollsToTheEnd = "polls to the end",
        Polls = "polls",
        StoreWorks = "store works",
        StoreHolds(HeldCalls) = "store holds",
        StoreHeld(HeldCalls) = "store held",
        StoreOpens(HeldCalls) = "store opens",
        StoreFails(StoreCalls, Fault, Option<Times>) = "store",
        SignerFails(SignerFault, Option<Times>) = "signer",
    }
}

words! {
    "call";
    pub(super) enum Call {
        Token = "call",
        /// A call, and the end of the work that it began.
        Use = "use",
        Renew(u64) = "renew",
        LogIn(Login) = "login",
        LogInByDevice(Login) = "device",
        LogOut(Option<Destination>) = "logout",
        Shutdown(Span) = "shutdown",
    }
}

words! {
    "call";
    pub(super) enum CallKind {
        Call = "call",
        LogIn = "login",
        LogOut = "logout",
    }
}

words! {
    "user";
    pub(super) enum User {
        Sam = "sam",
        Kim = "kim",
        Lee = "lee",
        /// Another user than `sam`.
        CapitalSam = "Sam",
        Sam2 = "sam2",
    }
}

words! {
    "setting";
    pub(super) enum LoginSetting {
        Expected(User) = "expected=",
        Nonce(String) = "nonce=",
    }
}

words! {
    "address";
    pub(super) enum Destination {
        App = "https://app.example/bye",
        Nowhere = "nowhere",
    }
}

words! {
    "option";
    pub(super) enum ProcessOption {
        Account(String) = "account=",
        Client(String) = "client=",
        TokenUrl(String) = "token-url=",
        Overlap(Span) = "overlap=",
        Wait(Span) = "wait=",
        LockWait(Span) = "lock-wait=",
        Margin(Span) = "margin=",
        Signing = "signing",
        /// It checks id tokens itself.
        Checked = "checked",
        /// Its locks can be lost.
        Fragile = "fragile",
        Strict = "strict",
        /// Without background refreshes.
        Eager = "eager",
    }
}

words! {
    "event";
    pub(super) enum EventName {
        Refreshed = "Refreshed",
        RefreshFailed = "RefreshFailed",
        RotationAmbiguous = "RotationAmbiguous",
        ReauthRequired = "ReauthRequired",
        PersistFailed = "PersistFailed",
        LoggedOut = "LoggedOut",
        End = "end",
    }
}

words! {
    "call";
    pub(super) enum HeldCalls {
        Loads = "loads",
        Removals = "removals",
    }
}

words! {
    "call";
    /// Calls of the store. `reads` are loads and locks, `saves` are writes of new tokens.
    pub(super) enum StoreCalls {
        Loads = "loads",
        Reads = "reads",
        Removals = "removals",
        Saves = "saves",
        Writes = "writes",
    }
}

words! {
    "fault";
    #[derive(Copy, PartialEq, Eq)]
    pub(super) enum Fault {
        Panic = "panic",
        LogOut = "logout",
        Suspend = "suspend",
        Denied = "Denied",
        Full = "Full",
        Insecure = "Insecure",
        LockTimeout = "LockTimeout",
        Missing = "Missing",
        NewerVersion = "NewerVersion",
        Other = "Other",
        Unreachable = "Unreachable",
        Unreadable = "Unreadable",
        Unsupported = "Unsupported",
    }
}

words! {
    "fault";
    pub(super) enum SignerFault {
        Fail = "fail",
        Panic = "panic",
    }
}

words! {
    "reply";
    pub(super) enum ReplyKind {
        Issues = "issues",
        Late = "late",
        Lost = "lost",
        Unsent = "unsent",
    }
}

words! {
    "property";
    pub(super) enum ReplyProperty {
        Held = "held",
        /// The token is used up.
        Rotated = "rotated",
    }
}

words! {
    "body";
    /// The body of a reply: a text, or an error code.
    pub(super) enum Body {
        Html = "html",
        Cut = "cut",
        Short = "short",
        Limit = "limit",
        AccessDenied = "access_denied",
        AuthorizationPending = "authorization_pending",
        ExpiredToken = "expired_token",
        InvalidClient = "invalid_client",
        InvalidGrant = "invalid_grant",
        InvalidRequest = "invalid_request",
        MfaRequired = "mfa_required",
        NeverHeardOf = "never_heard_of",
        SlowDown = "slow_down",
        TemporarilyUnavailable = "temporarily_unavailable",
        TooManyRequests = "too_many_requests",
    }
}

words! {
    "header";
    pub(super) enum Header {
        Date = "date=",
        RetryAfter = "retry-after=",
        RateLimitReset = "x-ratelimit-reset=",
        Other = "x-other=",
    }
}

words! {
    "field";
    /// A field of issued tokens. The first are of the id token, and `date` is a header.
    pub(super) enum TokenField {
        Audience = "claim.aud=",
        Expiry = "claim.exp=",
        Forged = "claim.forged=",
        AnyM = "claim.m=",
        AnyN = "claim.n=",
        Panics = "claim.panics=",
        Subject = "claim.sub=",
        AccessToken = "access_token=",
        Date = "date=",
        IdToken = "id_token=",
        RefreshToken = "refresh_token=",
        RefreshTokenLifetime = "refresh_token_expires_in=",
        TokenType = "token_type=",
    }
}

words! {
    "word";
    pub(super) enum Without {
        RefreshToken = "without",
    }
}

words! {
    "word";
    pub(super) enum Unsigned {
        Unsigned = "unsigned",
    }
}

words! {
    "check";
    pub(super) enum WorldSees {
        Stored = "stored",
        Owner = "owner",
        Client = "client",
        Id = "id",
        Marked = "marked",
        Shows = "shows",
        Lock = "lock",
        Refreshes = "refreshes",
        Requests = "requests",
        Revoked = "revoked",
        SentCode = "sent code",
        Assertions = "assertions",
        Session = "session",
        Sleepers = "sleepers",
        Took = "took",
    }
}

words! {
    "check";
    pub(super) enum ProcessSees {
        Gets = "gets",
        Says = "says",
        Omits(Omitted) = "omits",
        Retryable = "retryable",
        Retry = "retry",
        Report = "report",
        Out = "out",
        Current = "current",
        Generation = "generation",
        User = "user",
        Heard = "heard",
        Events = "events",
        Loads = "loads",
        Locks = "locks",
        Writes = "writes",
        Faults = "faults",
        Ended = "ended",
        Idle = "idle",
        Polls = "polls",
    }
}

words! {
    "text";
    /// A text that must not be shown.
    pub(super) enum Omitted {
        AccessToken = "at-2",
        RefreshToken = "rt-2",
        /// The beginning of an id token.
        IdToken = "e30",
        Sam = "sam",
        Clock = "clock",
        /// For an alternative in which all may be shown.
        Nothing = "nothing",
    }
}

/// A time such as `90s`, or `81%` of the lifetime of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span(pub(super) Duration);

impl Span {
    fn parse(text: &str) -> Option<Self> {
        if let Some(percent) = text.strip_suffix('%') {
            return Some(Self(DAY / 100 * percent.parse::<u32>().ok()?));
        }
        let seconds = parse_seconds(text)?;
        Duration::try_from_secs_f64(seconds).ok().map(Self)
    }
}

impl Argument for Span {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        words.next_as("a time", "time", Self::parse)
    }
}

/// A time before or after now, such as `-11h` or `+3m`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offset {
    Before(Duration),
    After(Duration),
}

impl Argument for Offset {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        if words.strip("-") {
            return Span::take(words).map(|Span(time)| Self::Before(time));
        }
        words.strip("+");
        Span::take(words).map(|Span(time)| Self::After(time))
    }
}

/// By how much a wait is too short, such as `-1ms`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Less(pub(super) Duration);

impl Argument for Less {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        match Offset::take(words)? {
            Offset::Before(time) => Ok(Self(time)),
            Offset::After(_) => Err(Refusal::new("only a shorter wait is possible")),
        }
    }
}

/// A user, and the settings of the login.
#[derive(Clone, Debug)]
pub(super) struct Login {
    pub(super) user: User,
    pub(super) settings: Vec<LoginSetting>,
}

impl Argument for Login {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let mut login = Self {
            user: User::take(words)?,
            settings: Vec::new(),
        };
        while words.peek().is_some_and(|word| word.contains('=')) {
            login.settings.push(LoginSetting::take(words)?);
        }
        Ok(login)
    }
}

/// The answer to the next request: issued tokens, a status, or none.
#[derive(Clone, Debug)]
pub(super) enum ReplyAnswer {
    Issues(Vec<(TokenField, FieldText)>),
    Status {
        status: u16,
        body: Option<Body>,
        headers: Vec<(Header, FieldText)>,
    },
    Late,
    Lost,
    Unsent,
}

/// The value of a field: a time relative to now, or a text with `_` for blanks.
#[derive(Clone, Debug)]
pub(super) enum FieldText {
    Time(Offset),
    Text(String),
}

impl FieldText {
    fn take(is_time: bool, words: &mut Words<'_>) -> Result<Self, Refusal> {
        if is_time {
            return Offset::take(words).map(Self::Time);
        }
        let word = words.next("a value")?;
        Ok(Self::Text(word.replace('_', " ")))
    }
}

/// The reply to the next request to the token endpoint.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) answer: ReplyAnswer,
    pub(super) is_held: bool,
    pub(super) is_rotated: bool,
    pub(super) times: usize,
}

impl Argument for Reply {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let status = words.next_if(|word| word.parse::<u16>().is_ok());
        let answer = match status.and_then(|status| status.parse().ok()) {
            Some(status) => ReplyAnswer::Status {
                status,
                body: None,
                headers: Vec::new(),
            },
            None => match ReplyKind::take(words)? {
                ReplyKind::Issues => ReplyAnswer::Issues(Vec::new()),
                ReplyKind::Late => ReplyAnswer::Late,
                ReplyKind::Lost => ReplyAnswer::Lost,
                ReplyKind::Unsent => ReplyAnswer::Unsent,
            },
        };
        let mut reply = Self {
            answer,
            is_held: false,
            is_rotated: false,
            times: 1,
        };
        while !words.is_empty() {
            if let Some(times) = words.times() {
                reply.times = times;
                break;
            }
            reply.take_part(words)?;
        }
        Ok(reply)
    }
}

impl Reply {
    /// Takes a property, a field, a header or the body.
    fn take_part(&mut self, words: &mut Words<'_>) -> Result<(), Refusal> {
        let is_setting = words.peek().is_some_and(|word| word.contains('='));
        match &mut self.answer {
            ReplyAnswer::Issues(fields) if is_setting => {
                let field = TokenField::take(words)?;
                let is_time = matches!(field, TokenField::Date | TokenField::Expiry);
                fields.push((field, FieldText::take(is_time, words)?));
            }
            ReplyAnswer::Status { headers, .. } if is_setting => {
                let header = Header::take(words)?;
                let is_time = matches!(header, Header::Date);
                headers.push((header, FieldText::take(is_time, words)?));
            }
            ReplyAnswer::Status { body, .. } if !words.begin::<ReplyProperty>() => {
                *body = Some(words.phrase_or(ReplyProperty::PHRASES)?);
            }
            _ => match ReplyProperty::take(words)? {
                ReplyProperty::Held => self.is_held = true,
                ReplyProperty::Rotated => self.is_rotated = true,
            },
        }
        Ok(())
    }
}

impl Body {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Html => "<html>".to_owned(),
            Self::Cut => r#"{"access_token":"at-2","refresh_token":"rt-2","expi"#.to_owned(),
            Self::Short => r#"{"access_token":"short","expires_in":10}"#.to_owned(),
            Self::Limit => {
                let why = "Global limit has been reached";
                json!({"error": "access_denied", "error_description": why}).to_string()
            }
            Self::AccessDenied
            | Self::AuthorizationPending
            | Self::ExpiredToken
            | Self::InvalidClient
            | Self::InvalidGrant
            | Self::InvalidRequest
            | Self::MfaRequired
            | Self::NeverHeardOf
            | Self::SlowDown
            | Self::TemporarilyUnavailable
            | Self::TooManyRequests => {
                let code = self.phrase();
                json!({"error": code, "error_description": "Blocked by a rule"}).to_string()
            }
        }
    }
}

impl Fault {
    /// The kind of the error that the store returns, unless something else happens.
    pub(super) fn kind(self) -> Option<StoreErrorKind> {
        match self {
            Self::Panic | Self::LogOut | Self::Suspend => None,
            Self::Denied => Some(StoreErrorKind::Denied),
            Self::Full => Some(StoreErrorKind::Full),
            Self::Insecure => Some(StoreErrorKind::Insecure),
            Self::LockTimeout => Some(StoreErrorKind::LockTimeout),
            Self::Missing => Some(StoreErrorKind::Missing),
            Self::NewerVersion => Some(StoreErrorKind::NewerVersion),
            Self::Other => Some(StoreErrorKind::Other),
            Self::Unreachable => Some(StoreErrorKind::Unreachable),
            Self::Unreadable => Some(StoreErrorKind::Unreadable),
            Self::Unsupported => Some(StoreErrorKind::Unsupported),
        }
    }
}

/// A step, of a process if it begins with a letter.
#[derive(Clone, Debug)]
pub(super) enum Step {
    World(WorldStep),
    Process(String, ProcessStep),
    Call(String, PacedCall),
}

/// A call, how often it is made, and for how long.
#[derive(Clone, Debug)]
pub(super) struct PacedCall {
    pub(super) call: Call,
    /// The total time, and the time between two calls.
    pub(super) pace: Option<(Duration, Duration)>,
    pub(super) times: usize,
}

impl Argument for PacedCall {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let mut paced = Self {
            call: words.phrase_or(ProcessStep::PHRASES)?,
            pace: None,
            times: 1,
        };
        if words.next_if(|word| word == "for").is_some() {
            let Span(time) = Span::take(words)?;
            if words.next_if(|word| word == "every").is_none() {
                return Err(Refusal::new("\"every\" and a time are missing"));
            }
            let Span(every) = Span::take(words)?;
            paced.pace = Some((time, every));
        }
        if let Some(times) = words.times() {
            paced.times = times;
        }
        Ok(paced)
    }
}

/// The name of a process.
fn letter(words: &mut Words<'_>) -> Option<String> {
    let is_letter = |word: &str| word.len() == 1 && word.bytes().all(|it| it.is_ascii_lowercase());
    words.next_if(is_letter).map(str::to_owned)
}

impl Argument for Step {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        match letter(words) {
            None => WorldStep::take(words).map(Self::World),
            Some(name) if words.begin::<ProcessStep>() => {
                let step = ProcessStep::take(words)?;
                Ok(Self::Process(name, step))
            }
            Some(name) => {
                let call = PacedCall::take(words)?;
                Ok(Self::Call(name, call))
            }
        }
    }
}

/// What a step sees: of the process of the previous step, unless it begins with a letter.
#[derive(Clone, Debug)]
pub(super) enum Sees {
    World(WorldSees),
    Process(Option<String>, ProcessSees),
}

impl Argument for Sees {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let name = letter(words);
        if name.is_none() && words.begin::<WorldSees>() {
            return WorldSees::take(words).map(Self::World);
        }
        let others = if name.is_none() {
            WorldSees::PHRASES
        } else {
            &[]
        };
        let sees = words.phrase_or(others)?;
        Ok(Self::Process(name, sees))
    }
}
