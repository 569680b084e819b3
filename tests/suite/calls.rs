//! Tables of scenarios: calls to a service with scripted replies or to a fake, with the requests and the results.
//!
//! | step | meaning |
//! | --- | --- |
//! | `reply 503 retry-after=0 {..}` | the next reply: a status, headers, and a body; the last reply is repeated |
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
use test_support::script::{Stage, Unparsed, listed, span};
use test_support::{Reply, Request, Server, refusing_address};
use tokio::task::JoinHandle;

use crate::adapted::without;
use crate::fixed_date::fake_builder;
use crate::gzip::gzip;
use crate::profiles::{moved, paged_from};
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
    settings: Vec<(String, String)>,
    client: Option<Client>,
    register: Option<Register>,
    users: BTreeMap<String, (Option<Client>, Option<Register>)>,
    running: VecDeque<JoinHandle<Done>>,
    /// The number of requests before the last call.
    before: usize,
    came: Done,
}

/// A header or a setting of a call, such as `x-a=b`.
fn header(word: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| name.bytes().all(|it| it == b'-' || it.is_ascii_lowercase());
    word.split_once('=').filter(|(name, _)| is_name(name))
}

/// Parses a status (200 by default), headers and a body.
fn parts(text: &str) -> (u16, Vec<(&str, String)>, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (status, mut rest) = word.parse().map_or((200, text), |status| (status, rest));
    let mut headers = Vec::new();
    while let Some((name, value)) = header(rest.split(' ').next().unwrap()) {
        headers.push((name, value.replace('_', " ")));
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
    }
    if rest.starts_with(['{', '[']) && !headers.iter().any(|(name, _)| *name == "content-type") {
        headers.push(("content-type", "application/json".to_owned()));
    }
    (status, headers, rest)
}

fn reply(text: &str) -> Reply {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "close" => return Reply::close(),
        "raw" => return Reply::raw(rest.replace("\\r", "\r").replace("\\n", "\n")),
        "pics" => {
            let pics = rest.split(' ').filter(|pic| !pic.is_empty());
            let pics: Vec<_> = pics.map(|pic| json!({ "PIC": pic })).collect();
            return Reply::json(200, json!({"Value": {"Total": pics.len(), "SubSet": pics}}));
        }
        _ => {}
    }
    let (status, headers, body) = parts(text);
    let reply = Reply::new(status).body(body);
    let add = |reply: Reply, (name, value): &(&str, String)| match *name {
        "gzip" => compressed(reply, value, body).header("content-encoding", "gzip"),
        name => reply.header(name, value),
    };
    headers.iter().fold(reply, add)
}

fn compressed(reply: Reply, how: &str, body: &str) -> Reply {
    let mut bytes = gzip(body.as_bytes());
    let end = bytes.len();
    match how {
        "cut" => bytes.truncate(end - 9),
        // Damages the checksum.
        "damaged" => bytes[end - 8] ^= 1,
        "twice" => bytes = gzip(&bytes),
        _ => {}
    }
    reply.body(bytes)
}

fn fault(text: &str) -> Fault {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (number, after) = rest.split_once(' ').unwrap_or((rest, ""));
    match word {
        "cut" => Fault::cut(rest.parse().unwrap()),
        "dropped_after" => Fault::dropped_after(),
        "dropped_before" => Fault::dropped_before(),
        "garbage" => Fault::garbage(),
        "html" => Fault::html(rest.parse().unwrap()),
        "internal" => Fault::internal_server_error(rest),
        "later" => fault(after).processed_after(number.parse().unwrap()),
        "processed" => fault(rest).processed(),
        "replaced" => Fault::replaced(number, serde_json::from_str::<Value>(after).unwrap()),
        "truncated" => Fault::truncated(rest.parse().unwrap()),
        _ => {
            let (status, headers, body) = parts(text);
            let fault = Fault::status(status).body("application/json", body);
            let headers = headers
                .into_iter()
                .filter(|(name, _)| *name != "content-type");
            headers.fold(fault, |fault, (name, value)| fault.header(name, value))
        }
    }
}

/// The settings of a call.
struct Set<'a>(Vec<&'a str>);

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
        let set = |call: Call<T>, setting: &&str| match header(setting) {
            None if *setting == "idempotent" => call.idempotent(),
            None if *setting == "once" => call.retry(RetryPolicy::none()),
            None => call,
            Some(("deadline", time)) => call.deadline(span(time)),
            Some(("holds", times)) => {
                let times = times.parse().unwrap();
                let asked = AtomicUsize::new(0);
                call.only_if(move || asked.fetch_add(1, Ordering::Relaxed) < times)
            }
            Some((name, value)) => call.header(name, value),
        };
        self.0.iter().fold(call, set)
    }

    fn outcome<T: Serialize + Send + 'static>(&self, call: Call<Outcome<T>>) -> Running {
        if self.0.contains(&"optional") {
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
            let Ok(()) = calls
                .act(step.split(' ').map(str::to_owned).collect())
                .await;
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
        for (name, value) in &self.settings {
            let (first, rest) = value.split_once([' ', '=']).unwrap_or((value, ""));
            builder = match name.as_str() {
                "token" => builder.token_source(Tokens::new(value)),
                "header" => builder.header(first, rest),
                "document" => builder.override_operation(first, rest),
                "moved" => {
                    let (at, document) = rest.split_once(' ').unwrap();
                    builder.profile(&moved(first, document, at))
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
        for (name, value) in &self.settings {
            let (first, rest) = value.split_once('=').unwrap_or((value, ""));
            builder = match name.as_str() {
                "token" => builder.token_source(Tokens::new(value)),
                "header" => builder.header(first, rest),
                "cache" => builder.cache(span(value), 100),
                "pages" => builder.profile(&paged_from(value.parse().unwrap())),
                _ => builder,
            };
        }
        let register = builder.build()?;
        Ok(self.register.insert(register).clone())
    }

    fn setting(&self, name: &str) -> Option<&str> {
        let known = self.settings.iter().rev().find(|(known, _)| known == name);
        known.map(|(_, value)| value.as_str())
    }

    fn address(&self) -> String {
        match (self.setting("address"), &self.fake) {
            (Some(address), _) => address.replace("refused", &refusing_address().to_string()),
            (None, Some(fake)) => fake.register_url().to_string(),
            (None, None) => self.server.url(),
        }
    }

    fn http(&self) -> HttpOptions {
        let number = |name| self.setting(name).map(|number| number.parse().unwrap());
        let http = HttpOptions::default().gzip(self.setting("gzip") != Some("off"));
        let http = http.max_body_bytes(number("limit").unwrap_or(1 << 20));
        match number("at_most") {
            Some(requests) => http.max_concurrent_requests(requests),
            None => http,
        }
    }

    fn retry(&self) -> RetryPolicy {
        let at_once = RetryPolicy::default().base_wait(Duration::ZERO);
        match self.setting("retry") {
            Some("none") => RetryPolicy::none(),
            Some("later") => RetryPolicy::default(),
            Some(times) => at_once.max_retries(times.parse().unwrap()),
            None => at_once,
        }
    }

    fn call(&mut self, words: &[&str]) -> Result<Running> {
        let is_setting = |word: &&str| {
            header(word).is_some() || ["idempotent", "once", "optional"].contains(word)
        };
        let (set, words): (Vec<_>, Vec<_>) = words.iter().copied().partition(is_setting);
        let set = Set(set);
        let of = words[1..].join(" ");
        if ["lookup", "property", "since", "many", "search", "get"].contains(&words[0]) {
            return self
                .register()
                .map(|it| call_register(&it, words[0], &of, &set));
        }
        let client = self.client()?;
        let id = self.fake.as_ref().map_or("envd-1", Fake::account_id);
        let account = client.account(id);
        Ok(match words[0] {
            "query" | "mutation" => {
                let document = format!("{} A {{ a }}", words[0]);
                let variables: Value = serde_json::from_str(&of).unwrap_or_else(|_| json!({}));
                set.outcome(client.execute_document::<Value>(&document, "A", &variables))
            }
            "own" => {
                let name = of.split([' ', '(']).nth(1).unwrap();
                set.outcome(client.execute_document::<Value>(&of, name, &json!({})))
            }
            "user" => set.outcome(client.user_details()),
            "registered" => set.outcome(client.registered_user()),
            "choose" => {
                let (by, name) = of.split_once(' ').unwrap_or((&of, ""));
                let choice = match by {
                    "default" => AccountChoice::Default,
                    "producer" => AccountChoice::Producer,
                    "pic" => AccountChoice::Pic(Pic::parse(name).unwrap()),
                    "role" => AccountChoice::Role(name.into()),
                    "label" => AccountChoice::Label(name.into()),
                    _ => AccountChoice::Id(name.into()),
                };
                let chosen = client.choose_account(&choice);
                set.run(chosen, |account| json!(account.id()))
            }
            "questions" => set.outcome_as(client.questions(), |list| json!(list.items)),
            "consignment" => set.outcome(account.consignment(&*of)),
            "comments" => set.outcome(account.comments(&*of)),
            "copy" => set.outcome(account.copy_consignment(&*of)),
            "delete" => set.outcome(account.delete_consignment(&*of)),
            "delete_template" => set.outcome(account.delete_template(&*of)),
            "save" if of.is_empty() => set.outcome(account.save_consignment(input())),
            "save" => set.outcome(account.save_consignment(input().id(of))),
            "save_template" => {
                let template = TemplateInput::new(of, [FormType::Lpac1]);
                set.outcome(account.save_template(template))
            }
            "comment" => {
                let comment = CommentInput::new("C-900000101", of);
                set.outcome(account.create_comment(comment))
            }
            "list" => {
                let filter = ConsignmentFilter::default();
                let filter = match of.split_once(':') {
                    Some(("first", size)) => filter.page_size(size.parse().unwrap()),
                    Some(("status", status)) => filter.status(status.parse().unwrap()),
                    Some((_, text)) => filter.search_text(text),
                    None => filter,
                };
                let page = account.consignments_page(&filter, None);
                set.outcome_as(page, |page| json!(page.edges.len()))
            }
            "templates" => {
                let page = account.templates_page(&TemplateFilter::default(), None);
                set.outcome_as(page, |page| json!(page.edges.len()))
            }
            "candidates" => {
                let (date, from) = of.split_once(" from ").unwrap_or((&of, ""));
                let search = account.candidates(&input().movement(date, "05:15"));
                let is_bounded = !from.is_empty();
                let search = if is_bounded {
                    search.from(from)
                } else {
                    search
                };
                set.run(search.find(), |all| json!(all))
            }
            "pdf" => {
                let address = PdfUrl::from(of.replace("<service>", &self.server.url()));
                set.run(client.pdf(&address), |pdf| json!(pdf.len()))
            }
            "discover" => {
                let fake = self.fake.as_ref().unwrap();
                let provider = Provider::builder(fake.client_id()).issuer(fake.issuer());
                let provider = provider.redirect_uri(fake.redirect_uri());
                let provider = provider.clock(self.clock.clone()).discover();
                Box::pin(async {
                    let provider = provider.await?.build().map(drop);
                    provider.map(|()| (Value::Null, 1, None))
                })
            }
            other => panic!("no call {other}"),
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

fn call_register(register: &Register, name: &str, of: &str, set: &Set<'_>) -> Running {
    let pic = || Pic::parse(of).unwrap();
    match name {
        "lookup" => set.run(register.lookup(&pic()), |it| found(&it).into()),
        "property" => set.run(register.property(&pic()), |it| json!(it.map(|it| it.pic))),
        "since" => {
            let call = register.lookup_since(&pic(), SystemTime::UNIX_EPOCH);
            set.run(call, |it| match it {
                IfModified::Changed { value, .. } => found(&value).into(),
                _ => "unchanged".into(),
            })
        }
        "many" => {
            let many = register.lookup_many(of.split(' ')).concurrency(1).collect();
            let shown =
                |it: Result<Lookup>| it.map_or_else(|error| reported(&error), |it| found(&it));
            Box::pin(async move {
                let many = many.await.into_iter().map(|it| shown(it.result));
                Ok((many.collect(), 1, None))
            })
        }
        "search" => {
            let mut pager = register.search(&PropertySearch::text(of));
            Box::pin(async move {
                let page = pager.next_page().await?;
                Ok((page.unwrap().records.len().into(), 1, None))
            })
        }
        _ => {
            let mut words = of.split(' ');
            let path = words.next().unwrap();
            let parameters: Vec<_> = words.filter_map(|it| it.split_once('=')).collect();
            set.run(register.get(path, &parameters), |value| value)
        }
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
    type Does = Vec<String>;
    type Sees = Unparsed;
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

    async fn act(&mut self, words: Vec<String>) -> Result<(), Infallible> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = &*words;
        let rest = words[1..].join(" ");
        match words[0] {
            "reply" => {
                let reply = (rest != "never").then(|| reply(&rest));
                self.script.lock().unwrap().0.push(reply);
            }
            "fake" => {
                let fields = words[1..].iter().filter_map(|field| field.split_once('.'));
                let schema = without(&fields.collect::<Vec<_>>());
                let mut builder = fake_builder().schema(schema);
                if let Some(user) = rest.strip_prefix("user=") {
                    let is_new = user == "New";
                    builder = builder.user(if is_new { User::New } else { User::Receiver });
                }
                let fake = builder.start().await.unwrap();
                self.clock = fake.clock().clone();
                self.fake = Some(fake);
            }
            "on" => {
                let fake = self.fake.as_ref().unwrap();
                let times = words
                    .last()
                    .and_then(|word| word.strip_prefix('x')?.parse().ok());
                let end = words.len() - usize::from(times.is_some());
                let fault = fault(&words[2..end].join(" "));
                let on = if words[1].starts_with('/') {
                    fake.on_path(words[1])
                } else {
                    fake.on_operation(words[1])
                };
                on.fault(fault).times(times.unwrap_or(1));
            }
            "with" => {
                let setting = (words[1].to_owned(), words[2..].join(" "));
                self.settings.push(setting);
                (self.client, self.register) = (None, None);
            }
            "as" => {
                let client = self.client.clone();
                let register = self.register.clone();
                let first = || (client.clone(), register.clone());
                self.users.entry("one".to_owned()).or_insert_with(first);
                let (client, register) = first();
                let client = client.map(|it| it.with_token_source(Tokens::new(&rest)));
                let register = register.map(|it| it.with_token_source(Tokens::new(&rest)));
                let user = self.users.entry(rest).or_insert((client, register));
                (self.client, self.register) = user.clone();
            }
            "request" => {
                let one = self.client().unwrap();
                self.users
                    .entry("one".to_owned())
                    .or_insert((Some(one.clone()), None));
                self.client = Some(one.with_token_source(Tokens::new(&rest)));
            }
            "advance" => self.clock.advance(span(&rest)),
            "until" => {
                let count: usize = words[2].parse().unwrap();
                match words[1] {
                    "sent" => until(|| self.sent() >= count).await,
                    _ => until(|| self.clock.sleepers() >= count).await,
                }
            }
            "end_pause" => {
                self.client.iter().for_each(Client::end_pause);
                self.register.iter().for_each(Register::end_pause);
            }
            "forget" => self.register.as_ref().unwrap().forget(),
            "drop" => self.running.pop_front().unwrap().abort(),
            "done" => self.came = self.running.pop_front().unwrap().await.unwrap(),
            "start" => {
                if self.running.is_empty() {
                    self.before = self.count();
                }
                let call = self.call(&words[1..]).unwrap();
                self.running.push_back(tokio::spawn(call));
                tokio::task::yield_now().await;
            }
            _ => {
                self.before = self.count();
                self.came = match self.call(words) {
                    Ok(call) => call.await,
                    Err(error) => Err(error),
                };
            }
        }
        Ok(())
    }

    async fn see(&mut self, _: &Unparsed, expected: &str) -> String {
        let words: Vec<&str> = expected.split(' ').collect();
        let words = &*words;
        let word = words[0];
        let rest = words[1..].join(" ");
        let found = |is_so: bool, text: &str| if is_so { &rest } else { text }.to_owned();
        let none = || "none".to_owned();
        let seen = match word {
            "sent" => self.sent().to_string(),
            "waits" => {
                take_turns().await;
                return match self.running.iter().filter(|it| it.is_finished()).count() {
                    0 => word.to_owned(),
                    ended => format!("{ended} ended"),
                };
            }
            "tokens" => {
                let requests = self.server.requests();
                let sent = requests[self.before..].iter();
                let sent = sent.map(|it| it.header("authorization").unwrap_or("none"));
                sent.collect::<Vec<_>>().join(" ").replace("Bearer ", "")
            }
            "paths" => {
                let requests = self.fake.as_ref().unwrap().requests();
                let sent = requests[self.before..].iter().map(Received::path);
                sent.collect::<Vec<_>>().join(" ")
            }
            "target" => self.last().target().to_owned(),
            "header" => {
                let last = self.last();
                format!("{} {}", words[1], last.header(words[1]).unwrap_or("none"))
            }
            "sends" => {
                let body: Value = serde_json::from_str(&self.last().body).unwrap();
                format!("{} {}", words[1], part(Some(&body), words[1]))
            }
            "value" => {
                let part = part(self.value(), words[1].trim_end_matches('.'));
                format!("{} {part}", words[1])
            }
            "chosen" => self
                .value()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            "count" => self.value().unwrap().as_array().unwrap().len().to_string(),
            "late" => {
                let controls = self.fake.as_ref().unwrap().controls();
                controls.process_late_requests().to_string()
            }
            "left_out" => {
                let operations = self.client.as_ref().unwrap().profile().operations;
                listed(operations.values().flat_map(|it| it.value.left_out.clone()))
            }
            "paused" => {
                let client = self.client.as_ref().and_then(Client::paused_for);
                time(client.or_else(|| self.register.as_ref()?.paused_for()))
            }
            "id" => self.came.as_ref().unwrap().2.clone().unwrap(),
            "kind" => format!("{:?}", self.error().kind()),
            "status" => self.error().http_status().unwrap_or_default().to_string(),
            "after" => time(self.error().retry_after()),
            "operation" => self.error().operation().unwrap_or_default().to_owned(),
            "path" => self.error().json_path().unwrap_or_default().to_owned(),
            "data" => self.error().raw_data().map_or_else(none, Value::to_string),
            "message" => self.error().server_message().map_or_else(none, Into::into),
            "says" => {
                let said = self.error().to_string();
                found(said.contains(&rest), &said)
            }
            "reports" | "lacks" => {
                let report = self.error().report();
                found(report.contains(&rest) == (word == "reports"), &report)
            }
            "hides" => {
                let shown = format!("{} {:?}", self.error(), self.error());
                found(!shown.contains(&rest), &shown)
            }
            _ => return self.verdict(),
        };
        format!("{word} {seen}")
    }
}
