//! The words of the scenarios, and what they stand for: steps, texts, faults, and expected results.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::words;

use super::Play;
use crate::outbox::tests::farm::{SAVE, load, load_of, now, other_load, signed};
use crate::outbox::{Decision, Declaration, DeclarationState};
use crate::tests::script::{Argument, Refusal, Vocabulary, Words, listed};
use envd_sdk::fake::Fault;
use envd_sdk::fake::controls::Deleted;
use envd_sdk::model::{ConsignmentId, ConsignmentInput};

words! {
    "step";
    pub(super) enum Does {
        Pass = "pass",
        Send = "send",
        RunLoop(Duration) = "for",
        Hold = "hold",
        Release = "release",
        Kill = "kill",
        Wait(Duration) = "wait",
        SetClockBack(Duration) = "clock back",
        Program(ProgramName) = "program",
        Restart = "restart",
        RetryAtOnce = "the client retries",
        GoOffline = "offline",
        LogIn(UserName) = "user",
        Backup = "backup",
        Restore = "restore",
        AnotherDevice = "another device",
        Horizon(Duration) = "horizon",
        PageSize(u32) = "pages of",
        Sync = "sync",
        Prune = "prune",
        ClearScripts = "clear",
        LateRequestsArrive = "late requests arrive",
        WithdrawAccount = "withdraw account",
        RestoreAccount = "restore account",
        ShowDeleted(DeletedRecords) = "deleted records are",
        Next(Operation, Vec<Fate>) = "next",
        WebMakes(Text) = "web makes",
        WebSets(Record, Vec<FieldValue>) = "web sets",
        WebDeletes(Record) = "web deletes",
        BeforeList(usize, EarlyEdit) = "before list",
        Look(Record) = "see",
        Save(Name, Text) = "save",
        Submit(Name, Text) = "submit",
        Edit(Name, Text) = "edit",
        EditAndSubmit(Name, Text) = "edit-and-submit",
        SubmitSaved(Name, Option<Limit>) = "submit-saved",
        Withdraw(Name) = "withdraw",
        Delete(Name) = "delete",
        Update(Name, Record, Text) = "update",
        SubmitRecord(Name, Record, Text) = "submit-record",
        DeleteRecord(Name, Record) = "delete-record",
        Decide(Name, Choice) = "decide",
    }
}

words! {
    "edit";
    pub(super) enum EarlyEdit {
        Makes(Text) = "web makes",
    }
}

words! {
    "program";
    pub(super) enum ProgramName {
        One = "one",
        Two = "two",
    }
}

words! {
    "user";
    pub(super) enum UserName {
        Sam = "sam",
        Pat = "pat",
        Unknown = "unknown",
    }
}

words! {
    "kind";
    pub(super) enum DeletedRecords {
        Filtered = "filtered",
        Hidden = "hidden",
        Listed = "listed",
    }
}

words! {
    "decision";
    pub(super) enum Choice {
        Adopt(Record) = "adopt",
        KeepMine = "keep mine",
        TakeTheirs = "take theirs",
        Resend = "resend",
        SendAsMe = "send as me",
        Discard = "discard",
    }
}

words! {
    "operation";
    pub(super) enum Operation {
        Save = "save",
        Delete = "delete",
        Read = "read",
        List = "list",
    }
}

words! {
    "fate";
    /// What happens to a request. `done-` before it means that the request is carried out anyway.
    pub(super) enum FaultWord {
        Fine = "fine",
        Refused = "refused",
        Lost = "lost",
        Late = "late",
        LateAfter(usize) = "late:",
        Garbage = "garbage",
        Cut(usize) = "cut:",
        Html(u16) = "html:",
        Status(u16) = "status:",
        Errors = "errors",
        InternalError = "error",
        Null = "null",
        NoRecord = "no-record",
        NoData = "no-data",
        TooManyRequests(String) = "wait:",
        Busy(String) = "busy:",
        Shows(Record) = "shows:",
        Says(String) = "says:",
    }
}

words! {
    "kind";
    /// The differences of a text from a plain declaration.
    pub(super) enum TextKind {
        /// Another day.
        Other = "other",
        Signed = "signed",
    }
}

words! {
    "setting";
    pub(super) enum Limit {
        Within(Duration) = "limit=",
    }
}

words! {
    "field";
    pub(super) enum Field {
        Answer = "answers.",
        ConsigneeName = "consignee.name=",
        CreatedBy = "createdBy=",
        DeclarationDate = "declaration.date=",
        DestinationName = "destination.name=",
        DestinationPic = "destination.pic=",
        DestinationTown = "destination.address.town=",
        FirstForm = "forms.0=",
        Forms = "forms=",
        Id = "id=",
        MovementDate = "movementDate=",
        MovementTime = "movementTime=",
        Number = "number=",
        OriginName = "origin.name=",
        OriginPic = "origin.pic=",
        OwnerName = "owner.name=",
        Signature = "declaration.signature=",
        Status = "status=",
    }
}

words! {
    "check";
    pub(super) enum Check {
        Records = "there",
        Sent = "sent",
        Saves = "saves",
        Deletes = "deletes",
        Requests = "requests",
        Lists = "lists",
        Open = "open",
        Next = "next",
        GoesOn = "goes on",
        Stopped = "stopped",
        Confirmed = "confirmed",
        Refused = "refused",
        Asking = "asking",
        Waiting = "waiting",
        Problems = "problems",
        LateDuplicates = "late-duplicates",
    }
}

words! {
    "property";
    /// A property of a declaration.
    pub(super) enum Property {
        Record = "is",
        Candidates = "candidates",
        Duplicates = "duplicates",
        Attempts = "attempts",
        Wants = "wants",
        Findings = "findings",
        Problems = "problems",
        Adopted = "adopted",
        Offers = "offers",
        Differs = "differs",
        Asks = "asks",
        Queued = "queued",
        Sending = "sending",
        OutcomeUnknown = "outcome_unknown",
        Confirmed = "confirmed",
        Refused = "refused",
        Discarded = "discarded",
    }
}

words! {
    "property";
    /// A property of a record.
    pub(super) enum RecordProperty {
        Has(FieldValue) = "has",
    }
}

/// The name of a declaration: a letter, or `never` for a declaration that does not exist.
#[derive(Clone, Debug)]
pub(super) struct Name(pub(super) String);

impl Name {
    fn is_one(word: &str) -> bool {
        word == "never" || (word.len() == 1 && word.bytes().all(|it| it.is_ascii_lowercase()))
    }
}

impl Argument for Name {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let expected = "name of a declaration: a letter, or never";
        words.next_as("the name of a declaration", expected, |word| {
            Self::is_one(word).then(|| Self(word.to_owned()))
        })
    }
}

/// The name of a record: `w1` of the start, `r1` of the scenario.
#[derive(Clone, Debug)]
pub(super) struct Record(pub(super) String);

impl Record {
    fn is_one(word: &str) -> bool {
        let number = word.strip_prefix(['r', 'w']);
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}

impl Argument for Record {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let expected = "name of a record: r or w, and a number";
        words.next_as("the name of a record", expected, |word| {
            Self::is_one(word).then(|| Self(word.to_owned()))
        })
    }
}

/// The fate of the next request, or how often the previous one is repeated.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    Times(usize),
    Fault { is_done: bool, fault: FaultWord },
}

impl Argument for Fate {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        if let Some(times) = words.times() {
            return Ok(Self::Times(times));
        }
        let is_done = words.strip("done-");
        let fault = FaultWord::take(words)?;
        if is_done && matches!(fault, FaultWord::Refused) {
            return Err(Refusal::new("a refused request is not carried out"));
        }
        Ok(Self::Fault { is_done, fault })
    }
}

/// A field such as `origin.pic=wrong`. A `~` stands for a blank.
#[derive(Clone, Debug)]
pub(super) struct FieldValue {
    pub(super) path: String,
    pub(super) text: String,
}

impl Argument for FieldValue {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let field = Field::take(words)?;
        let rest = words.next("the value")?;
        let mut path = field.phrase().trim_end_matches('=').to_owned();
        let mut text = rest;
        if let Field::Answer = field {
            let answer = rest.split_once('=');
            let (question, value) =
                answer.ok_or_else(|| Refusal::new(format!("{rest:?} is no answer")))?;
            path += question;
            text = value;
        }
        Ok(Self {
            path,
            text: text.replace('~', " "),
        })
    }
}

impl FieldValue {
    fn value(&self) -> Value {
        match &*self.text {
            "null" => Value::Null,
            text => text.into(),
        }
    }

    /// The field with this value, in the format of the scenarios.
    fn shown(&self, value: &str) -> String {
        format!("{}={}", self.path, value.replace(' ', "~"))
    }
}

/// A text, such as `24 signed origin.pic=wrong limit=30s`.
#[derive(Clone, Debug)]
pub(super) struct Text {
    head: u32,
    kind: Option<TextKind>,
    fields: Vec<FieldValue>,
    pub(super) limit: Option<Duration>,
}

impl Argument for Text {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let mut text = Self {
            head: u32::take(words)?,
            kind: None,
            fields: Vec::new(),
            limit: None,
        };
        if words.peek().is_some_and(|word| !word.contains('=')) {
            text.kind = Some(TextKind::take(words)?);
        }
        while let Some(word) = words.peek() {
            if word.starts_with("limit=") {
                let Limit::Within(time) = Limit::take(words)?;
                text.limit = Some(time);
            } else {
                text.fields.push(FieldValue::take(words)?);
            }
        }
        Ok(text)
    }
}

impl Text {
    pub(super) fn input(&self, id: impl Fn(&str) -> String) -> ConsignmentInput {
        let text = match self.kind {
            Some(TextKind::Other) => other_load(self.head),
            Some(TextKind::Signed) => signed(self.head),
            None => load(self.head),
        };
        let mut text = serde_json::to_value(text).unwrap();
        for field in &self.fields {
            let text_of_record = id(&field.text);
            let named = FieldValue {
                text: text_of_record,
                ..field.clone()
            };
            set(&mut text, &named);
        }
        serde_json::from_value(text).unwrap()
    }
}

/// The results that a step expects.
#[derive(Clone, Debug)]
pub(super) enum Sees {
    Check(Check),
    Record(Record, RecordProperty),
    Declaration(Name, Property),
}

impl Argument for Sees {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let first = words.peek().unwrap_or_default();
        if Record::is_one(first) {
            let record = Record::take(words)?;
            Ok(Self::Record(record, RecordProperty::take(words)?))
        } else if Name::is_one(first) {
            let name = Name::take(words)?;
            Ok(Self::Declaration(name, Property::take(words)?))
        } else {
            Ok(Self::Check(Check::take(words)?))
        }
    }
}

impl DeletedRecords {
    pub(super) fn assumed(&self) -> Deleted {
        match self {
            Self::Filtered => Deleted::Filtered,
            Self::Hidden => Deleted::Hidden,
            Self::Listed => Deleted::Listed,
        }
    }
}

impl UserName {
    /// The name, unless the user is not known.
    pub(super) fn known(&self) -> Option<String> {
        match self {
            Self::Sam | Self::Pat => Some(self.phrase().to_owned()),
            Self::Unknown => None,
        }
    }
}

impl Choice {
    pub(super) fn decision(&self, id: impl Fn(&str) -> String) -> Decision {
        match self {
            Self::Adopt(Record(name)) => Decision::Adopt(id(name).into()),
            Self::KeepMine => Decision::KeepMine,
            Self::TakeTheirs => Decision::TakeTheirs,
            Self::Resend => Decision::Resend,
            Self::SendAsMe => Decision::SendAsMe,
            Self::Discard => Decision::Discard,
        }
    }
}

impl Operation {
    /// The name of the operation, and the field of its reply.
    pub(super) fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Save => (SAVE, "createOrSaveConsignment"),
            Self::Delete => ("DeleteConsignment", "deleteConsignment"),
            Self::Read => ("Consignment", "consignment"),
            Self::List => ("Consignments", "consignments"),
        }
    }
}

/// Finds a field of a record by its path, and an answer by its question.
fn at<'v>(record: &'v mut Value, path: &str) -> &'v mut Value {
    let Some(question) = path.strip_prefix("answers.") else {
        return path
            .split('.')
            .fold(record, |value, name| match name.parse::<usize>() {
                Ok(number) => &mut value[number],
                Err(_) => &mut value[name],
            });
    };
    let answers = record["answers"].as_array_mut().unwrap();
    let known = answers
        .iter()
        .position(|answer| answer["questionId"] == question);
    if known.is_none() {
        answers.push(json!({"questionId": question, "index": null, "value": null}));
    }
    let last = answers.len() - 1;
    &mut answers[known.unwrap_or(last)]["value"]
}

pub(super) fn set(record: &mut Value, field: &FieldValue) {
    *at(record, &field.path) = field.value();
}

impl FaultWord {
    /// Builds the fault for this field of the reply; `None` if the service refuses the request.
    pub(super) fn fault(&self, field: &str, id: impl Fn(&str) -> String) -> Option<Fault> {
        let data = |data: Value| Fault::status(200).json(json!({ "data": data }));
        Some(match self {
            Self::Fine => Fault::none(),
            Self::Refused => return None,
            Self::Lost => Fault::dropped_before(),
            Self::Late => Fault::dropped_before().processed_after(usize::MAX),
            Self::LateAfter(requests) => Fault::dropped_before().processed_after(*requests),
            Self::Garbage => Fault::garbage(),
            Self::Cut(bytes) => Fault::cut(*bytes),
            Self::Html(status) => Fault::html(*status),
            Self::Status(status) => Fault::status(*status),
            Self::Errors => {
                let errors = json!({"errors": [{"message": "x", "path": [field]}]});
                Fault::status(500).json(errors)
            }
            Self::InternalError => Fault::internal_server_error(field),
            Self::Null => data(json!({ field: null })),
            Self::NoRecord => data(json!({ field: {"data": {}} })),
            Self::NoData => data(Value::Null),
            Self::TooManyRequests(wait) => Fault::status(429).header("retry-after", wait),
            Self::Busy(wait) => Fault::status(503).header("retry-after", wait),
            Self::Shows(Record(name)) => {
                Fault::replaced(format!("/data/{field}/data/id"), id(name))
            }
            Self::Says(status) => {
                let status = (status != "null").then_some(status);
                data(json!({ field: {"data": {"id": id("r1"), "status": status}} }))
            }
        })
    }
}

impl Play {
    /// The numbers of requests and of lists.
    pub(super) fn counts(&self) -> [usize; 2] {
        let fake = &self.farm.fake;
        [fake.requests().len(), fake.request_count("Consignments")]
    }

    /// The actual value.
    pub(super) async fn seen(&self, sees: &Sees, expected: &str) -> String {
        match sees {
            Sees::Check(check) => self.checked(check).await,
            Sees::Record(Record(name), RecordProperty::Has(field)) => {
                let mut is = self.record(name);
                let mut wanted = self.record(name);
                set(&mut wanted, field);
                let is = at(&mut is, &field.path).take();
                if is == *at(&mut wanted, &field.path) {
                    expected.to_owned()
                } else {
                    field.shown(is.as_str().unwrap_or("null"))
                }
            }
            Sees::Declaration(Name(name), property) => {
                let id = self.declarations.get(name);
                let id = id.unwrap_or_else(|| panic!("{name} is no declaration"));
                let shown = now(&self.outbox, *id).await;
                self.shown(&shown, property, expected)
            }
        }
    }

    async fn checked(&self, check: &Check) -> String {
        let farm = &self.farm;
        let report = &self.report;
        let since = |nth: usize| self.counts()[nth] - self.before[nth];
        let stopped = report.stopped_by.as_deref();
        match check {
            Check::Records => listed(farm.loads()),
            Check::Sent => {
                let sent = farm.sent().into_iter();
                listed(sent.map(|text| load_of(&serde_json::from_str(&text).unwrap())))
            }
            Check::Saves => farm.saves().to_string(),
            Check::Deletes => farm.fake.request_count("DeleteConsignment").to_string(),
            Check::Requests => since(0).to_string(),
            Check::Lists => since(1).to_string(),
            Check::Open => self.outbox.declarations().await.unwrap().len().to_string(),
            Check::Next => match self.next {
                Some(next) => format!("{}s", next.as_secs_f64().ceil()),
                None => "never".to_owned(),
            },
            Check::GoesOn => stopped.unwrap_or_default().to_owned(),
            Check::Stopped => match stopped {
                Some(_) => String::new(),
                None => "goes on".to_owned(),
            },
            Check::Confirmed => report.confirmed.to_string(),
            Check::Refused => report.refused.to_string(),
            Check::Asking => report.needs_attention.to_string(),
            Check::Waiting => report.waiting.to_string(),
            Check::Problems => report.confirmed_with_problems.to_string(),
            Check::LateDuplicates => report.late_duplicates.to_string(),
        }
    }

    /// The property of a declaration.
    fn shown(&self, shown: &Declaration, property: &Property, expected: &str) -> String {
        let names = |ids: &[ConsignmentId]| {
            let mut names: Vec<String> = ids.iter().map(|id| self.name(id.as_str())).collect();
            names.sort();
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(" ")
            }
        };
        match property {
            Property::Record => names(shown.consignment.as_slice()),
            Property::Candidates => names(&shown.candidates),
            Property::Duplicates => names(&shown.late_duplicates),
            Property::Attempts => shown.attempts.to_string(),
            Property::Wants => shown.wanted.to_string(),
            Property::Findings => shown.findings.len().to_string(),
            Property::Problems => {
                let sentence = shown.sentence();
                let known = if sentence.ends_with("problems unknown") {
                    "unknown"
                } else if sentence.ends_with("with problems") {
                    "some"
                } else {
                    "none"
                };
                known.to_owned()
            }
            Property::Adopted if shown.is_adopted => String::new(),
            Property::Adopted => "not adopted".to_owned(),
            Property::Offers => {
                let offered = shown.decisions();
                listed(offered.iter().map(ToString::to_string))
            }
            Property::Differs => {
                let fields = shown.conflict.iter().flat_map(|conflict| &conflict.fields);
                let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
                listed(fields.map(|field| {
                    let [base, mine, theirs] = [&field.base, &field.mine, &field.theirs].map(text);
                    format!(
                        "{} {:?} {base} {mine} {theirs}",
                        field.path, field.changed_by
                    )
                }))
            }
            Property::Asks => state_of(shown, DeclarationState::NeedsAttention, true),
            Property::Queued => state_of(shown, DeclarationState::Queued, !expected.is_empty()),
            Property::Sending => state_of(shown, DeclarationState::Sending, !expected.is_empty()),
            Property::OutcomeUnknown => state_of(
                shown,
                DeclarationState::OutcomeUnknown,
                !expected.is_empty(),
            ),
            Property::Confirmed => {
                state_of(shown, DeclarationState::Confirmed, !expected.is_empty())
            }
            Property::Refused => state_of(shown, DeclarationState::Refused, !expected.is_empty()),
            Property::Discarded => {
                state_of(shown, DeclarationState::Discarded, !expected.is_empty())
            }
        }
    }
}

/// The reason of a declaration in this state, if it is expected; both for one in another state.
fn state_of(shown: &Declaration, state: DeclarationState, has_reason: bool) -> String {
    let reason = shown.reason.map(|reason| format!("{reason:?}"));
    let reason = reason.unwrap_or_default();
    if shown.state != state {
        format!("{} {reason}", shown.state)
    } else if has_reason {
        reason
    } else {
        String::new()
    }
}
