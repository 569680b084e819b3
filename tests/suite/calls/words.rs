//! The words of the tables: steps, replies, faults, settings, calls, and what a step sees.

use std::time::Duration;

use envd_sdk::graphql::SCHEMA;
use test_support::script::{Argument, Refusal, Rest, Times, Vocabulary, Words};
use test_support::words;

words! {
    "step";
    pub(crate) enum Step {
        Reply(ScriptedReply) = "reply",
        Fake(FakeSettings) = "fake",
        On(String, FaultWords, Option<Times>) = "on",
        With(Setting) = "with",
        As(UserName) = "as",
        Request(UserName) = "request",
        Advance(Duration) = "advance",
        UntilSent(usize) = "until sent",
        UntilAsleep(usize) = "until asleep",
        EndPause = "end_pause",
        Forget = "forget",
        Drop = "drop",
        Done = "done",
        Start(SetCall) = "start",
    }
}

words! {
    "call";
    pub(crate) enum CallWords {
        Query(Rest) = "query",
        Mutation(Rest) = "mutation",
        Own(Rest) = "own",
        User = "user",
        Registered = "registered",
        Choose(Choice) = "choose",
        Questions = "questions",
        Consignment(String) = "consignment",
        Comments(String) = "comments",
        Copy(String) = "copy",
        Delete(String) = "delete",
        DeleteTemplate(String) = "delete_template",
        Save(Option<String>) = "save",
        SaveTemplate(String) = "save_template",
        Comment(Rest) = "comment",
        List(Option<Filter>) = "list",
        Templates = "templates",
        Candidates(String, Option<From>) = "candidates",
        Pdf(String) = "pdf",
        Discover = "discover",
        Lookup(String) = "lookup",
        Property(String) = "property",
        Since(String) = "since",
        Many(Vec<String>) = "many",
        Search(Rest) = "search",
        Get(String, Vec<String>) = "get",
    }
}

words! {
    "setting";
    /// A setting of a call. Those with a hyphen or the name of a header are headers.
    pub(crate) enum CallSetting {
        Idempotent = "idempotent",
        Once = "once",
        Optional = "optional",
        Deadline(Duration) = "deadline=",
        Holds(usize) = "holds=",
        Accept(String) = "accept=",
        Authorization(String) = "authorization=",
        Office(String) = "x-office=",
        Trace(String) = "x-trace=",
    }
}

words! {
    "choice";
    pub(crate) enum Choice {
        Default = "default",
        Producer = "producer",
        Pic(String) = "pic",
        Role(Rest) = "role",
        Label(Rest) = "label",
        Id(String) = "id",
    }
}

words! {
    "filter";
    pub(crate) enum Filter {
        First(u32) = "first:",
        Status(String) = "status:",
        Search(Rest) = "search:",
    }
}

words! {
    "word";
    pub(crate) enum From {
        From(String) = "from",
    }
}

words! {
    "user";
    pub(crate) enum UserName {
        One = "one",
        Two = "two",
        Three = "three",
    }
}

words! {
    "setting";
    /// A setting of client and register.
    pub(crate) enum Setting {
        Token(String) = "token",
        Header(HeaderPair) = "header",
        Document(String, Rest) = "document",
        /// The operation, the path of the record, and the document.
        Moved(String, String, Rest) = "moved",
        Cache(Duration) = "cache",
        Address(String) = "address",
        GzipOff = "gzip off",
        Limit(usize) = "limit",
        AtMost(usize) = "at_most",
        Retries(u32) = "retry",
        NoRetry = "retry none",
        RetryLater = "retry later",
    }
}

words! {
    "kind";
    pub(crate) enum ReplyKind {
        Never = "never",
        Close = "close",
        Raw(Rest) = "raw",
        Pics(Vec<String>) = "pics",
    }
}

words! {
    "header";
    /// A header of a reply.
    pub(crate) enum ReplyHeader {
        ContentEncoding = "content-encoding=",
        ContentType = "content-type=",
        Location = "location=",
        RequestId = "x-request-id=",
        RetryAfter = "retry-after=",
        WwwAuthenticate = "www-authenticate=",
        /// No header: the body is compressed.
        Gzip = "gzip=",
    }
}

words! {
    "kind";
    pub(crate) enum Compression {
        Whole = "whole",
        Cut = "cut",
        /// With a wrong checksum.
        Damaged = "damaged",
        Twice = "twice",
    }
}

words! {
    "fault";
    pub(crate) enum FaultKind {
        Cut(usize) = "cut",
        DroppedAfter = "dropped_after",
        DroppedBefore = "dropped_before",
        Garbage = "garbage",
        Html(u16) = "html",
        Internal(String) = "internal",
        Later(usize, Box<FaultWords>) = "later",
        Processed(Box<FaultWords>) = "processed",
        Replaced(String, Rest) = "replaced",
        Truncated(usize) = "truncated",
    }
}

words! {
    "user";
    pub(crate) enum FakeUser {
        New = "user=New",
        Receiver = "user=Receiver",
    }
}

words! {
    "check";
    pub(crate) enum Check {
        Sent = "sent",
        Waits = "waits",
        Tokens = "tokens",
        Paths = "paths",
        Target = "target",
        Header(RequestHeader) = "header",
        Sends(String) = "sends",
        Value(String) = "value",
        Chosen = "chosen",
        Count = "count",
        Late = "late",
        LeftOut = "left_out",
        Paused = "paused",
        Id = "id",
        Kind = "kind",
        Status = "status",
        After = "after",
        Operation = "operation",
        Path = "path",
        Data = "data",
        Message = "message",
        Says = "says",
        Reports = "reports",
        Lacks = "lacks",
        Hides = "hides",
    }
}

words! {
    "header";
    /// A header of a request.
    pub(crate) enum RequestHeader {
        AcceptEncoding = "accept-encoding",
        ApiKey = "x-api-key",
        Authorization = "authorization",
        Cookie = "cookie",
        IfModifiedSince = "if-modified-since",
        Key = "x-key",
        Office = "x-office",
        Trace = "x-trace",
    }
}

words! {
    "verdict";
    /// The kind of the result of the last call.
    pub(crate) enum Verdict {
        Ok = "ok",
        Config = "Config",
        Connect = "Connect",
        Decode = "Decode",
        Internal = "Internal",
        NoAnswer = "NoAnswer",
        NotFound = "NotFound",
        Protocol = "Protocol",
        RateLimited = "RateLimited",
        Rejected = "Rejected",
        SchemaMismatch = "SchemaMismatch",
        Stalled = "Stalled",
        Timeout = "Timeout",
        Transport = "Transport",
        Unauthorized = "Unauthorized",
        Unavailable = "Unavailable",
    }
}

/// A header such as `x-a=b`.
#[derive(Clone, Debug)]
pub(crate) struct HeaderPair(pub(crate) String, pub(crate) String);

impl Argument for HeaderPair {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let (name, value) = words.next_as("a header", "header such as x-a=b", |word| {
            word.split_once('=')
        })?;
        Ok(Self(name.to_owned(), value.to_owned()))
    }
}

/// The user of a fake, and the fields that its schema lacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeSettings {
    pub(crate) user: Option<FakeUser>,
    pub(crate) without: Vec<(String, String)>,
}

impl Argument for FakeSettings {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let mut settings = Self::default();
        while let Some(word) = words.peek() {
            let Some((owner, field)) = word.split_once('.') else {
                settings.user = Some(FakeUser::take(words)?);
                continue;
            };
            words.next("a field")?;
            if !SCHEMA.contains(&format!("type {owner} ")) || !SCHEMA.contains(field) {
                return Err(Refusal::new(format!("{word:?} is not in the schema")));
            }
            settings.without.push((owner.to_owned(), field.to_owned()));
        }
        Ok(settings)
    }
}

/// A call with its settings.
#[derive(Clone, Debug)]
pub(crate) struct SetCall {
    pub(crate) call: CallWords,
    pub(crate) settings: Vec<CallSetting>,
}

impl Argument for SetCall {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        Self::take_or(&[], words)
    }
}

impl SetCall {
    /// Parses a call; a message lists these other phrases too.
    fn take_or(others: &[&str], words: &mut Words<'_>) -> Result<Self, Refusal> {
        let name = |word: &str| word.split_once('=').map(|(name, _)| name.to_owned());
        let is_name = |name: String| {
            let mut letters = name.bytes();
            !name.is_empty() && letters.all(|it| it == b'-' || it.is_ascii_lowercase())
        };
        let is_setting = |word: &str| {
            name(word).is_some_and(is_name) || ["idempotent", "once", "optional"].contains(&word)
        };
        let mut set = words.extract(is_setting);
        let settings = Vec::take(&mut set)?;
        let call = words.phrase_or(others)?;
        Ok(Self { call, settings })
    }
}

/// A step, or a call.
#[derive(Clone, Debug)]
pub(crate) enum Does {
    Step(Step),
    Call(SetCall),
}

impl Argument for Does {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        if words.begin::<Step>() {
            Step::take(words).map(Self::Step)
        } else {
            SetCall::take_or(Step::PHRASES, words).map(Self::Call)
        }
    }
}

/// A status, 200 by default, headers, and a body. A body that begins with a letter follows the word `text`.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(ReplyHeader, String)>,
    pub(crate) compression: Option<Compression>,
    pub(crate) body: String,
}

impl Parts {
    /// Parses the parts; a message about the first word lists these other phrases too.
    fn take_or<V: Vocabulary>(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let status = words.next_if(|word| word.parse::<u16>().is_ok());
        let status = status.and_then(|status| status.parse().ok());
        let mut parts = Self {
            status: status.unwrap_or(200),
            headers: Vec::new(),
            compression: None,
            body: String::new(),
        };
        let is_body = |word: &str| word.starts_with(['{', '[', '<', '"', '%']) || word == "text";
        while let Some(word) = words.peek() {
            if is_body(word) {
                words.next_if(|word| word == "text");
                parts.body = words.rest();
            } else if words.begin::<V>() || !word.contains('=') {
                // No part: an error with the known words.
                let others = [ReplyHeader::PHRASES, &["text"]].concat();
                return Err(words.phrase_or::<V>(&others).err().unwrap_or_else(|| {
                    Refusal::new(format!("{word:?} does not follow a status"))
                }));
            } else {
                match ReplyHeader::take(words)? {
                    ReplyHeader::Gzip => parts.compression = Some(Compression::take(words)?),
                    header => {
                        let value = words.next("a value")?.replace('_', " ");
                        parts.headers.push((header, value));
                    }
                }
            }
        }
        Ok(parts)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ScriptedReply {
    Kind(ReplyKind),
    Parts(Parts),
}

impl Argument for ScriptedReply {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        if words.begin::<ReplyKind>() {
            ReplyKind::take(words).map(Self::Kind)
        } else {
            Parts::take_or::<ReplyKind>(words).map(Self::Parts)
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum FaultWords {
    Kind(FaultKind),
    Parts(Parts),
}

impl Argument for FaultWords {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        // The repetition follows a body that may contain any words.
        let mut fault = words.before_times();
        let parsed = if fault.begin::<FaultKind>() {
            FaultKind::take(&mut fault).map(Self::Kind)?
        } else {
            Parts::take_or::<FaultKind>(&mut fault).map(Self::Parts)?
        };
        fault.end()?;
        Ok(parsed)
    }
}

/// The results that a step expects.
#[derive(Clone, Debug)]
pub(crate) enum Sees {
    Check(Check),
    Verdict(Verdict),
}

impl Argument for Sees {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        if words.begin::<Verdict>() {
            Verdict::take(words).map(Self::Verdict)
        } else {
            words.phrase_or(Verdict::PHRASES).map(Self::Check)
        }
    }
}
