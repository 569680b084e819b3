//! Scenarios of token managers in tables of text, and the words of their steps.
//!
//! Letters denote processes that share the account `sam`. Each has its own manager and connection to the store, created with
//! the defaults when first mentioned. All other words affect the clock, the provider or the store: `stored 1d` stores tokens of
//! this age, `another` is an external process, `next` scripts a reply of the provider. `gets` shows the result of the last
//! calls: a token, a user, or the kinds of an error.

mod process;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use test_support::script::{Stage, listed, play, seconds};

use self::process::Process;
use super::bench::{Bench, DAY, KEY, SECOND, body, claims_of, reply, yields};
use crate::auth::store::{Gate, StoredMark};
use crate::auth::{Record, StoreGuard, TokenStore};
use crate::fake::NoReply;

macro_rules! tables {
    ($($table:ident)*) => { $(
        #[tokio::test]
        async fn $table() {
            play::<Play>(include_str!(concat!(stringify!($table), ".txt"))).await;
        }
    )* };
}

tables! { clients deletion device elsewhere ending failures inspection kept_lock marks persistence sessions single_flight time }

struct Play {
    bench: Bench,
    processes: BTreeMap<String, Process>,
    /// The process of the previous step.
    last: String,
    held: VecDeque<Gate>,
    lock: Option<StoreGuard>,
    /// The record in the backup.
    backup: Option<Record>,
    took: Duration,
}

fn span(text: &str) -> Duration {
    if let Some(percent) = text.strip_suffix('%') {
        return DAY / 100 * percent.parse::<u32>().unwrap();
    }
    match text.strip_suffix("ms") {
        Some(millis) => Duration::from_millis(millis.parse().unwrap()),
        None => Duration::from_secs_f64(seconds(text)),
    }
}

/// Formats a number, or the bound that it satisfies: `at most 10s`.
fn measured(seen: f64, unit: &str, expected: &str) -> String {
    let bound = |sign: &str| {
        let number = expected.strip_prefix(sign)?.strip_suffix(unit)?;
        number.parse().ok()
    };
    let keeps = bound("at most ").is_some_and(|most: f64| seen <= most)
        || bound("at least ").is_some_and(|least: f64| seen >= least);
    if keeps {
        expected.to_owned()
    } else {
        format!("{seen}{unit}")
    }
}

/// Splits off a last word such as `x3`. Returns the other words and that number.
fn times<'w, 's>(words: &'w [&'s str]) -> (&'w [&'s str], Option<usize>) {
    let times = |word: &&str| word.strip_prefix('x')?.parse().ok();
    match words.split_last() {
        Some((last, words)) if times(last).is_some() => (words, times(last)),
        _ => (words, None),
    }
}

impl Play {
    fn process(&mut self, name: &str) -> &mut Process {
        let bench = &self.bench;
        let make = || Process::new(bench, &[]);
        self.processes.entry(name.to_owned()).or_insert_with(make)
    }

    fn when(&self, from_now: &str) -> SystemTime {
        match from_now.strip_prefix('-') {
            Some(ago) => self.bench.clock.now() - span(ago),
            None => self.bench.clock.now() + span(from_now.trim_start_matches('+')),
        }
    }

    /// Scripts the next reply of the token endpoint: the issued tokens with changes, or a status, a body and headers.
    fn script(&mut self, words: &[&str]) {
        let (words, repeated) = times(words);
        let mut is_held = false;
        let mut rotates = words[0] == "issues";
        let mut text = String::new();
        let mut fields = Vec::new();
        for word in &words[1..] {
            match word.split_once('=') {
                Some(("claim.exp", time)) => {
                    let end = self.when(time).duration_since(UNIX_EPOCH).unwrap();
                    fields.push(("claim.exp", end.as_secs().to_string()));
                }
                Some(("date", time)) => {
                    fields.push(("date", httpdate::fmt_http_date(self.when(time))));
                }
                Some((name, value)) => fields.push((name, value.replace('_', " "))),
                None if *word == "held" => is_held = true,
                None if *word == "rotated" => rotates = true,
                None => text = body(word),
            }
        }
        for _ in 0..repeated.unwrap_or(1) {
            let reply = match words[0] {
                "issues" => None,
                "late" => Some(Err(NoReply::TimedOut)),
                "unsent" => Some(Err(NoReply::Unreachable)),
                "lost" => Some(Ok(reply(502, ""))),
                status => {
                    let reply = reply(status.parse().unwrap(), &text);
                    let fields = fields.iter();
                    Some(Ok(
                        fields.fold(reply, |it, (name, value)| it.header(name, value))
                    ))
                }
            };
            let rotates = rotates || ["late", "lost"].contains(&words[0]);
            let changes = fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()));
            let idp = &self.bench.idp;
            let gate = idp.script(rotates, reply, changes.collect(), is_held);
            self.held.extend(is_held.then_some(gate));
        }
    }

    /// Advances the clock in small steps until a condition holds.
    async fn until(&mut self, words: &[&str]) {
        let start = self.bench.clock.monotonic();
        loop {
            // Run due tasks before advancing the clock.
            yields(20).await;
            let passed = self.bench.clock.monotonic().saturating_sub(start);
            let is_seen = match *words {
                ["passed", time] => passed >= span(time),
                _ => self.see(words).await == words.join(" "),
            };
            if is_seen {
                self.took = passed;
                return;
            }
            self.bench.clock.advance(SECOND / 10);
        }
    }

    async fn act_on_world(&mut self, words: &[&str]) {
        let bench = &self.bench;
        match *words {
            ["stored", age, ref without @ ..] => {
                bench.seed(span(age)).await;
                if !without.is_empty() {
                    let mut tokens = bench.stored().await.unwrap();
                    tokens.refresh_token = None;
                    bench.put(&Record::new(tokens)).await;
                }
            }
            ["next", ref reply @ ..] => self.script(reply),
            ["hold"] => self.script(&["issues", "held"]),
            ["held"] => self.held[0].arrived().await,
            ["open"] => self.held.pop_front().unwrap().open(),
            ["provider", "works"] => bench.idp.end_script(),
            ["provider", "accepts", "twice"] => bench.idp.allow_overlap(),
            ["provider", "refuses", number, "revocations"] => {
                bench.idp.refuse_revocations(number.parse().unwrap());
            }
            ["wait", "for", "retry", ref less @ ..] => {
                let left = self.processes[&self.last].retry_after().unwrap();
                let less = less.first().map_or(Duration::ZERO, |less| span(&less[1..]));
                bench.clock.advance(left.saturating_sub(less));
            }
            ["wait", time] => {
                bench.clock.advance(span(time));
                yields(20).await;
            }
            ["pass", time] => self.until(&["passed", time]).await,
            ["until", ref what @ ..] => self.until(what).await,
            ["calendar", by] => bench.clock.set_wall(self.when(by)),
            ["another", "stores", number] => bench.put_tokens(number.parse().unwrap()).await,
            ["another", "backs", "up"] => self.backup = Some(bench.record().await.record),
            ["another", "restores"] => {
                bench.put(self.backup.as_ref().unwrap()).await;
            }
            ["another", "marks", ref without @ ..] => {
                let mut record = bench.record().await.record;
                record.refresh_mark = Some(StoredMark {
                    generation: 1,
                    at: bench.clock.now(),
                    owner: without.is_empty().then_some(7),
                });
                bench.put(&record).await;
            }
            ["another", "removes"] => {
                let version = bench.record().await.version;
                assert!(bench.store.remove(KEY, version).await.unwrap());
            }
            ["another", "locks"] => self.lock = bench.store.lock(KEY, Duration::ZERO).await.ok(),
            ["another", "unlocks"] => self.lock = None,
            _ => panic!("{words:?} is no step"),
        }
    }

    async fn see_world(&mut self, words: &[&str]) -> Option<String> {
        let bench = self.bench.clone();
        let expected = words[1..].join(" ");
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let count = |number: usize| measured(number as f64, "", &expected);
        let record = bench.store.load(KEY).await.unwrap();
        let record = record.map(|stored| stored.record);
        let of_record = |text: Option<Option<String>>| {
            text.map_or("nothing".to_owned(), |it| it.unwrap_or("none".to_owned()))
        };
        Some(match words[0] {
            "stored" => {
                of_record(record.map(|it| Some(it.tokens().refresh_token()?.expose().to_owned())))
            }
            "owner" => of_record(record.map(|it| it.tokens().subject().map(str::to_owned))),
            "client" => of_record(record.map(|it| Some(it.client?.id))),
            "id" => {
                let claims = claims_of(record.unwrap().tokens().id_token().unwrap().expose());
                claims["n"].as_str().unwrap_or("first").to_owned()
            }
            "marked" => record.unwrap().refresh_mark.is_some().to_string(),
            "shows" => {
                let text = record.unwrap().to_secret_json();
                let shown = ["at-", "rt-"].into_iter();
                listed(shown.filter(|it| text.expose().contains(it)))
            }
            "lock" => (if bench.lock_is_free().await {
                "free"
            } else {
                "held"
            })
            .to_owned(),
            "refreshes" => count(bench.idp.refreshes()),
            "requests" => count(bench.idp.requests()),
            "revoked" => listed(bench.idp.revoked()),
            "sent" => {
                let form = &bench.idp.forms("/oauth/token")[0];
                format!("{} {}", words[1], form[words[1]])
            }
            "assertions" => {
                let forms = bench.idp.forms("/oauth/token").into_iter();
                let sent = forms.map(|mut form| form.remove("client_assertion").unwrap());
                sent.collect::<BTreeSet<_>>().len().to_string()
            }
            "session" => (if bench.idp.session_over() {
                "over"
            } else {
                "alive"
            })
            .to_owned(),
            "sleepers" => bench.clock.sleepers().to_string(),
            "took" => measured(self.took.as_secs_f64(), "s", &expected),
            _ => return None,
        })
    }
}

impl Stage for Play {
    type Error = String;

    async fn start() -> Self {
        Self {
            bench: Bench::new(),
            processes: BTreeMap::new(),
            last: "a".to_owned(),
            held: VecDeque::new(),
            lock: None,
            backup: None,
            took: Duration::ZERO,
        }
    }

    async fn act(&mut self, words: &[&str]) -> Result<(), String> {
        let name = words[0].to_owned();
        match words {
            [_] | [_, ..] if name.len() > 1 => self.act_on_world(words).await,
            [_, "with", options @ ..] => {
                let actor = Process::new(&self.bench, options);
                self.processes.insert(name.clone(), actor);
                self.last = name;
            }
            [_, "until", "ended"] => {
                self.last.clone_from(&name);
                self.until(&["ended", "true"]).await;
                self.process(&name).end(None).await;
            }
            _ => {
                let bench = self.bench.clone();
                self.process(&name).act(&bench, &words[1..]).await;
                self.last = name;
            }
        }
        Ok(())
    }

    async fn see(&mut self, words: &[&str]) -> String {
        let (name, words) = match words {
            [name, words @ ..] if name.len() == 1 => (Some((*name).to_owned()), words),
            _ => (None, words),
        };
        let seen = if let Some(seen) = self.see_world(words).await {
            seen
        } else {
            let bench = self.bench.clone();
            let name = name.as_ref().unwrap_or(&self.last).clone();
            self.process(&name).see(&bench, words).await
        };
        let prefix = name.map_or(String::new(), |name| format!("{name} "));
        format!("{prefix}{} {seen}", words[0]).trim_end().to_owned()
    }
}
