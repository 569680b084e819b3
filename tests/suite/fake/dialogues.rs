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
//! A path of a document starts in its data, which must have no errors, unless a status is expected (`any` for any status). If
//! it starts with a dot, it starts below the only field. `"<name>"` stores the value and later compares with it; `"!x"` is any
//! text except x, `"*"` anything except null, `"..x.."` a text that contains x.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use envd_sdk::Clock;
use envd_sdk::fake::controls::{Assumptions, Deleted, TotalCount};
use envd_sdk::fake::{Fake, FakeBuilder, User, UserRecord, WebsiteEdit, World};
use envd_sdk::profile::Lists;
use serde_json::{Value, json};
use test_support::script::{span, within};
use url::Url;

use super::http::{at, fixture_day};
use crate::fixed_date::{fake_builder, fixture};
use crate::profiles::paged_from;
use crate::wire::{self, Raw};

#[tokio::test]
async fn records_are_listed_read_changed_copied_and_deleted() {
    play(include_str!("records.txt")).await;
}

#[tokio::test]
async fn lists_follow_each_of_the_assumptions_that_the_specification_allows() {
    play(include_str!("lists.txt")).await;
}

#[tokio::test]
async fn the_website_edits_before_and_between_the_requests_of_a_client() {
    play(include_str!("website.txt")).await;
}

#[tokio::test]
async fn requests_are_served_and_refused_as_graphql_and_its_audits_say() {
    play(include_str!("requests.txt")).await;
}

#[tokio::test]
async fn the_register_answers() {
    play(include_str!("register.txt")).await;
}

#[tokio::test]
async fn the_provider_issues_rotates_and_revokes_tokens() {
    play(include_str!("login.txt")).await;
}

#[tokio::test]
async fn the_provider_serves_devices() {
    play(include_str!("device.txt")).await;
}

type Words = BTreeMap<String, String>;

struct Step {
    does: String,
    sees: Vec<String>,
}

/// Runs all scenarios of a table. For each failure it prints the step, and the expected and actual values.
async fn play(table: &str) {
    let mut lets = Words::new();
    let mut first = Vec::new();
    let mut scenarios = Vec::new();
    for line in table
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        let (does, sees) = line.split_once("-> ").unwrap_or((line, ""));
        let sees = Some(sees.to_owned()).filter(|sees| !sees.is_empty());
        let does = does.trim().to_owned();
        if let Some((word, text)) = line
            .strip_prefix("let ")
            .and_then(|it| it.split_once(" = "))
        {
            lets.insert(word.to_owned(), text.to_owned());
        } else if let Some(step) = line.strip_prefix("each: ") {
            first.push(step.to_owned());
        } else if !line.starts_with(' ') && !line.is_empty() {
            let sees = Vec::new;
            let first = first
                .iter()
                .cloned()
                .map(|does| Step { does, sees: sees() });
            scenarios.push((line, first.collect::<Vec<_>>()));
        } else if let Some((_, steps)) = scenarios.last_mut() {
            match steps.last_mut() {
                Some(step) if does.is_empty() => step.sees.extend(sees),
                _ => steps.push(Step {
                    does,
                    sees: sees.into_iter().collect(),
                }),
            }
        }
    }
    let mut failed = Vec::new();
    for (name, steps) in &scenarios {
        for known in alternatives(steps) {
            let mut dialogue = Dialogue::new(known, &lets);
            for step in steps.iter().filter(|step| !step.does.starts_with("for ")) {
                if let Err(why) = within(name, dialogue.play(step)).await {
                    failed.push(format!("{name}\n  {}\n  {why}", step.does));
                    break;
                }
            }
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n\n"));
    assert!(scenarios.len() > 3);
}

fn alternatives(steps: &[Step]) -> Vec<Words> {
    let alternatives = steps.iter().find_map(|step| step.does.strip_prefix("for "));
    let Some((names, alternatives)) = alternatives.and_then(|it| it.split_once(" = ")) else {
        return vec![Words::new()];
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

struct Dialogue<'l> {
    lets: &'l Words,
    known: Words,
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

impl<'l> Dialogue<'l> {
    fn new(known: Words, lets: &'l Words) -> Self {
        let clock = fixture_day();
        let builder = Some(fake_builder().clock(clock.clone()));
        let seen = Seen::default();
        Self {
            lets,
            known,
            clock,
            builder,
            fake: None,
            seen,
        }
    }

    async fn play(&mut self, step: &Step) -> Result<(), String> {
        let does = self.filled(&step.does);
        let (word, rest) = does.split_once(' ').unwrap_or((&does, ""));
        if word == "with" {
            let builder = self
                .builder
                .take()
                .expect("a setting before the first step");
            self.builder = Some(self.set(builder, rest));
            return Ok(());
        }
        if self.fake.is_none() {
            self.start().await;
        }
        let does = self
            .lets
            .get(word)
            .map_or(does.clone(), |text| text.replace('%', rest));
        self.act(&self.filled(&does)).await;
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

    /// Fills in the known words.
    fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // Repeat, because the value of a word may contain other words.
        for _ in 0..3 {
            for (name, value) in &self.known {
                text = text.replace(&format!("<{name}>"), value);
            }
        }
        text
    }

    fn set(&mut self, builder: FakeBuilder, setting: &str) -> FakeBuilder {
        let (name, value) = setting.split_once(' ').unwrap_or((setting, ""));
        match name {
            "access_token_lifetime" => builder.access_token_lifetime(span(value)),
            "accreditation" => {
                let (name, granted) = value.split_once(' ').unwrap();
                builder.accreditation(name, granted == "yes")
            }
            "client_assertions" => builder.client_assertions(),
            "client_secret" => builder.client_secret(value),
            "clock" => {
                self.clock = Clock::manual(at(value));
                builder.clock(self.clock.clone())
            }
            "code_lifetime" => builder.code_lifetime(span(value)),
            "first_page" => builder.profile(&paged_from(value.parse().unwrap())),
            "no_consignments" => {
                let kim = UserRecord::new("kim@example.com").role("Producer");
                builder.world(World::empty().user(kim.account("envd-7", "LPA", "QAZZ7777")))
            }
            "refresh_overlap" => builder.refresh_overlap(span(value)),
            "refresh_token_lifetime" => builder.refresh_token_lifetime(span(value)),
            "register_token" => builder.register_token(value.into()),
            "return_to" => builder.allow_return_to(Url::parse(value).unwrap()),
            "sample_and" => {
                let input = spread(serde_json::from_str(value).unwrap());
                builder.world(World::sample().consignment("envd-100201", input))
            }
            "user" if value == "receiver" => builder.user(User::Receiver),
            "user" => builder.user(User::Producer),
            _ => panic!("no setting {setting}"),
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

    async fn act(&mut self, does: &str) {
        let (word, rest) = does.split_once(' ').unwrap_or((does, ""));
        let fake = self.fake.as_ref().unwrap();
        let found = |body: Value| Seen {
            body,
            ..Seen::default()
        };
        let done = |done: envd_sdk::Result<()>| match done {
            Ok(()) => found(true.into()),
            Err(error) => found(format!("{:?}", error.kind()).into()),
        };
        self.seen = match word {
            "GET" | "HEAD" | "POST" => self.send(word, rest).await,
            _ if ["{", "query", "mutation"]
                .iter()
                .any(|start| does.starts_with(start)) =>
            {
                let (query, variables) = does.split_once(" | ").unwrap_or((does, "null"));
                let variables: Value = serde_json::from_str(variables).unwrap();
                let body = json!({"query": query, "variables": spread(variables)});
                let seen = self.send("POST", &format!("/v2/graphql {body}")).await;
                Seen {
                    is_document: true,
                    ..seen
                }
            }
            "accepted" => {
                let bearer = format!("/v2/graphql [authorization: Bearer {rest}]");
                let body = json!({"query": "{ userDetails { email } }"});
                let seen = self.send("POST", &format!("{bearer} {body}")).await;
                found((seen.reply.unwrap().status == 200).into())
            }
            "authorize" => {
                let url = authorization(fake, rest);
                self.send("GET", url.as_str()).await
            }
            "approve" => done(fake.approve_device(rest)),
            "claims" => {
                let bytes = URL_SAFE_NO_PAD.decode(rest.split('.').nth(1).unwrap());
                found(serde_json::from_slice(&bytes.unwrap()).unwrap())
            }
            "consent" => match fake.consent(&authorization(fake, rest)) {
                Ok(url) => found(pairs(&url)),
                Err(error) => done(Err(error)),
            },
            "deny" => done(fake.deny_device(rest)),
            "held" => found(fake.consignments::<Value>(rest).into()),
            "jwt" => {
                let parts = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
                let parts = parts.map(|part| URL_SAFE_NO_PAD.encode(part.unwrap().to_string()));
                found((parts.collect::<Vec<_>>().join(".") + ".c2ln").into())
            }
            "refuse" => found(pairs(&fake.refuse(&authorization(fake, rest)).unwrap())),
            "requests_for_tokens" => found(json!({"count": fake.token_requests()})),
            "typed" => found(rest.replace('-', " ").to_lowercase().into()),
            "unsigned" => found(rest.trim_end_matches("c2ln").into()),
            _ => {
                self.change(word, rest);
                return;
            }
        };
    }

    /// Changes the fake. Edits on the website happen a minute after the previous event, unless the word begins with `also`.
    fn change(&mut self, word: &str, rest: &str) {
        let fake = self.fake.as_ref().unwrap();
        let (name, fields) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let fields = || serde_json::from_str::<Value>(fields).unwrap();
        let account = &self.known["account"];
        match word {
            "advance" => return self.clock.advance(span(rest)),
            "assume" => return fake.controls().assume(assumptions(name, rest)),
            "before_list" => {
                let mut words = rest.splitn(4, ' ');
                let [account, nth, name, fields] = [(); 4].map(|()| words.next().unwrap());
                let fields: Value = serde_json::from_str(fields).unwrap();
                let edit = match name {
                    "insert" => WebsiteEdit::insert(fields),
                    _ => WebsiteEdit::change(name, fields),
                };
                return fake
                    .controls()
                    .edit_before_list(account, nth.parse().unwrap(), edit);
            }
            "deny_logins" => return fake.deny_logins(rest == "yes"),
            "expire" => return fake.expire_access_tokens(),
            "restore" => return fake.controls().restore_account(rest),
            "revoke" => return fake.revoke(&rest.into()),
            "revoke_logins" => return fake.revoke_logins(),
            "token" => {
                self.known.insert("token".to_owned(), rest.to_owned());
                return;
            }
            "withdraw" => return fake.controls().withdraw_account(rest),
            _ => {}
        }
        if word != "also_change" {
            self.clock.advance(span("60s"));
        }
        match word {
            "change" | "also_change" => {
                drop(fake.edit(account, WebsiteEdit::change(name, fields())));
            }
            "delete" => drop(fake.edit(account, WebsiteEdit::delete(rest))),
            "insert" => {
                let mut input = json!({
                    "forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"},
                    "movementDate": "2026-11-21",
                });
                input
                    .as_object_mut()
                    .unwrap()
                    .extend(fields().as_object().unwrap().clone());
                let id = fake.edit(account, WebsiteEdit::insert(input));
                let held: Vec<Value> = fake.consignments(account);
                let made = held.iter().find(|record| record["id"] == *id).unwrap();
                let number = made["number"].as_str().unwrap().to_owned();
                self.known
                    .insert(name[1..name.len() - 1].to_owned(), number);
            }
            _ => panic!("no step {word}"),
        }
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
        let mut all = Words::from([("content-type".to_owned(), media_type)]);
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

fn assumptions(name: &str, rest: &str) -> Assumptions {
    let value = rest.split_once(' ').map_or("", |(_, value)| value);
    let named = || serde_json::from_value(value.into()).unwrap();
    let all = Assumptions::default();
    let number = || value.split(':').nth(1).unwrap().parse().unwrap();
    match name {
        "nothing" => all,
        "order" => all.lists(Lists::default().ordered(named())),
        "comparing" => {
            all.lists(Lists::default().comparing(serde_json::from_value(value.into()).unwrap()))
        }
        "cursors_by_position" => all.cursors_by_position(),
        "lag" => all.list_lag(value.parse().unwrap()),
        "deleted" => all.deleted(match value {
            "filtered" => Deleted::Filtered,
            "hidden" => Deleted::Hidden,
            _ => Deleted::Listed,
        }),
        _ => all.total_count(match value.split(':').next() {
            Some("exact") => TotalCount::Exact,
            Some("null") => TotalCount::Null,
            Some("fixed") => TotalCount::Fixed(number()),
            _ => TotalCount::OffBy(number()),
        }),
    }
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
