//! Calls at a service with scripted replies, or at a fake: what is sent, and what comes of it, as tables of scenarios.
//!
//! | step | meaning |
//! | --- | --- |
//! | `reply 503 retry-after=0 {..}` | the next reply: a status, headers, and a body; the last one is repeated |
//! | `reply close`, `never`, `raw HTTP/1.1\r\n`, `pics QAZZ7777` | the end of the connection, none, these bytes, a page of the register |
//! | `fake`, `fake Comment.role` | a fake instead, perhaps without fields of its schema |
//! | `with token old/new`, `retry 9`, `header x-a=b`, .. | a setting of client and register |
//! | `with document copyConsignment mutation ..` | a document in place of ours; `moved` has the place of its record first |
//! | `copy c-1 idempotent deadline=5s x-a=b` | a call, with its settings and headers; `optional`, `once` for no retries, `holds=1` for `only_if` |
//! | `start copy c-1`, `done`, `drop` | a call that runs; the first one that runs has ended, or is dropped |
//! | `advance 5s`, `until sent 1`, `until asleep 1` | the clock, or waits for it |
//! | `as two`, `end_pause`, `forget` | another user of the same connections; the pause and the cache of the register |
//!
//! What is seen of the last call is `ok x2`, with its attempts, or a kind of error; `unsent` has no attempt, `?` may have been carried
//! out, `again` is worth a retry. `sent 2` are its requests, `value /id "c-2"` is a part of what came, `sends /variables {..}` of the
//! last body, `header x-a b` of the last head; `says` is in the text of the error, `reports` in its report, `hides` in neither text
//! nor `Debug`.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::fake::Fake;
use envd_sdk::model::{
    CommentInput, ConsignmentInput, FormType, PartyInput, PdfUrl, Pic, TemplateInput,
};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::profile::ServiceProfile;
use envd_sdk::register::{IfModified, Lookup, PropertySearch, Register};
use envd_sdk::{Call, Client, Clock, Error, HttpOptions, Outcome, Result, RetryPolicy};
use equipment::script::{Stage, listed, span};
use equipment::{Reply, Request, Server, refusing_address};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::adapted::without;
use crate::fixed_date::fake_builder;
use crate::gzip::gzip;
use crate::profiles::{moved, paged_from};
use crate::scripted::{client_at, register_at, take_turns, until};

/// An error in a few words.
pub(crate) fn told(error: &Error) -> String {
    let mut told = format!("{:?}", error.kind());
    match error.attempts() {
        0 => told += " unsent",
        1 => {}
        attempts => told.extend([" x", &attempts.to_string()]),
    }
    told += if error.may_have_applied() { " ?" } else { "" };
    told + if error.is_retryable() { " again" } else { "" }
}

/// A token, and the one after its refusal.
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

struct Done {
    value: Value,
    attempts: u32,
    request_id: Option<String>,
}

type Running = Pin<Box<dyn Future<Output = Result<Done>> + Send>>;

/// The replies, and how many were sent.
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
    running: VecDeque<JoinHandle<Result<Done>>>,
    /// How many requests there were before the last call.
    before: usize,
    came: Result<Done>,
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
    let status = word.parse::<u16>().ok();
    let mut rest = status.map_or(text, |_| rest);
    let (mut reply, mut is_typed) = (Reply::new(status.unwrap_or(200)), false);
    while let Some((name, value)) = rest.split(' ').next().unwrap().split_once('=')
        && name.bytes().all(|it| it == b'-' || it.is_ascii_lowercase())
    {
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
        if name == "gzip" {
            let reply = reply.header("content-encoding", "gzip");
            return reply
                .header("content-type", "application/json")
                .body(compressed(value, rest));
        }
        is_typed |= name == "content-type";
        reply = reply.header(name, value.replace('_', " "));
    }
    if rest.starts_with(['{', '[']) && !is_typed {
        reply = reply.header("content-type", "application/json");
    }
    reply.body(rest)
}

fn compressed(how: &str, body: &str) -> Vec<u8> {
    let mut bytes = gzip(body.as_bytes());
    match how {
        "cut" => bytes.truncate(bytes.len() - 9),
        "damaged" => {
            // In the checksum.
            let at = bytes.len() - 8;
            bytes[at] ^= 1;
        }
        "twice" => bytes = gzip(&bytes),
        _ => {}
    }
    bytes
}

/// A call with its settings, and how its value is shown.
fn run<T: Send + 'static>(
    call: Call<T>,
    settings: &[&str],
    shown: impl FnOnce(T) -> Value + Send + 'static,
) -> Running {
    let call = settings
        .iter()
        .fold(call, |call, setting| match setting.split_once('=') {
            None if *setting == "idempotent" => call.idempotent(),
            None => call.retry(RetryPolicy::none()),
            Some(("deadline", time)) => call.deadline(span(time)),
            Some(("holds", times)) => {
                let (times, asked) = (times.parse().unwrap(), AtomicUsize::new(0));
                call.only_if(move || asked.fetch_add(1, Ordering::Relaxed) < times)
            }
            Some((name, value)) => call.header(name, value),
        });
    let response = call.response();
    Box::pin(async move {
        let response = response.await?;
        let (attempts, request_id) = (response.attempts, response.request_id);
        let value = shown(response.value);
        Ok(Done {
            value,
            attempts,
            request_id,
        })
    })
}

fn run_outcome<T: Serialize + Send + 'static>(
    call: Call<Outcome<T>>,
    settings: &[&str],
) -> Running {
    if settings.contains(&"optional") {
        let settings: Vec<_> = settings
            .iter()
            .copied()
            .filter(|it| *it != "optional")
            .collect();
        return run(call.optional(), &settings, |outcome| json!(outcome.value));
    }
    run(call, settings, |outcome| json!(outcome.value))
}

fn found(lookup: &Lookup) -> String {
    match lookup {
        Lookup::Found(property) => property.pic.clone().unwrap(),
        Lookup::Several(all) => format!("{} records", all.len()),
        other => format!("{other:?}"),
    }
}

pub(crate) fn input() -> ConsignmentInput {
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([FormType::Lpac1], from, to)
}

impl Calls {
    fn client(&mut self) -> Result<Client> {
        if self.client.is_none() {
            let mut builder = match &self.fake {
                Some(fake) => fake.client(),
                None => client_at(self.address()).token_source(Tokens::new("b34r3r")),
            };
            builder = builder
                .clock(self.clock.clone())
                .http(self.http())
                .retry(self.retry());
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
                    "profile" => builder.profile(&ServiceProfile::from_json(value).unwrap()),
                    _ => builder,
                };
            }
            self.client = Some(builder.build()?);
        }
        Ok(self.client.clone().unwrap())
    }

    fn register(&mut self) -> Result<Register> {
        if self.register.is_none() {
            let mut builder = register_at(self.address());
            builder = builder
                .clock(self.clock.clone())
                .http(self.http())
                .retry(self.retry());
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
            self.register = Some(builder.build()?);
        }
        Ok(self.register.clone().unwrap())
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
        let mut http = HttpOptions::default().gzip(self.setting("gzip") != Some("off"));
        if let Some(bytes) = self.setting("limit") {
            http = http.max_body_bytes(bytes.parse().unwrap());
        }
        match self.setting("at_most") {
            Some(requests) => http.max_concurrent_requests(requests.parse().unwrap()),
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

    fn count(&self) -> usize {
        let of_fake = self.fake.as_ref().map(|fake| fake.requests().len());
        of_fake.unwrap_or_else(|| self.server.count())
    }

    fn call(&mut self, words: &[&str]) -> Result<Running> {
        let is_setting = |word: &&&str| {
            let is_header = word.split_once('=').is_some_and(|(name, _)| {
                name.bytes().all(|it| it == b'-' || it.is_ascii_lowercase())
            });
            is_header || ["idempotent", "once", "optional"].contains(*word)
        };
        let settings: Vec<&str> = words.iter().filter(is_setting).copied().collect();
        let settings = &settings[..];
        let words: Vec<&str> = words.iter().filter(|it| !is_setting(it)).copied().collect();
        let of = words[1..].join(" ");
        if let Some(call) = self.call_register(words[0], &of, settings) {
            return call;
        }
        let client = self.client()?;
        let account = match &self.fake {
            Some(fake) => client.account(fake.account_id()),
            None => client.account("envd-1"),
        };
        Ok(match words[0] {
            "query" | "mutation" => {
                let document = format!("{} A {{ a }}", words[0]);
                let variables: Value = serde_json::from_str(&of).unwrap_or_else(|_| json!({}));
                run_outcome(
                    client.execute_document::<Value>(&document, "A", &variables),
                    settings,
                )
            }
            "own" => {
                let name = of.split([' ', '(']).nth(1).unwrap();
                run_outcome(
                    client.execute_document::<Value>(&of, name, &json!({})),
                    settings,
                )
            }
            "user" => run_outcome(client.user_details(), settings),
            "questions" => run(client.questions(), settings, |list| json!(list.value.items)),
            "consignment" => run_outcome(account.consignment(&*of), settings),
            "comments" => run_outcome(account.comments(&*of), settings),
            "copy" => run_outcome(account.copy_consignment(&*of), settings),
            "delete" => run_outcome(account.delete_consignment(&*of), settings),
            "delete_template" => run_outcome(account.delete_template(&*of), settings),
            "save" => {
                let mut input = input();
                if !of.is_empty() {
                    input.id = of.into();
                }
                run_outcome(account.save_consignment(input), settings)
            }
            "save_template" => {
                let template = TemplateInput::new(of, [FormType::Lpac1]);
                run_outcome(account.save_template(template), settings)
            }
            "comment" => {
                let comment = CommentInput::new("C-900000101", of);
                run_outcome(account.create_comment(comment), settings)
            }
            "list" => {
                let mut filter = ConsignmentFilter::default();
                for (name, value) in of.split(' ').filter_map(|it| it.split_once(':')) {
                    filter = match name {
                        "first" => filter.page_size(value.parse().unwrap()),
                        "status" => filter.status(value.parse().unwrap()),
                        _ => filter.search_text(value),
                    };
                }
                let page = account.consignments_page(&filter, None);
                run(page, settings, |page| json!(page.value.edges.len()))
            }
            "templates" => {
                let page = account.templates_page(&TemplateFilter::default(), None);
                run(page, settings, |page| json!(page.value.edges.len()))
            }
            "candidates" => {
                let (date, from) = of.split_once(" from ").unwrap_or((&of, ""));
                let search = account.candidates(&input().movement(date, "05:15"));
                let search = match from {
                    "" => search,
                    from => search.from(from),
                };
                run(search.find(), settings, |all| json!(all))
            }
            "pdf" => {
                let address = PdfUrl::from(of.replace("<service>", &self.server.url()));
                run(client.pdf(&address), settings, |pdf| json!(pdf.len()))
            }
            other => panic!("no call {other}"),
        })
    }

    fn call_register(
        &mut self,
        name: &str,
        of: &str,
        settings: &[&str],
    ) -> Option<Result<Running>> {
        if !["lookup", "property", "since", "many", "search", "get"].contains(&name) {
            return None;
        }
        let register = match self.register() {
            Ok(register) => register,
            Err(error) => return Some(Err(error)),
        };
        let pic = || Pic::parse(of).unwrap();
        let ended = |ended: Result<Value>| {
            ended.map(|value| Done {
                value,
                attempts: 1,
                request_id: None,
            })
        };
        Some(Ok(match name {
            "lookup" => run(register.lookup(&pic()), settings, |it| found(&it).into()),
            "property" => run(register.property(&pic()), settings, |it| {
                json!(it.map(|it| it.pic))
            }),
            "since" => run(
                register.lookup_since(&pic(), SystemTime::UNIX_EPOCH),
                settings,
                |it| match it {
                    IfModified::Changed { value, .. } => found(&value).into(),
                    _ => "unchanged".into(),
                },
            ),
            "many" => {
                let many = register.lookup_many(of.split(' ')).concurrency(1).collect();
                Box::pin(async move {
                    let many = many.await.into_iter().map(|it| match it.result {
                        Ok(lookup) => found(&lookup),
                        Err(error) => told(&error),
                    });
                    ended(Ok(many.collect()))
                })
            }
            "search" => {
                let mut pager = register.search(&PropertySearch::text(of));
                Box::pin(async move {
                    let page = pager.next_page().await;
                    ended(page.map(|page| page.unwrap().records.len().into()))
                })
            }
            _ => {
                let mut words = of.split(' ');
                let path = words.next().unwrap();
                let parameters: Vec<_> = words.filter_map(|it| it.split_once('=')).collect();
                run(register.get(path, &parameters), settings, |value| value)
            }
        }))
    }

    fn error(&self) -> &Error {
        self.came.as_ref().err().expect("an error")
    }

    /// The last request, of a fake without its head.
    fn last(&self) -> Request {
        let Some(fake) = &self.fake else {
            return self.server.requests().last().unwrap().clone();
        };
        let (head, body) = (
            String::new(),
            fake.requests().last().unwrap().body().to_vec(),
        );
        let body = String::from_utf8(body).unwrap();
        Request { head, body }
    }
}

fn part(value: &Value, pointer: &str) -> String {
    value
        .pointer(pointer)
        .map_or("none".to_owned(), Value::to_string)
}

fn time(time: Option<Duration>) -> String {
    format!("{}s", time.unwrap_or_default().as_secs())
}

impl Stage for Calls {
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
            came: Ok(Done {
                value: Value::Null,
                attempts: 0,
                request_id: None,
            }),
        }
    }

    async fn act(&mut self, words: &[&str]) -> Result<(), Infallible> {
        let rest = words[1..].join(" ");
        match words[0] {
            "reply" => {
                let reply = (rest != "never").then(|| reply(&rest));
                self.script.lock().unwrap().0.push(reply);
            }
            "fake" => {
                let fields = words[1..].iter().filter_map(|field| field.split_once('.'));
                let schema = without(&fields.collect::<Vec<_>>());
                self.fake = Some(fake_builder().schema(schema).start().await.unwrap());
                self.clock = self.fake.as_ref().unwrap().clock().clone();
            }
            "with" => {
                self.settings
                    .push((words[1].to_owned(), words[2..].join(" ")));
                (self.client, self.register) = (None, None);
            }
            "as" => {
                let same = (self.client.clone(), self.register.clone());
                self.users
                    .entry("one".to_owned())
                    .or_insert_with(|| same.clone());
                let other = || {
                    let client = same.0.map(|it| it.with_token_source(Tokens::new(&rest)));
                    (
                        client,
                        same.1.map(|it| it.with_token_source(Tokens::new(&rest))),
                    )
                };
                let user = self.users.entry(rest.clone()).or_insert_with(other);
                (self.client, self.register) = user.clone();
            }
            "advance" => self.clock.advance(span(&rest)),
            "until" => {
                let count: usize = words[2].parse().unwrap();
                match words[1] {
                    "sent" => until(|| self.count() - self.before >= count).await,
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

    async fn see(&mut self, words: &[&str]) -> String {
        let (word, rest) = (words[0], words[1..].join(" "));
        let first = || words[1].to_owned();
        let found = |is_so: bool, text: String| if is_so { rest.clone() } else { text };
        let seen = match word {
            "sent" => (self.count() - self.before).to_string(),
            "waits" => {
                take_turns().await;
                let ended = self.running.iter().filter(|it| it.is_finished()).count();
                return if ended == 0 {
                    "waits".to_owned()
                } else {
                    format!("{ended} ended")
                };
            }
            "tokens" => {
                let requests = self.server.requests();
                let sent = requests[self.before..].iter();
                listed(sent.map(|it| it.header("authorization").unwrap_or("none")))
                    .replace("Bearer ", "")
                    .replace(" + ", " ")
            }
            "target" => self.last().target().to_owned(),
            "header" => format!(
                "{} {}",
                first(),
                self.last().header(words[1]).unwrap_or("none")
            ),
            "sends" => {
                let body: Value = serde_json::from_str(&self.last().body).unwrap();
                format!("{} {}", first(), part(&body, words[1]))
            }
            "value" => {
                let came = self.came.as_ref().map_or(&Value::Null, |done| &done.value);
                let part = came.pointer(words[1].trim_end_matches('.'));
                let is_there = part.filter(|_| self.came.is_ok());
                format!(
                    "{} {}",
                    first(),
                    is_there.map_or("none".to_owned(), Value::to_string)
                )
            }
            "left_out" => {
                let operations = self.client.as_ref().unwrap().profile().operations;
                listed(operations.values().flat_map(|it| it.value.left_out.clone()))
            }
            "paused" => {
                let client = self.client.as_ref().and_then(Client::paused_for);
                time(client.or_else(|| self.register.as_ref().and_then(Register::paused_for)))
            }
            "id" => self.came.as_ref().unwrap().request_id.clone().unwrap(),
            "status" => self.error().http_status().unwrap_or_default().to_string(),
            "after" => time(self.error().retry_after()),
            "operation" => self.error().operation().unwrap_or_default().to_owned(),
            "path" => self.error().json_path().unwrap_or_default().to_owned(),
            "data" => self
                .error()
                .raw_data()
                .map_or("none".to_owned(), Value::to_string),
            "message" => self
                .error()
                .server_message()
                .map_or("none".to_owned(), |it| it.to_string()),
            "says" => found(
                self.error().to_string().contains(&rest),
                self.error().to_string(),
            ),
            "reports" => found(self.error().report().contains(&rest), self.error().report()),
            "lacks" => found(
                !self.error().report().contains(&rest),
                self.error().report(),
            ),
            "hides" => {
                let shown = format!("{} {:?}", self.error(), self.error());
                found(!shown.contains(&rest), shown)
            }
            _ => {
                return match &self.came {
                    Ok(Done { attempts: 1, .. }) => "ok".to_owned(),
                    Ok(done) => format!("ok x{}", done.attempts),
                    Err(error) => told(error),
                };
            }
        };
        format!("{word} {seen}")
    }
}
