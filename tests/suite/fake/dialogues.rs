//! Dialogues with a fake over HTTP, without the client of this crate. Each table in this folder has scenarios.
//!
//! | line | meaning |
//! | --- | --- |
//! | a sentence at the margin | the name of a scenario, with its steps indented below |
//! | `each: with ..` | a first step of all scenarios after it |
//! | `let word = text` | `word rest` stands for the text, with the rest instead of `%` |
//! | `for <a> <b> = 1 2 \| 3 4` | the scenario runs once for each alternative |
//! | `{ .. }`, `query ..`, `mutation ..` | a document, executed with `<token>`; its variables follow after ` \| ` |
//! | `GET /path [header: value]`, `POST ..` | another request; the header `-` is not sent |
//! | `step -> expected; more` | a status, `@header value`, `path value`, a complete body, or `is` with a file of `tests/fixtures` |
//!
//! The words of the other steps are in [`words`]. A table is parsed before its first step runs: an unknown word, or a name that
//! nothing has introduced, is an error with its place.
//!
//! A path of a document starts in its data, which must have no errors, unless a status is expected (`any` for any status). If
//! it starts with a dot, it starts below the only field. `"<name>"` stores the value and later compares with it; `"!x"` is any
//! text except x, `"*"` anything except null, `"..x.."` a text that contains x.

mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use envd_sdk::Clock;
use envd_sdk::fake::{Fake, FakeBuilder, User, UserRecord, WebsiteEdit, World};
use serde_json::{Value, json};
use test_support::script::{
    Refusal, Rest, Table, Vocabulary, Words, misspelled, names_the_words, within,
};
use test_support::table;
use url::Url;

use self::words::{Assumption, Deletion, EarlyEdit, Setting, Total, Verb, YesNo};
use super::http::{at, fixture_day};
use crate::fixed_date::{fake_builder, fixture};
use crate::profiles::paged_from;
use crate::wire::{self, Raw};

/// The time between two edits on the website.
const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn records_are_listed_read_changed_copied_and_deleted() {
    play(table!("records.txt")).await;
}

#[tokio::test]
async fn lists_follow_each_of_the_assumptions_that_the_specification_allows() {
    play(table!("lists.txt")).await;
}

#[tokio::test]
async fn the_website_edits_before_and_between_the_requests_of_a_client() {
    play(table!("website.txt")).await;
}

#[tokio::test]
async fn requests_are_served_and_refused_as_graphql_and_its_audits_say() {
    play(table!("requests.txt")).await;
}

#[tokio::test]
async fn the_register_answers() {
    play(table!("register.txt")).await;
}

#[tokio::test]
async fn the_provider_issues_rotates_and_revokes_tokens() {
    play(table!("login.txt")).await;
}

#[tokio::test]
async fn the_provider_serves_devices() {
    play(table!("device.txt")).await;
}

type Known = BTreeMap<String, String>;

/// Texts that each fake names.
const NAMES_OF_THE_FAKE: [&str; 9] = [
    "account",
    "audience",
    "client",
    "issuer",
    "logout",
    "new_user",
    "redirect",
    "return_to",
    "token",
];

/// The words with which documents and requests begin.
const REQUESTS: [&str; 6] = ["{", "query", "mutation", "GET", "HEAD", "POST"];

/// A line of a table, without the words of the alternative.
struct Line {
    number: usize,
    does: String,
    sees: Vec<String>,
}

struct Step {
    /// The place and the text.
    text: String,
    does: Does,
    sees: Vec<String>,
}

/// A scenario with one alternative.
struct Scenario {
    name: String,
    known: Known,
    steps: Vec<Step>,
}

enum Does {
    With(Setting),
    Document(String),
    /// The method, and the path with headers and body.
    Request(&'static str, String),
    Verb(Verb),
}

impl Does {
    /// Parses a step that starts with none of the words of the table.
    fn parse(text: &str, lets: &Known) -> Result<Self, Refusal> {
        if let Some(setting) = text.strip_prefix("with ") {
            return Words::parse(setting).map(Self::With);
        }
        for method in ["GET", "HEAD", "POST"] {
            if let Some(rest) = text
                .strip_prefix(method)
                .and_then(|it| it.strip_prefix(' '))
            {
                return Ok(Self::Request(method, rest.to_owned()));
            }
        }
        let mut documents = ["{ ", "query ", "query(", "mutation ", "mutation("].iter();
        if documents.any(|start| text.starts_with(start)) {
            return Ok(Self::Document(text.to_owned()));
        }
        let lets = lets.keys().map(String::as_str);
        let others: Vec<&str> = REQUESTS.into_iter().chain(["with"]).chain(lets).collect();
        let mut words = Words::new(text);
        let verb = words.phrase_or(&others)?;
        words.end()?;
        Ok(Self::Verb(verb))
    }
}

/// The parts of a table.
#[derive(Default)]
struct Lines {
    lets: Known,
    first: Vec<(usize, String)>,
    scenarios: Vec<(String, Vec<Line>)>,
}

impl Lines {
    fn read(text: &str) -> Self {
        let mut all = Self::default();
        let lines = (1..).zip(text.lines());
        for (number, line) in lines.filter(|(_, line)| !line.trim_start().starts_with('#')) {
            let (does, sees) = line.split_once("-> ").unwrap_or((line, ""));
            let sees = Some(sees.to_owned()).filter(|sees| !sees.is_empty());
            let does = does.trim().to_owned();
            let word = line.strip_prefix("let ");
            if let Some((word, text)) = word.and_then(|it| it.split_once(" = ")) {
                all.lets.insert(word.to_owned(), text.to_owned());
            } else if let Some(step) = line.strip_prefix("each: ") {
                all.first.push((number, step.to_owned()));
            } else if !line.starts_with(' ') && !line.is_empty() {
                let first = all.first.iter().map(|(number, does)| Line {
                    number: *number,
                    does: does.clone(),
                    sees: Vec::new(),
                });
                let first = first.collect();
                all.scenarios.push((line.to_owned(), first));
            } else if let Some((_, lines)) = all.scenarios.last_mut() {
                match lines.last_mut() {
                    Some(last) if does.is_empty() => last.sees.extend(sees),
                    _ => lines.push(Line {
                        number,
                        does,
                        sees: sees.into_iter().collect(),
                    }),
                }
            }
        }
        all
    }
}

/// Parses a table. Returns all errors if there are any, with their places.
fn parse(table: &Table) -> Result<Vec<Scenario>, String> {
    let lines = Lines::read(table.text);
    let mut scenarios = Vec::new();
    let mut refused = Vec::new();
    for (name, lines_of) in &lines.scenarios {
        refused.extend(unknown_names(table, lines_of, &lines.lets));
        for known in alternatives(lines_of) {
            let mut steps = Vec::new();
            for line in lines_of
                .iter()
                .filter(|line| !line.does.starts_with("for "))
            {
                let does = filled(&line.does, &known);
                let (word, rest) = does.split_once(' ').unwrap_or((&does, ""));
                let of_let = lines.lets.get(word).map(|text| text.replace('%', rest));
                let does = filled(&of_let.unwrap_or(does.clone()), &known);
                let place = format!("{}:{}", table.file, line.number);
                match Does::parse(&does, &lines.lets) {
                    Ok(parsed) => steps.push(Step {
                        text: format!("{place}: {}", line.does),
                        does: parsed,
                        sees: line.sees.clone(),
                    }),
                    Err(refusal) => refused.push(format!("{place}: {refusal}")),
                }
            }
            scenarios.push(Scenario {
                name: name.clone(),
                known,
                steps,
            });
        }
    }
    refused.dedup();
    if refused.is_empty() {
        Ok(scenarios)
    } else {
        Err(refused.join("\n"))
    }
}

/// Names that are inserted, and that nothing in the scenario has introduced.
fn unknown_names(table: &Table, lines: &[Line], lets: &Known) -> Vec<String> {
    let introduces = |line: &Line| {
        let has_names = ["for ", "insert "]
            .iter()
            .any(|it| line.does.starts_with(it));
        let does = if has_names { &*line.does } else { "" };
        names_in(&[does, &line.sees.join(" ")].concat())
    };
    let known: BTreeSet<String> = lines.iter().flat_map(introduces).collect();
    let of_fake = NAMES_OF_THE_FAKE.map(str::to_owned);
    let known: BTreeSet<String> = known.into_iter().chain(of_fake).collect();
    let mut refused = Vec::new();
    for line in lines {
        let word = line.does.split(' ').next().unwrap_or_default();
        let of_let = lets.get(word).map_or("", String::as_str);
        let used = names_in(&[&*line.does, of_let].concat());
        for name in used.iter().filter(|name| !known.contains(*name)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let known = known.join(", ");
            let place = format!("{}:{}", table.file, line.number);
            refused.push(format!(
                "{place}: <{name}> is no name; the names are: {known}"
            ));
        }
    }
    refused
}

/// The names in angle brackets.
fn names_in(text: &str) -> Vec<String> {
    let names = text.split('<').skip(1);
    let names = names.filter_map(|rest| Some(rest.split_once('>')?.0));
    let is_name = |name: &&str| {
        let mut letters = name.bytes();
        !name.is_empty() && letters.all(|it| it == b'_' || it.is_ascii_lowercase())
    };
    names.filter(is_name).map(str::to_owned).collect()
}

/// Fills in the known words.
fn filled(text: &str, known: &Known) -> String {
    let mut text = text.to_owned();
    // Repeat, because the value of a word may contain other words.
    for _ in 0..3 {
        for (name, value) in known {
            text = text.replace(&format!("<{name}>"), value);
        }
    }
    text
}

/// Runs all scenarios of a table. For each failure it prints the step, and the expected and actual values.
async fn play(table: Table) {
    let scenarios = parse(&table).unwrap_or_else(|refused| panic!("\n{refused}"));
    assert!(scenarios.len() > 3);
    let mut failed = Vec::new();
    for Scenario { name, known, steps } in scenarios {
        let mut dialogue = Dialogue::new(known);
        for step in steps {
            let text = step.text.clone();
            if let Err(why) = within(&name, dialogue.play(step)).await {
                failed.push(format!("{name}\n  {text}\n  {why}"));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n\n"));
}

fn alternatives(lines: &[Line]) -> Vec<Known> {
    let alternatives = lines.iter().find_map(|line| line.does.strip_prefix("for "));
    let Some((names, alternatives)) = alternatives.and_then(|it| it.split_once(" = ")) else {
        return vec![Known::new()];
    };
    let names: Vec<&str> = names
        .split(' ')
        .map(|name| &name[1..name.len() - 1])
        .collect();
    let words = |alternative: &str| {
        let values = alternative.trim().splitn(names.len(), ' ');
        let pairs = names.iter().zip(values);
        pairs
            .map(|(name, value)| ((*name).to_owned(), value.to_owned()))
            .collect()
    };
    alternatives.split(" | ").map(words).collect()
}

struct Dialogue {
    known: Known,
    clock: Clock,
    builder: Option<FakeBuilder>,
    fake: Option<Fake>,
    seen: Seen,
}

/// The last reply, or the result of a step.
#[derive(Default)]
struct Seen {
    reply: Option<Raw>,
    body: Value,
    is_document: bool,
}

impl Dialogue {
    fn new(known: Known) -> Self {
        let clock = fixture_day();
        let builder = Some(fake_builder().clock(clock.clone()));
        let seen = Seen::default();
        Self {
            known,
            clock,
            builder,
            fake: None,
            seen,
        }
    }

    async fn play(&mut self, step: Step) -> Result<(), String> {
        if let Does::With(setting) = step.does {
            let builder = self
                .builder
                .take()
                .expect("a setting before the first step");
            self.builder = Some(self.set(builder, setting));
            return Ok(());
        }
        if self.fake.is_none() {
            self.start().await;
        }
        self.act(step.does).await;
        for sees in &step.sees {
            // A text that is a single word may be a name.
            let kept = |text: &str| {
                text.replace("\"<", "\"\u{1}")
                    .replace("\"\u{1}", "\"<\u{1}")
            };
            self.see(&self.filled(&kept(sees)).replace('\u{1}', ""))?;
        }
        Ok(())
    }

    fn filled(&self, text: &str) -> String {
        filled(text, &self.known)
    }

    fn set(&mut self, builder: FakeBuilder, setting: Setting) -> FakeBuilder {
        match setting {
            Setting::AccessTokenLifetime(time) => builder.access_token_lifetime(time),
            Setting::Accreditation(name, granted) => builder.accreditation(&name, granted.is_yes()),
            Setting::ClientAssertions => builder.client_assertions(),
            Setting::ClientSecret(secret) => builder.client_secret(secret),
            Setting::Clock(time) => {
                self.clock = Clock::manual(at(&time));
                builder.clock(self.clock.clone())
            }
            Setting::CodeLifetime(time) => builder.code_lifetime(time),
            Setting::FirstPage(index) => builder.profile(&paged_from(index)),
            Setting::NoConsignments => {
                let kim = UserRecord::new("kim@example.com").role("Producer");
                builder.world(World::empty().user(kim.account("envd-7", "LPA", "QAZZ7777")))
            }
            Setting::RefreshOverlap(time) => builder.refresh_overlap(time),
            Setting::RefreshTokenLifetime(time) => builder.refresh_token_lifetime(time),
            Setting::RegisterToken(token) => builder.register_token(token.as_str().into()),
            Setting::ReturnTo(url) => builder.allow_return_to(Url::parse(&url).unwrap()),
            Setting::SampleAnd(Rest(input)) => {
                let input = spread(serde_json::from_str(&input).unwrap());
                builder.world(World::sample().consignment("envd-100201", input))
            }
            Setting::Receiver => builder.user(User::Receiver),
            Setting::Producer => builder.user(User::Producer),
        }
    }

    async fn start(&mut self) {
        let fake = self.builder.take().unwrap().start().await.unwrap();
        for (name, value) in [
            ("account", fake.account_id()),
            ("audience", fake.audience()),
            ("client", fake.client_id()),
            ("issuer", fake.issuer()),
            ("logout", fake.logout_url().as_str()),
            ("new_user", fake.access_token_for(User::New).expose()),
            ("redirect", fake.redirect_uri().as_str()),
            ("return_to", fake.return_to().as_str()),
            ("token", fake.access_token().expose()),
        ] {
            self.known.insert(name.to_owned(), value.to_owned());
        }
        self.fake = Some(fake);
    }

    async fn act(&mut self, does: Does) {
        match does {
            Does::With(_) => unreachable!("a setting is no step of a started fake"),
            Does::Request(method, request) => {
                self.seen = self.send(method, &self.filled(&request)).await;
            }
            Does::Document(document) => {
                let document = self.filled(&document);
                let (query, variables) = document.split_once(" | ").unwrap_or((&document, "null"));
                let variables: Value = serde_json::from_str(variables).unwrap();
                let body = json!({"query": query, "variables": spread(variables)});
                let seen = self.send("POST", &format!("/v2/graphql {body}")).await;
                self.seen = Seen {
                    is_document: true,
                    ..seen
                };
            }
            Does::Verb(verb) => self.act_on(verb).await,
        }
    }

    /// Shows a value as the reply of this step.
    fn show(&mut self, body: impl Into<Value>) {
        let body = body.into();
        self.seen = Seen {
            body,
            ..Seen::default()
        };
    }

    /// Shows true, or the kind of an error.
    fn show_done(&mut self, done: envd_sdk::Result<()>) {
        match done {
            Ok(()) => self.show(true),
            Err(error) => self.show(format!("{:?}", error.kind())),
        }
    }

    async fn act_on(&mut self, verb: Verb) {
        let fake = self.fake.as_ref().unwrap();
        let controls = fake.controls();
        match verb {
            Verb::Accepted(token) => {
                let bearer = self.filled(&format!("[authorization: Bearer {token}]"));
                let body = json!({"query": "{ userDetails { email } }"});
                let request = format!("/v2/graphql {bearer} {body}");
                let sent = self.send("POST", &request).await;
                let status = sent.reply.unwrap().status;
                self.show(status == 200);
            }
            Verb::Authorize(Rest(changes)) => {
                let url = authorization(fake, &self.filled(&changes));
                self.seen = self.send("GET", url.as_str()).await;
            }
            Verb::Approve(code) => {
                let done = fake.approve_device(&self.filled(&code));
                self.show_done(done);
            }
            Verb::Deny(code) => {
                let done = fake.deny_device(&self.filled(&code));
                self.show_done(done);
            }
            Verb::Claims(token) => {
                let token = self.filled(&token);
                let bytes = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap());
                let claims: Value = serde_json::from_slice(&bytes.unwrap()).unwrap();
                self.show(claims);
            }
            Verb::Consent(Rest(changes)) => {
                match fake.consent(&authorization(fake, &self.filled(&changes))) {
                    Ok(url) => self.show(pairs(&url)),
                    Err(error) => self.show_done(Err(error)),
                }
            }
            Verb::Refuse(Rest(changes)) => {
                let url = fake.refuse(&authorization(fake, &self.filled(&changes)));
                self.show(pairs(&url.unwrap()));
            }
            Verb::Held(account) => {
                let held = fake.consignments::<Value>(&self.filled(&account));
                self.show(held);
            }
            Verb::Jwt(Rest(parts)) => {
                let parts = self.filled(&parts);
                let parts = serde_json::Deserializer::from_str(&parts).into_iter::<Value>();
                let parts = parts.map(|part| URL_SAFE_NO_PAD.encode(part.unwrap().to_string()));
                self.show(parts.collect::<Vec<_>>().join(".") + ".c2ln");
            }
            Verb::RequestsForTokens => {
                let count = fake.token_requests();
                self.show(json!({ "count": count }));
            }
            Verb::Typed(code) => {
                let typed = self.filled(&code).replace('-', " ").to_lowercase();
                self.show(typed);
            }
            Verb::Unsigned(token) => {
                let token = self.filled(&token);
                self.show(token.trim_end_matches("c2ln"));
            }
            Verb::Advance(time) => self.clock.advance(time),
            Verb::Assume(assumption) => controls.assume(assumption.assumptions()),
            Verb::BeforeList(account, nth, edit) => {
                let edit = self.early_edit(&edit);
                controls.edit_before_list(&self.filled(&account), nth, edit);
            }
            Verb::DenyLogins(denies) => fake.deny_logins(denies.is_yes()),
            Verb::Expire => fake.expire_access_tokens(),
            Verb::Restore(account) => controls.restore_account(&self.filled(&account)),
            Verb::Revoke(token) => fake.revoke(&self.filled(&token).as_str().into()),
            Verb::RevokeLogins => fake.revoke_logins(),
            Verb::Token(token) => {
                let token = self.filled(&token);
                self.known.insert("token".to_owned(), token);
            }
            Verb::Withdraw(account) => controls.withdraw_account(&self.filled(&account)),
            Verb::Change(record, Rest(fields)) => {
                self.clock.advance(MINUTE);
                self.change(&record, &fields);
            }
            Verb::AlsoChange(record, Rest(fields)) => self.change(&record, &fields),
            Verb::Delete(record) => {
                self.clock.advance(MINUTE);
                drop(fake.edit(
                    &self.known["account"],
                    WebsiteEdit::delete(self.filled(&record)),
                ));
            }
            Verb::Insert(name, Rest(fields)) => {
                self.clock.advance(MINUTE);
                self.insert(&name, &fields);
            }
        }
    }

    /// The fields of an edit, `{}` by default.
    fn fields(&self, text: &str) -> Value {
        match self.filled(text).as_str() {
            "" => json!({}),
            text => serde_json::from_str(text).unwrap(),
        }
    }

    fn early_edit(&self, edit: &EarlyEdit) -> WebsiteEdit {
        match edit {
            EarlyEdit::Insert(Rest(fields)) => WebsiteEdit::insert(self.fields(fields)),
            EarlyEdit::Change(record, Rest(fields)) => {
                WebsiteEdit::change(self.filled(record), self.fields(fields))
            }
        }
    }

    /// Changes a record on the website.
    fn change(&self, record: &str, fields: &str) {
        let fake = self.fake.as_ref().unwrap();
        let edit = WebsiteEdit::change(self.filled(record), self.fields(fields));
        fake.edit(&self.known["account"], edit);
    }

    /// Makes a record on the website, and names its number.
    fn insert(&mut self, name: &str, fields: &str) {
        let fake = self.fake.as_ref().unwrap();
        let account = &self.known["account"];
        let mut input = json!({
            "forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"},
            "movementDate": "2026-11-21",
        });
        let fields = self.fields(fields);
        let members = input.as_object_mut().unwrap();
        members.extend(fields.as_object().unwrap().clone());
        let id = fake.edit(account, WebsiteEdit::insert(input));
        let held: Vec<Value> = fake.consignments(account);
        let made = held.iter().find(|record| record["id"] == *id).unwrap();
        let number = made["number"].as_str().unwrap().to_owned();
        self.known
            .insert(name[1..name.len() - 1].to_owned(), number);
    }

    async fn send(&self, method: &str, request: &str) -> Seen {
        let (path, rest) = request.split_once(' ').unwrap_or((request, ""));
        let (headers, body) = match rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
            Some((headers, body)) if headers.contains(": ") => (headers, body.trim_start()),
            _ => ("", rest),
        };
        let bearer = format!("Bearer {}", self.known["token"]);
        let json = if body.starts_with(['{', '[']) {
            "json"
        } else {
            "x-www-form-urlencoded"
        };
        let media_type = format!("application/{json}");
        let mut all = Known::from([("content-type".to_owned(), media_type)]);
        if path == "/v2/graphql" {
            all.insert("authorization".to_owned(), bearer);
        }
        let given = headers
            .split("; ")
            .filter_map(|header| header.split_once(": "));
        all.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let all: Vec<_> = all
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let all: Vec<_> = all.into_iter().filter(|(_, value)| *value != "-").collect();
        let url = Url::parse(self.fake.as_ref().unwrap().issuer()).unwrap();
        let reply = wire::send(&url.join(path).unwrap(), method, &all, body)
            .await
            .unwrap();
        let location = reply.header("location").map(Url::parse);
        let body = match location {
            Some(url) => pairs(&url.unwrap()),
            None => serde_json::from_slice(&reply.body).unwrap_or_default(),
        };
        Seen {
            reply: Some(reply),
            body,
            is_document: false,
        }
    }

    fn see(&mut self, expected: &str) -> Result<(), String> {
        let expected: Vec<&str> = expected.split("; ").map(str::trim).collect();
        let is_status = |it: &&str| *it == "any" || it.parse::<u16>().is_ok();
        let status = self.seen.reply.as_ref().map_or(0, |reply| reply.status);
        let mut root = self.seen.body.clone();
        if self.seen.is_document && !expected.iter().any(is_status) {
            if status != 200 || !root["errors"].is_null() {
                return Err(format!("expected no error\n  seen     {status} {root}"));
            }
            root = root["data"].take();
        }
        for expected in expected {
            let (name, value) = expected.split_once(' ').unwrap_or((expected, "null"));
            let (seen, pattern) = match name {
                "any" => continue,
                "is" => {
                    let (file, renamed) = value.split_once(' ').unwrap_or((value, "="));
                    let (from, to) = renamed.split_once('=').unwrap();
                    let text = fixture(file).to_string();
                    let text = if from.is_empty() {
                        text
                    } else {
                        text.replace(from, to)
                    };
                    let expected: Value = serde_json::from_str(&text).unwrap();
                    if root == expected {
                        continue;
                    }
                    (root.clone(), expected)
                }
                _ if is_status(&name) => (status.into(), name.parse::<u16>().unwrap().into()),
                _ if name.starts_with('@') => {
                    let reply = self.seen.reply.as_ref().unwrap();
                    (reply.header(&name[1..]).into(), parsed(value))
                }
                _ if name.starts_with(['{', '[', '"']) || expected == name => {
                    (root.clone(), parsed(expected))
                }
                _ => (part(&root, name), parsed(value)),
            };
            if !self.fits(&pattern, &seen) {
                return Err(format!("expected {expected}\n  seen     {seen}"));
            }
        }
        Ok(())
    }

    fn fits(&mut self, pattern: &Value, seen: &Value) -> bool {
        match (pattern, seen) {
            (Value::Object(fields), _) => fields
                .iter()
                .all(|(name, pattern)| self.fits(pattern, &seen[name])),
            (Value::Array(items), Value::Array(all)) => {
                items.len() == all.len()
                    && items
                        .iter()
                        .zip(all)
                        .all(|(pattern, seen)| self.fits(pattern, seen))
            }
            (Value::String(pattern), _) => {
                let text = seen.as_str().map_or(seen.to_string(), str::to_owned);
                if let Some(name) = pattern
                    .strip_prefix('<')
                    .and_then(|it| it.strip_suffix('>'))
                {
                    if let Some(alias) = self.known.get(name).filter(|value| value.starts_with('<'))
                    {
                        return self.fits(&alias.clone().into(), &seen.clone());
                    }
                    let first = self.known.entry(name.to_owned()).or_insert(text.clone());
                    return !seen.is_null() && *first == text;
                }
                match pattern.strip_prefix('!') {
                    Some(other) => text != other,
                    None if pattern == "*" => !seen.is_null(),
                    None => match pattern
                        .strip_prefix("..")
                        .and_then(|it| it.strip_suffix(".."))
                    {
                        Some(inside) => text.contains(inside),
                        None => seen == pattern,
                    },
                }
            }
            _ => pattern == seen,
        }
    }
}

/// JSON, or a text without its quotes.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// The part of a value at a path; in a list, the part of each element.
fn part(value: &Value, path: &str) -> Value {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let below = match (value, name.parse::<usize>()) {
        _ if name == "length" => value.as_array().map_or(Value::Null, |all| all.len().into()),
        (Value::Array(all), Ok(index)) => all.get(index).cloned().unwrap_or_default(),
        (Value::Array(all), Err(_)) => return all.iter().map(|one| part(one, path)).collect(),
        (Value::Object(fields), _) if name.is_empty() => {
            fields.values().next().cloned().unwrap_or_default()
        }
        _ => value[name].clone(),
    };
    if rest.is_empty() {
        below
    } else {
        part(&below, rest)
    }
}

/// Replaces the member `...` by the input of the fixture that it names.
fn spread(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        for member in members.values_mut() {
            *member = spread(member.take());
        }
        if let Some(name) = members.remove("...") {
            let file = format!("consignments/{}.json", name.as_str().unwrap());
            let mut input = fixture(&file)["input"].take();
            input.as_object_mut().unwrap().append(members);
            return input;
        }
    }
    value
}

/// The address at which a login begins, with changed parameters; a parameter without a value is removed.
fn authorization(fake: &Fake, changes: &str) -> Url {
    let client = fake.client_id();
    let redirect = fake.redirect_uri();
    let audience = fake.audience();
    // The challenge is from RFC 7636 appendix B.
    let standard = format!(
        "response_type=code client_id={client} redirect_uri={redirect} audience={audience} state=state-1 nonce=nonce-1 \
         scope=openid+profile+email+offline_access code_challenge_method=S256 \
         code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
    let all = standard.split(' ').chain(changes.split(' '));
    let mut pairs: BTreeMap<_, _> = all.filter_map(|pair| pair.split_once('=')).collect();
    pairs.retain(|_, value| !value.is_empty());
    let mut url = fake.authorize_url();
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| (name, value.replace('+', " ")));
    url.query_pairs_mut().extend_pairs(pairs);
    url
}

fn pairs(url: &Url) -> Value {
    let pairs = url.query_pairs().into_owned();
    let pairs = pairs.map(|(name, value)| (name, Value::from(value)));
    Value::Object(pairs.collect())
}

/// Asserts that each misspelled word of a vocabulary is refused in this step.
fn refuses_misspelled<V: Vocabulary>(step: &str) {
    for wrong in misspelled::<V>() {
        let text = format!("# Comment.\nA scenario\n  {}\n", step.replace("{}", &wrong));
        let table = Table {
            file: "words.txt".to_owned(),
            text: text.leak(),
        };
        let Err(why) = parse(&table) else {
            panic!("{wrong:?} is accepted");
        };
        names_the_words::<V>("words.txt:3: ", &wrong, &why);
    }
}

/// Each word of each vocabulary, misspelled, is an error with the place and the known words.
#[test]
fn misspelled_words_are_refused() {
    refuses_misspelled::<Verb>("{} x");
    refuses_misspelled::<Setting>("with {} 1");
    refuses_misspelled::<Assumption>("assume {}");
    refuses_misspelled::<Deletion>("assume deleted {}");
    refuses_misspelled::<Total>("assume total {}1");
    refuses_misspelled::<EarlyEdit>("before_list envd-7 2 {}");
    refuses_misspelled::<YesNo>("deny_logins {}");
}

/// A name that was stored and is inserted under another name is an error with the place and the names.
#[test]
fn misspelled_names_are_refused() {
    let table = Table {
        file: "words.txt".to_owned(),
        text: "A scenario\n  insert <first>\n  delete <fisrt>\n  delete <first>\n",
    };
    let refused = parse(&table).err().unwrap_or_default();
    let place = "words.txt:3: <fisrt> is no name; the names are: ";
    assert!(refused.starts_with(place), "{refused}");
    assert!(refused.contains("first"), "{refused}");
}
