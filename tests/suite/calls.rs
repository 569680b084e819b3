//! Tables of scenarios: calls to a service with scripted replies or to a fake, with the requests and the results.
//!
//! | step | meaning |
//! | --- | --- |
//! | `reply 503 retry-after=0 {..}` | the next reply: a status, headers, and a body, after the word `text` if it is neither JSON nor markup; the last reply is repeated |
//! | `reply close`, `never`, `raw HTTP/1.1\r\n`, `pics QAZZ7777` | closes the connection; sends nothing, bytes, or a register page |
//! | `fake`, `fake Comment.role`, `fake user=New` | uses a fake instead, perhaps without some fields, or with another user |
//! | `on UserDetails 503 {..} x2`, `html 200`, `processed dropped_before`, .. | a fault of the fake at an operation or a path |
//! | `with token old/new`, `retry 9`, `header x-a=b`, .. | a setting of client and register |
//! | `with document copyConsignment mutation ..` | a document instead of ours; `moved` is followed by the path of the record |
//! | `copy c-1 idempotent deadline=5s x-a=b` | a call, with its settings and headers; `optional`, `once` for no retries, `holds=1` for `only_if` |
//! | `start copy c-1`, `done`, `drop` | starts a call; waits for the first running call, or drops it |
//! | `advance 5s`, `until sent 1`, `until asleep 1` | advances the clock, or waits for requests or sleepers |
//! | `as two`, `request two` | switches to another user of the same connections; derives a client for one request of that user |
//! | `end_pause`, `forget` | ends the pause; clears the cache of the register |
//!
//! The result of the last call is `ok x2`, with its attempts, or a kind of error; `unsent` means no attempt, `?` may have been
//! carried out, `again` is retryable; `kind` is only the kind. `sent 2` is the number of requests, `value /id "c-2"` a part of
//! the value, `count 2` the length of a list, `sends /variables {..}` a part of the last body, `header x-a b` a header of the
//! last request; `says` is in the text of the error, `reports` in its report, `lacks` not in the report, `hides` in neither
//! text nor `Debug`.

mod words;

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, Provider, TokenSource};
use envd_sdk::fake::{Fake, Fault, Received, User};
use envd_sdk::model::{
    CommentInput, ConsignmentInput, FormType, PartyInput, PdfUrl, Pic, TemplateInput,
};
use envd_sdk::ops::{AccountChoice, ConsignmentFilter, TemplateFilter};
use envd_sdk::register::{IfModified, Lookup, PropertySearch, Register};
use envd_sdk::{Call, Client, Clock, Error, HttpOptions, Outcome, Result, RetryPolicy};
use serde::Serialize;
use serde_json::{Value, json};
use test_support::script::{Rest, Stage, Times, Vocabulary, Words, listed, refuses_misspelled};
use test_support::{Reply, Request, Server, refusing_address};
use tokio::task::JoinHandle;

use self::words::{
    CallSetting, CallWords, Check, Choice, Compression, Does, FakeSettings, FakeUser, FaultKind,
    FaultWords, Filter, From, HeaderPair, ReplyHeader, ReplyKind, RequestHeader, ScriptedReply,
    Sees, SetCall, Setting, Step, UserName, Verdict,
};
use crate::adapted;
use crate::fixed_date::fake_builder;
use crate::gzip::gzip;
use crate::profiles::moved;
use crate::scripted::{client_at, register_at, take_turns, until};

/// Describes an error in a few words.
fn reported(error: &Error) -> String {
    let mut reported = format!("{:?}", error.kind());
    match error.attempts() {
        0 => reported += " unsent",
        1 => {}
        attempts => reported.extend([" x", &attempts.to_string()]),
    }
    reported += if error.may_have_applied() { " ?" } else { "" };
    reported + if error.is_retryable() { " again" } else { "" }
}

/// A token, and the token after its refusal.
struct Tokens(String, String);

impl Tokens {
    fn new(text: &str) -> Self {
        let (first, second) = text.split_once('/').unwrap_or((text, text));
        Self(first.to_owned(), second.to_owned())
    }
}

impl TokenSource for Tokens {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new(&self.0) })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new(&self.1) })
    }
}

/// The value, the attempts and the request id. Only an [`Outcome`] has the attempts and the id; for other results, one attempt is
/// assumed.
type Done = Result<(Value, u32, Option<String>)>;
type Running = BoxFuture<'static, Done>;

/// The replies, and the number of replies sent.
#[derive(Default)]
struct Script(Vec<Option<Reply>>, usize);

impl Script {
    fn next(&mut self) -> Option<Reply> {
        self.1 = self.0.len().min(self.1 + 1);
        self.0[self.1 - 1].clone()
    }
}

pub(crate) struct Calls {
    script: Arc<Mutex<Script>>,
    server: Server,
    fake: Option<Fake>,
    clock: Clock,
    settings: Vec<Setting>,
    client: Option<Client>,
    register: Option<Register>,
    users: BTreeMap<&'static str, (Option<Client>, Option<Register>)>,
    running: VecDeque<JoinHandle<Done>>,
    /// The number of requests before the last call.
    before: usize,
    came: Done,
}

fn reply(words: &ScriptedReply) -> Option<Reply> {
    let parts = match words {
        ScriptedReply::Kind(ReplyKind::Never) => return None,
        ScriptedReply::Kind(ReplyKind::Close) => return Some(Reply::close()),
        ScriptedReply::Kind(ReplyKind::Raw(Rest(text))) => {
            let text = text.replace("\\r", "\r").replace("\\n", "\n");
            return Some(Reply::raw(text));
        }
        ScriptedReply::Kind(ReplyKind::Pics(pics)) => {
            let pics: Vec<_> = pics.iter().map(|pic| json!({ "PIC": pic })).collect();
            let page = json!({"Value": {"Total": pics.len(), "SubSet": pics}});
            return Some(Reply::json(200, page));
        }
        ScriptedReply::Parts(parts) => parts,
    };
    let mut reply = Reply::new(parts.status).body(parts.body.clone());
    for (header, value) in &parts.headers {
        reply = reply.header(header.phrase().trim_end_matches('='), value);
    }
    if let Some(how) = &parts.compression {
        let reply_of = reply.body(compressed(&parts.body, how));
        reply = reply_of.header("content-encoding", "gzip");
    }
    let has_type = |(header, _): &(ReplyHeader, _)| matches!(header, ReplyHeader::ContentType);
    if parts.body.starts_with(['{', '[']) && !parts.headers.iter().any(has_type) {
        reply = reply.header("content-type", "application/json");
    }
    Some(reply)
}

fn compressed(body: &str, how: &Compression) -> Vec<u8> {
    let mut bytes = gzip(body.as_bytes());
    let end = bytes.len();
    match how {
        Compression::Whole => {}
        Compression::Cut => bytes.truncate(end - 9),
        // Damages the checksum.
        Compression::Damaged => bytes[end - 8] ^= 1,
        Compression::Twice => bytes = gzip(&bytes),
    }
    bytes
}

fn fault(words: &FaultWords) -> Fault {
    let kind = match words {
        FaultWords::Kind(kind) => kind,
        FaultWords::Parts(parts) => {
            let fault = Fault::status(parts.status).body("application/json", parts.body.clone());
            return parts.headers.iter().fold(fault, |fault, (header, value)| {
                fault.header(header.phrase().trim_end_matches('='), value)
            });
        }
    };
    match kind {
        FaultKind::Cut(bytes) => Fault::cut(*bytes),
        FaultKind::DroppedAfter => Fault::dropped_after(),
        FaultKind::DroppedBefore => Fault::dropped_before(),
        FaultKind::Garbage => Fault::garbage(),
        FaultKind::Html(status) => Fault::html(*status),
        FaultKind::Internal(field) => Fault::internal_server_error(field),
        FaultKind::Later(requests, after) => fault(after).processed_after(*requests),
        FaultKind::Processed(after) => fault(after).processed(),
        FaultKind::Replaced(pointer, Rest(value)) => {
            Fault::replaced(pointer, serde_json::from_str::<Value>(value).unwrap())
        }
        FaultKind::Truncated(bytes) => Fault::truncated(*bytes),
    }
}

/// The settings of a call.
struct Set<'a>(&'a [CallSetting]);

impl Set<'_> {
    fn run<T: Send + 'static>(
        &self,
        call: Call<T>,
        shown: impl FnOnce(T) -> Value + Send + 'static,
    ) -> Running {
        let call = self.with_settings(call).into_future();
        Box::pin(async move { Ok((shown(call.await?), 1, None)) })
    }

    fn with_settings<T: Send + 'static>(&self, call: Call<T>) -> Call<T> {
        let set = |call: Call<T>, setting: &CallSetting| match setting {
            CallSetting::Idempotent => call.idempotent(),
            CallSetting::Once => call.retry(RetryPolicy::none()),
            // Another method is called.
            CallSetting::Optional => call,
            CallSetting::Deadline(time) => call.deadline(*time),
            CallSetting::Holds(times) => {
                let times = *times;
                let asked = AtomicUsize::new(0);
                call.only_if(move || asked.fetch_add(1, Ordering::Relaxed) < times)
            }
            CallSetting::Accept(value)
            | CallSetting::Authorization(value)
            | CallSetting::Office(value)
            | CallSetting::Trace(value) => {
                call.header(setting.phrase().trim_end_matches('='), value)
            }
        };
        self.0.iter().fold(call, set)
    }

    fn outcome<T: Serialize + Send + 'static>(&self, call: Call<Outcome<T>>) -> Running {
        let is_optional = |setting: &CallSetting| matches!(setting, CallSetting::Optional);
        if self.0.iter().any(is_optional) {
            return self.outcome_as(call.optional(), |value| json!(value));
        }
        self.outcome_as(call, |value| json!(value))
    }

    fn outcome_as<T: Send + 'static>(
        &self,
        call: Call<Outcome<T>>,
        shown: impl FnOnce(T) -> Value + Send + 'static,
    ) -> Running {
        let call = self.with_settings(call).into_future();
        Box::pin(async move {
            let outcome = call.await?;
            let attempts = outcome.attempts();
            let request_id = outcome.request_id().map(str::to_owned);
            Ok((shown(outcome.value), attempts, request_id))
        })
    }
}

fn found(lookup: &Lookup) -> String {
    match lookup {
        Lookup::Found(property) => property.pic.clone().unwrap(),
        Lookup::Several(all) => format!("{} records", all.len()),
        other => format!("{other:?}"),
    }
}

pub(crate) fn input() -> ConsignmentInput {
    let from = PartyInput::new("QAZZ7777");
    let to = PartyInput::new("QDZZ3333");
    ConsignmentInput::new([FormType::Lpac1], from, to)
}

impl Calls {
    /// Runs steps that end with a call; every request gets this reply.
    pub(crate) async fn after(reply: Reply, steps: &[&str]) -> Self {
        let mut calls = Self::start().await;
        calls.script.lock().unwrap().0.push(Some(reply));
        for step in steps {
            let does = Words::parse(step).unwrap_or_else(|refusal| panic!("{refusal}"));
            let Ok(()) = calls.act(does).await;
        }
        calls
    }

    /// The result of the last call.
    pub(crate) fn verdict(&self) -> String {
        match &self.came {
            Ok((_, 1, _)) => "ok".to_owned(),
            Ok((_, attempts, _)) => format!("ok x{attempts}"),
            Err(error) => reported(error),
        }
    }

    pub(crate) fn value(&self) -> Option<&Value> {
        self.came.as_ref().ok().map(|(value, ..)| value)
    }

    pub(crate) fn error(&self) -> &Error {
        self.came.as_ref().expect_err("an error")
    }

    /// The number of requests of the last call.
    pub(crate) fn sent(&self) -> usize {
        self.count() - self.before
    }

    fn count(&self) -> usize {
        let of_fake = self.fake.as_ref().map(|fake| fake.requests().len());
        of_fake.unwrap_or_else(|| self.server.count())
    }

    fn client(&mut self) -> Result<Client> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let builder = match &self.fake {
            Some(fake) => fake.client(),
            None => client_at(self.address()).token_source(Tokens::new("b34r3r")),
        };
        let mut builder = builder.clock(self.clock.clone()).retry(self.retry());
        for setting in &self.settings {
            builder = match setting {
                Setting::Token(token) => builder.token_source(Tokens::new(token)),
                Setting::Header(HeaderPair(name, value)) => builder.header(name, value.as_str()),
                Setting::Document(name, Rest(document)) => {
                    builder.override_operation(name, document)
                }
                Setting::Moved(name, at, Rest(document)) => {
                    builder.profile(&moved(name, document, at))
                }
                _ => builder,
            };
        }
        let client = builder.http(self.http()).build()?;
        Ok(self.client.insert(client).clone())
    }

    fn register(&mut self) -> Result<Register> {
        if let Some(register) = &self.register {
            return Ok(register.clone());
        }
        let builder = register_at(self.address()).clock(self.clock.clone());
        let mut builder = builder.retry(self.retry()).http(self.http());
        for setting in &self.settings {
            builder = match setting {
                Setting::Token(token) => builder.token_source(Tokens::new(token)),
                Setting::Header(HeaderPair(name, value)) => builder.header(name, value.as_str()),
                Setting::Cache(time) => builder.cache(*time, 100),
                _ => builder,
            };
        }
        let register = builder.build()?;
        Ok(self.register.insert(register).clone())
    }

    /// The last setting of a kind.
    fn setting<'s, T>(&'s self, of: impl FnMut(&'s Setting) -> Option<T>) -> Option<T> {
        self.settings.iter().rev().find_map(of)
    }

    fn address(&self) -> String {
        let address = self.setting(|setting| match setting {
            Setting::Address(address) => Some(address),
            _ => None,
        });
        match (address, &self.fake) {
            (Some(address), _) => address.replace("refused", &refusing_address().to_string()),
            (None, Some(fake)) => fake.register_url().to_string(),
            (None, None) => self.server.url(),
        }
    }

    fn http(&self) -> HttpOptions {
        let mut http = HttpOptions::default().max_body_bytes(1 << 20);
        for setting in &self.settings {
            http = match setting {
                Setting::GzipOff => http.gzip(false),
                Setting::Limit(bytes) => http.max_body_bytes(*bytes),
                Setting::AtMost(requests) => http.max_concurrent_requests(*requests),
                _ => http,
            };
        }
        http
    }

    fn retry(&self) -> RetryPolicy {
        let at_once = RetryPolicy::default().base_wait(Duration::ZERO);
        let policy = self.setting(|setting| match setting {
            Setting::NoRetry => Some(RetryPolicy::none()),
            Setting::RetryLater => Some(RetryPolicy::default()),
            Setting::Retries(times) => Some(at_once.clone().max_retries(*times)),
            _ => None,
        });
        policy.unwrap_or(at_once)
    }

    /// A call of the register; `None` for any other call.
    fn call_register(&mut self, call: &CallWords, set: &Set<'_>) -> Result<Option<Running>> {
        let pic = |pic: &str| Pic::parse(pic).unwrap();
        match call {
            CallWords::Lookup(name) => {
                let call = self.register()?.lookup(&pic(name));
                Ok(Some(set.run(call, |it| found(&it).into())))
            }
            CallWords::Property(name) => {
                let call = self.register()?.property(&pic(name));
                Ok(Some(set.run(call, |it| json!(it.map(|it| it.pic)))))
            }
            CallWords::Since(name) => {
                let register = self.register()?;
                let call = register.lookup_since(&pic(name), SystemTime::UNIX_EPOCH);
                Ok(Some(set.run(call, |it| match it {
                    IfModified::Changed { value, .. } => found(&value).into(),
                    _ => "unchanged".into(),
                })))
            }
            CallWords::Many(pics) => {
                let register = self.register()?;
                let many = register.lookup_many(pics).concurrency(1).collect();
                let shown =
                    |it: Result<Lookup>| it.map_or_else(|error| reported(&error), |it| found(&it));
                Ok(Some(Box::pin(async move {
                    let many = many.await.into_iter().map(|it| shown(it.result));
                    Ok((many.collect(), 1, None))
                })))
            }
            CallWords::Search(Rest(text)) => {
                let mut pager = self.register()?.search(&PropertySearch::text(text));
                Ok(Some(Box::pin(async move {
                    let page = pager.next_page().await?;
                    Ok((page.unwrap().records.len().into(), 1, None))
                })))
            }
            CallWords::Get(path, parameters) => {
                let pairs = parameters.iter().filter_map(|it| it.split_once('='));
                let pairs: Vec<_> = pairs.collect();
                let call = self.register()?.get(path, &pairs);
                Ok(Some(set.run(call, |value| value)))
            }
            _ => Ok(None),
        }
    }

    fn call(&mut self, SetCall { call, settings }: &SetCall) -> Result<Running> {
        let set = Set(settings);
        if let Some(running) = self.call_register(call, &set)? {
            return Ok(running);
        }
        self.call_client(call, &set)
    }

    fn call_client(&mut self, call: &CallWords, set: &Set<'_>) -> Result<Running> {
        let client = self.client()?;
        let id = self.fake.as_ref().map_or("envd-1", Fake::account_id);
        let account = client.account(id);
        let custom = |kind: &str, variables: &str| {
            let document = format!("{kind} A {{ a }}");
            let variables: Value = serde_json::from_str(variables).unwrap_or_else(|_| json!({}));
            set.outcome(client.execute_document::<Value>(&document, "A", &variables))
        };
        Ok(match call {
            CallWords::Query(Rest(variables)) => custom("query", variables),
            CallWords::Mutation(Rest(variables)) => custom("mutation", variables),
            CallWords::Own(Rest(document)) => {
                let name = document.split([' ', '(']).nth(1).unwrap();
                set.outcome(client.execute_document::<Value>(document, name, &json!({})))
            }
            CallWords::User => set.outcome(client.user_details()),
            CallWords::Registered => set.outcome(client.registered_user()),
            CallWords::Choose(choice) => {
                let choice = match choice.clone() {
                    Choice::Default => AccountChoice::Default,
                    Choice::Producer => AccountChoice::Producer,
                    Choice::Pic(name) => AccountChoice::Pic(Pic::parse(&name).unwrap()),
                    Choice::Role(Rest(name)) => AccountChoice::Role(name.as_str().into()),
                    Choice::Label(Rest(name)) => AccountChoice::Label(name.as_str().into()),
                    Choice::Id(name) => AccountChoice::Id(name.as_str().into()),
                };
                let chosen = client.choose_account(&choice);
                set.run(chosen, |account| json!(account.id()))
            }
            CallWords::Questions => set.outcome_as(client.questions(), |list| json!(list.items)),
            CallWords::Consignment(id) => set.outcome(account.consignment(id.as_str())),
            CallWords::Comments(number) => set.outcome(account.comments(number.as_str())),
            CallWords::Copy(id) => set.outcome(account.copy_consignment(id.as_str())),
            CallWords::Delete(id) => set.outcome(account.delete_consignment(id.as_str())),
            CallWords::DeleteTemplate(id) => set.outcome(account.delete_template(id.as_str())),
            CallWords::Save(None) => set.outcome(account.save_consignment(input())),
            CallWords::Save(Some(id)) => {
                let input = input().id(id.as_str());
                set.outcome(account.save_consignment(input))
            }
            CallWords::SaveTemplate(name) => {
                let template = TemplateInput::new(name.as_str(), [FormType::Lpac1]);
                set.outcome(account.save_template(template))
            }
            CallWords::Comment(Rest(text)) => {
                let comment = CommentInput::new("C-900000101", text.as_str());
                set.outcome(account.create_comment(comment))
            }
            CallWords::List(filter) => {
                let all = ConsignmentFilter::default();
                let filter = match filter {
                    Some(Filter::First(size)) => all.page_size(*size),
                    Some(Filter::Status(status)) => all.status(status.parse().unwrap()),
                    Some(Filter::Search(Rest(text))) => all.search_text(text.as_str()),
                    None => all,
                };
                let page = account.consignments_page(&filter, None);
                set.outcome_as(page, |page| json!(page.edges.len()))
            }
            CallWords::Templates => {
                let page = account.templates_page(&TemplateFilter::default(), None);
                set.outcome_as(page, |page| json!(page.edges.len()))
            }
            CallWords::Candidates(date, from) => {
                let input = input().movement(date.as_str(), "05:15");
                let mut search = account.candidates(&input);
                if let Some(From::From(from)) = from {
                    search = search.from(from.as_str());
                }
                set.run(search.find(), |all| json!(all))
            }
            CallWords::Pdf(address) => {
                let address = address.replace("<service>", &self.server.url());
                set.run(client.pdf(&PdfUrl::from(address)), |pdf| json!(pdf.len()))
            }
            CallWords::Discover => {
                let fake = self.fake.as_ref().unwrap();
                let provider = Provider::builder(fake.client_id()).issuer(fake.issuer());
                let provider = provider.redirect_uri(fake.redirect_uri());
                let provider = provider.clock(self.clock.clone()).discover();
                Box::pin(async {
                    let provider = provider.await?.build().map(drop);
                    provider.map(|()| (Value::Null, 1, None))
                })
            }
            CallWords::Lookup(_)
            | CallWords::Property(_)
            | CallWords::Since(_)
            | CallWords::Many(_)
            | CallWords::Search(_)
            | CallWords::Get(..) => unreachable!("the register answers it"),
        })
    }

    /// The last request; without its head if a fake received it.
    fn last(&self) -> Request {
        let Some(fake) = &self.fake else {
            return self.server.requests().last().unwrap().clone();
        };
        let body = fake.requests().last().unwrap().body().to_vec();
        let head = String::new();
        let body = String::from_utf8(body).unwrap();
        Request { head, body }
    }
}

fn part(value: Option<&Value>, pointer: &str) -> String {
    let part = value.and_then(|value| value.pointer(pointer));
    part.map_or("none".to_owned(), Value::to_string)
}

fn time(time: Option<Duration>) -> String {
    format!("{}s", time.unwrap_or_default().as_secs())
}

impl Stage for Calls {
    type Does = Does;
    type Sees = Sees;
    type Error = Infallible;

    async fn start() -> Self {
        let script = Arc::<Mutex<Script>>::default();
        let replies = Arc::clone(&script);
        let server = Server::start(move |_| {
            let reply = replies.lock().unwrap().next();
            async {
                match reply {
                    Some(reply) => reply,
                    None => std::future::pending().await,
                }
            }
        });
        Self {
            script,
            server,
            fake: None,
            clock: Clock::manual(SystemTime::UNIX_EPOCH),
            settings: Vec::new(),
            client: None,
            register: None,
            users: BTreeMap::new(),
            running: VecDeque::new(),
            before: 0,
            came: Ok((Value::Null, 0, None)),
        }
    }

    async fn act(&mut self, does: Does) -> Result<(), Infallible> {
        match does {
            Does::Step(step) => self.step(step).await,
            Does::Call(call) => {
                self.before = self.count();
                self.came = match self.call(&call) {
                    Ok(call) => call.await,
                    Err(error) => Err(error),
                };
            }
        }
        Ok(())
    }

    async fn see(&mut self, sees: &Sees, expected: &str) -> String {
        let verdict = match sees {
            Sees::Check(check) => return self.checked(check, expected).await,
            Sees::Verdict(verdict) => verdict.phrase(),
        };
        let came = self.verdict();
        match came.strip_prefix(verdict) {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => rest.trim().to_owned(),
            _ => came,
        }
    }
}

impl Calls {
    async fn step(&mut self, step: Step) {
        match step {
            Step::Reply(words) => self.script.lock().unwrap().0.push(reply(&words)),
            Step::Fake(FakeSettings { user, without }) => {
                let fields = without.iter().map(|(owner, field)| (&**owner, &**field));
                let schema = adapted::without(&fields.collect::<Vec<_>>());
                let mut builder = fake_builder().schema(schema);
                builder = match user {
                    Some(FakeUser::New) => builder.user(User::New),
                    Some(FakeUser::Receiver) => builder.user(User::Receiver),
                    None => builder,
                };
                let fake = builder.start().await.unwrap();
                self.clock = fake.clock().clone();
                self.fake = Some(fake);
            }
            Step::On(target, words, times) => {
                let fake = self.fake.as_ref().unwrap();
                let on = if target.starts_with('/') {
                    fake.on_path(&target)
                } else {
                    fake.on_operation(&target)
                };
                let times = times.map_or(1, |Times(times)| times);
                on.fault(fault(&words)).times(times);
            }
            Step::With(setting) => {
                self.settings.push(setting);
                self.client = None;
                self.register = None;
            }
            Step::As(name) => {
                let client = self.client.clone();
                let register = self.register.clone();
                let first = || (client.clone(), register.clone());
                let one = UserName::One.phrase();
                self.users.entry(one).or_insert_with(first);
                let tokens = || Tokens::new(name.phrase());
                let client = client.as_ref().map(|it| it.with_token_source(tokens()));
                let register = register.as_ref().map(|it| it.with_token_source(tokens()));
                let user = self
                    .users
                    .entry(name.phrase())
                    .or_insert((client, register));
                (self.client, self.register) = user.clone();
            }
            Step::Request(name) => {
                let one = self.client().unwrap();
                self.users
                    .entry(UserName::One.phrase())
                    .or_insert((Some(one.clone()), None));
                self.client = Some(one.with_token_source(Tokens::new(name.phrase())));
            }
            Step::Advance(time) => self.clock.advance(time),
            Step::UntilSent(count) => until(|| self.sent() >= count).await,
            Step::UntilAsleep(count) => until(|| self.clock.sleepers() >= count).await,
            Step::EndPause => {
                self.client.iter().for_each(Client::end_pause);
                self.register.iter().for_each(Register::end_pause);
            }
            Step::Forget => self.register.as_ref().unwrap().forget(),
            Step::Drop => self.running.pop_front().unwrap().abort(),
            Step::Done => self.came = self.running.pop_front().unwrap().await.unwrap(),
            Step::Start(call) => {
                if self.running.is_empty() {
                    self.before = self.count();
                }
                let call = self.call(&call).unwrap();
                self.running.push_back(tokio::spawn(call));
                tokio::task::yield_now().await;
            }
        }
    }

    /// The actual value.
    async fn checked(&mut self, check: &Check, expected: &str) -> String {
        let found = |is_so: bool, text: &str| if is_so { expected } else { text }.to_owned();
        let none = || "none".to_owned();
        match check {
            Check::Sent => self.sent().to_string(),
            Check::Waits => {
                take_turns().await;
                match self.running.iter().filter(|it| it.is_finished()).count() {
                    0 => String::new(),
                    ended => format!("{ended} ended"),
                }
            }
            Check::Tokens => {
                let requests = self.server.requests();
                let sent = requests[self.before..].iter();
                let sent = sent.map(|it| it.header("authorization").unwrap_or("none"));
                sent.collect::<Vec<_>>().join(" ").replace("Bearer ", "")
            }
            Check::Paths => {
                let requests = self.fake.as_ref().unwrap().requests();
                let sent = requests[self.before..].iter().map(Received::path);
                sent.collect::<Vec<_>>().join(" ")
            }
            Check::Target => self.last().target().to_owned(),
            Check::Header(name) => {
                let last = self.last();
                last.header(name.phrase()).unwrap_or("none").to_owned()
            }
            Check::Sends(pointer) => {
                let body: Value = serde_json::from_str(&self.last().body).unwrap();
                part(Some(&body), pointer)
            }
            Check::Value(pointer) => part(self.value(), pointer.trim_end_matches('.')),
            Check::Chosen => self
                .value()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            Check::Count => self.value().unwrap().as_array().unwrap().len().to_string(),
            Check::Late => {
                let controls = self.fake.as_ref().unwrap().controls();
                controls.process_late_requests().to_string()
            }
            Check::LeftOut => {
                let operations = self.client.as_ref().unwrap().profile().operations;
                listed(operations.values().flat_map(|it| it.value.left_out.clone()))
            }
            Check::Paused => {
                let client = self.client.as_ref().and_then(Client::paused_for);
                time(client.or_else(|| self.register.as_ref()?.paused_for()))
            }
            Check::Id => self.came.as_ref().unwrap().2.clone().unwrap(),
            Check::Kind => format!("{:?}", self.error().kind()),
            Check::Status => self.error().http_status().unwrap_or_default().to_string(),
            Check::After => time(self.error().retry_after()),
            Check::Operation => self.error().operation().unwrap_or_default().to_owned(),
            Check::Path => self.error().json_path().unwrap_or_default().to_owned(),
            Check::Data => self.error().raw_data().map_or_else(none, Value::to_string),
            Check::Message => self.error().server_message().map_or_else(none, Into::into),
            Check::Says => {
                let said = self.error().to_string();
                found(said.contains(expected), &said)
            }
            Check::Reports => {
                let report = self.error().report();
                found(report.contains(expected), &report)
            }
            Check::Lacks => {
                let report = self.error().report();
                found(!report.contains(expected), &report)
            }
            Check::Hides => {
                let shown = format!("{} {:?}", self.error(), self.error());
                found(!shown.contains(expected), &shown)
            }
        }
    }
}

/// Each word of each vocabulary, misspelled, is an error with the place and the known words.
#[test]
fn misspelled_words_are_refused() {
    refuses_misspelled::<Calls, Step>("{} 1");
    refuses_misspelled::<Calls, CallWords>("{} x");
    refuses_misspelled::<Calls, CallWords>("start {} x");
    refuses_misspelled::<Calls, Choice>("choose {} x");
    refuses_misspelled::<Calls, Filter>("list {}1");
    refuses_misspelled::<Calls, From>("candidates 2027-02-02 {} 2027-02-02");
    refuses_misspelled::<Calls, UserName>("as {}");
    refuses_misspelled::<Calls, Setting>("with {} x");
    refuses_misspelled::<Calls, ReplyKind>("reply {}");
    refuses_misspelled::<Calls, ReplyHeader>("reply 503 {}x");
    refuses_misspelled::<Calls, Compression>("reply gzip={} {}");
    refuses_misspelled::<Calls, FaultKind>("on UserDetails {} 1");
    refuses_misspelled::<Calls, FakeUser>("fake {}");
    refuses_misspelled::<Calls, Check>("user -> {} 1");
    refuses_misspelled::<Calls, RequestHeader>("user -> header {} x");
    refuses_misspelled::<Calls, Verdict>("user -> {}");
}

/// The settings of a call that have a value. The others are words like any argument, so a misspelled one is left over.
#[test]
fn misspelled_settings_of_calls_are_refused() {
    for (wrong, why) in [
        ("copy c-1 deadlin=5s", "\"deadlin=5s\" is no setting"),
        ("copy c-1 hold=1", "\"hold=1\" is no setting"),
        ("copy c-1 x-ofice=Roma", "\"x-ofice=Roma\" is no setting"),
        ("copy c-1 acept=x", "\"acept=x\" is no setting"),
        (
            "copy c-1 authorisation=x",
            "\"authorisation=x\" is no setting",
        ),
        ("copy c-1 x-trase=1", "\"x-trase=1\" is no setting"),
        ("copy c-1 idempotnet", "\"idempotnet\" is left over"),
        ("copy c-1 onec", "\"onec\" is left over"),
        ("copy c-1 optinal", "\"optinal\" is left over"),
    ] {
        let refused = Words::parse::<Does>(wrong).unwrap_err().to_string();
        assert!(refused.starts_with(why), "{refused}");
    }
}
