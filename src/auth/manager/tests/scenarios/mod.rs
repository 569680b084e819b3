//! Scenarios of token managers in tables of text, and the words of their steps.
//!
//! Letters denote processes that share the account `sam`. Each has its own manager and connection to the store, created with
//! the defaults when first mentioned. All other words affect the clock, the provider or the store: `stored 1d` stores tokens of
//! this age, `another` is an external process, `next` scripts a reply of the provider. `gets` shows the result of the last
//! calls: a token, a user, or the kinds of an error.

mod process;
mod words;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use test_support::script::{Expected, Stage, Vocabulary, listed, play, refuses_misspelled};
use test_support::table;

use self::process::Process;
use self::words::{
    Body, Call, CallKind, Destination, EventName, Fault, FieldText, Header, HeldCalls, Less,
    LoginSetting, Offset, Omitted, ProcessOption, ProcessSees, ProcessStep, Reply, ReplyAnswer,
    ReplyKind, ReplyProperty, Sees, SignerFault, Span, Step, StoreCalls, TokenField, Unsigned,
    User, Without, WorldSees, WorldStep,
};
use super::bench::{self, Bench, KEY, SECOND, claims_of, yields};
use crate::auth::store::{Gate, StoredMark};
use crate::auth::{Record, StoreGuard, TokenStore};
use crate::fake::NoReply;

macro_rules! tables {
    ($($table:ident)*) => { $(
        #[tokio::test]
        async fn $table() {
            play::<Play>(table!(concat!(stringify!($table), ".txt"))).await;
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

impl Play {
    fn process(&mut self, name: &str) -> &mut Process {
        let bench = &self.bench;
        let make = || Process::new(bench, &[]);
        self.processes.entry(name.to_owned()).or_insert_with(make)
    }

    fn when(&self, offset: Offset) -> SystemTime {
        let now = self.bench.clock.now();
        match offset {
            Offset::Before(time) => now - time,
            Offset::After(time) => now + time,
        }
    }

    /// The value of a field of issued tokens; times are in the format of this field.
    fn field(&self, text: &FieldText, time: impl Fn(SystemTime) -> String) -> String {
        match text {
            FieldText::Time(offset) => time(self.when(*offset)),
            FieldText::Text(text) => text.clone(),
        }
    }

    /// Scripts the next replies of the token endpoint.
    fn script(&mut self, reply: &Reply) {
        for _ in 0..reply.times {
            let mut changes = Vec::new();
            let mut rotates = reply.is_rotated;
            let answer = match &reply.answer {
                ReplyAnswer::Issues(fields) => {
                    rotates = true;
                    for (field, text) in fields {
                        let name = field.phrase().trim_end_matches('=');
                        let value = match field {
                            TokenField::Date => self.field(text, httpdate::fmt_http_date),
                            _ => self.field(text, seconds_since_epoch),
                        };
                        changes.push((name.to_owned(), value));
                    }
                    None
                }
                ReplyAnswer::Status {
                    status,
                    body,
                    headers,
                } => {
                    let body = body.as_ref().map(Body::text);
                    let mut sent = bench::reply(*status, body.unwrap_or_default());
                    for (header, text) in headers {
                        let name = header.phrase().trim_end_matches('=');
                        let text = self.field(text, httpdate::fmt_http_date);
                        sent = sent.header(name, &text);
                    }
                    Some(Ok(sent))
                }
                ReplyAnswer::Late => {
                    rotates = true;
                    Some(Err(NoReply::TimedOut))
                }
                ReplyAnswer::Lost => {
                    rotates = true;
                    Some(Ok(bench::reply(502, "")))
                }
                ReplyAnswer::Unsent => Some(Err(NoReply::Unreachable)),
            };
            let idp = &self.bench.idp;
            let gate = idp.script(rotates, answer, changes, reply.is_held);
            self.held.extend(reply.is_held.then_some(gate));
        }
    }

    /// Advances the clock in small steps until a time has passed, or until a value is seen.
    async fn until(&mut self, end: End<'_>) {
        let start = self.bench.clock.monotonic();
        loop {
            // Run due tasks before advancing the clock.
            yields(20).await;
            let passed = self.bench.clock.monotonic().saturating_sub(start);
            let is_over = match end {
                End::Passed(time) => passed >= time,
                End::Seen(sees, value) => self.see(sees, value).await == value,
            };
            if is_over {
                self.took = passed;
                return;
            }
            self.bench.clock.advance(SECOND / 10);
        }
    }

    async fn act_on_world(&mut self, step: WorldStep) {
        let bench = &self.bench;
        match step {
            WorldStep::Stored(Span(age), without) => {
                bench.seed(age).await;
                if let Some(Without::RefreshToken) = without {
                    let mut tokens = bench.stored().await.unwrap();
                    tokens.refresh_token = None;
                    bench.put(&Record::new(tokens)).await;
                }
            }
            WorldStep::Next(reply) => self.script(&reply),
            WorldStep::Hold => self.script(&Reply {
                answer: ReplyAnswer::Issues(Vec::new()),
                is_held: true,
                is_rotated: false,
                times: 1,
            }),
            WorldStep::Held => self.held[0].arrived().await,
            WorldStep::Open => self.held.pop_front().unwrap().open(),
            WorldStep::ProviderWorks => bench.idp.end_script(),
            WorldStep::ProviderAcceptsTwice => bench.idp.allow_overlap(),
            WorldStep::ProviderRefusesRevocations(number) => bench.idp.refuse_revocations(number),
            WorldStep::WaitForRetry(less) => {
                let left = self.processes[&self.last].retry_after().unwrap();
                let less = less.map_or(Duration::ZERO, |Less(time)| time);
                bench.clock.advance(left.saturating_sub(less));
            }
            WorldStep::Wait(Span(time)) => {
                bench.clock.advance(time);
                yields(20).await;
            }
            WorldStep::Pass(Span(time)) => self.until(End::Passed(time)).await,
            WorldStep::Until(Expected { sees, value }) => {
                self.until(End::Seen(&sees, &value)).await;
            }
            WorldStep::SetCalendar(by) => bench.clock.set_wall(self.when(by)),
            WorldStep::AnotherStores(number) => bench.put_tokens(number).await,
            WorldStep::AnotherBacksUp => self.backup = Some(bench.record().await.record),
            WorldStep::AnotherRestores => {
                bench.put(self.backup.as_ref().unwrap()).await;
            }
            WorldStep::AnotherMarks(unsigned) => {
                let mut record = bench.record().await.record;
                record.refresh_mark = Some(StoredMark {
                    generation: 1,
                    at: bench.clock.now(),
                    owner: match unsigned {
                        Some(Unsigned::Unsigned) => None,
                        None => Some(7),
                    },
                });
                bench.put(&record).await;
            }
            WorldStep::AnotherRemoves => {
                let version = bench.record().await.version;
                assert!(bench.store.remove(KEY, version).await.unwrap());
            }
            WorldStep::AnotherLocks => {
                self.lock = bench.store.lock(KEY, Duration::ZERO).await.ok();
            }
            WorldStep::AnotherUnlocks => self.lock = None,
        }
    }

    async fn see_world(&mut self, sees: &WorldSees, expected: &str) -> String {
        let bench = &self.bench;
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let count = |number: usize| measured(number as f64, "", expected);
        let record = bench.store.load(KEY).await.unwrap();
        let record = record.map(|stored| stored.record);
        let of_record = |text: Option<Option<String>>| {
            text.map_or("nothing".to_owned(), |it| it.unwrap_or("none".to_owned()))
        };
        match sees {
            WorldSees::Stored => {
                of_record(record.map(|it| Some(it.tokens().refresh_token()?.expose().to_owned())))
            }
            WorldSees::Owner => {
                of_record(record.map(|it| it.tokens().subject().map(str::to_owned)))
            }
            WorldSees::Client => of_record(record.map(|it| Some(it.client?.id))),
            WorldSees::Id => {
                let claims = claims_of(record.unwrap().tokens().id_token().unwrap().expose());
                claims["n"].as_str().unwrap_or("first").to_owned()
            }
            WorldSees::Marked => record.unwrap().refresh_mark.is_some().to_string(),
            WorldSees::Shows => {
                let text = record.unwrap().to_secret_json();
                let shown = ["at-", "rt-"].into_iter();
                listed(shown.filter(|it| text.expose().contains(it)))
            }
            WorldSees::Lock if bench.lock_is_free().await => "free".to_owned(),
            WorldSees::Lock => "held".to_owned(),
            WorldSees::Refreshes => count(bench.idp.refreshes()),
            WorldSees::Requests => count(bench.idp.requests()),
            WorldSees::Revoked => listed(bench.idp.revoked()),
            WorldSees::SentCode => bench.idp.forms("/oauth/token")[0]["code"].clone(),
            WorldSees::Assertions => {
                let forms = bench.idp.forms("/oauth/token").into_iter();
                let sent = forms.map(|mut form| form.remove("client_assertion").unwrap());
                sent.collect::<BTreeSet<_>>().len().to_string()
            }
            WorldSees::Session if bench.idp.session_over() => "over".to_owned(),
            WorldSees::Session => "alive".to_owned(),
            WorldSees::Sleepers => bench.clock.sleepers().to_string(),
            WorldSees::Took => measured(self.took.as_secs_f64(), "s", expected),
        }
    }
}

/// What [`Play::until`] waits for.
#[derive(Clone, Copy)]
enum End<'a> {
    Passed(Duration),
    Seen(&'a Sees, &'a str),
}

fn seconds_since_epoch(time: SystemTime) -> String {
    let time = time.duration_since(UNIX_EPOCH).unwrap();
    time.as_secs().to_string()
}

impl Stage for Play {
    type Does = Step;
    type Sees = Sees;
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

    async fn act(&mut self, step: Step) -> Result<(), String> {
        let bench = self.bench.clone();
        match step {
            Step::World(step) => self.act_on_world(step).await,
            Step::Process(name, ProcessStep::With(options)) => {
                let process = Process::new(&bench, &options);
                self.processes.insert(name.clone(), process);
                self.last = name;
            }
            Step::Process(name, ProcessStep::UntilEnded) => {
                self.last.clone_from(&name);
                let sees = Sees::Process(None, ProcessSees::Ended);
                self.until(End::Seen(&sees, "true")).await;
                self.process(&name).end(None).await;
            }
            Step::Process(name, step) => {
                self.process(&name).act(&bench, step).await;
                self.last = name;
            }
            Step::Call(name, call) => {
                self.process(&name).call(&bench, call).await;
                self.last = name;
            }
        }
        Ok(())
    }

    async fn see(&mut self, sees: &Sees, expected: &str) -> String {
        match sees {
            Sees::World(sees) => self.see_world(sees, expected).await,
            Sees::Process(name, sees) => {
                let bench = self.bench.clone();
                let name = name.as_ref().unwrap_or(&self.last).clone();
                self.process(&name).see(&bench, sees, expected).await
            }
        }
    }
}

/// Each word of each vocabulary, misspelled, is an error with the place and the known words.
#[test]
fn misspelled_words_are_refused() {
    refuses_misspelled::<Play, WorldStep>("{} 1d");
    refuses_misspelled::<Play, ProcessStep>("a {} loads");
    refuses_misspelled::<Play, Call>("a {} sam");
    refuses_misspelled::<Play, Call>("a begins {} sam");
    refuses_misspelled::<Play, CallKind>("a ends {}");
    refuses_misspelled::<Play, User>("a login {}");
    refuses_misspelled::<Play, LoginSetting>("a login sam {}kim");
    refuses_misspelled::<Play, Destination>("a logout {}");
    refuses_misspelled::<Play, ProcessOption>("a with {}");
    refuses_misspelled::<Play, EventName>("a hears {}");
    refuses_misspelled::<Play, HeldCalls>("a store holds {}");
    refuses_misspelled::<Play, StoreCalls>("a store {} panic");
    refuses_misspelled::<Play, Fault>("a store loads {} x1");
    refuses_misspelled::<Play, SignerFault>("a signer {}");
    refuses_misspelled::<Play, ReplyKind>("next {}");
    refuses_misspelled::<Play, ReplyProperty>("next late {}");
    refuses_misspelled::<Play, Body>("next 403 {}");
    refuses_misspelled::<Play, Header>("next 429 {}7");
    refuses_misspelled::<Play, TokenField>("next issues {}x");
    refuses_misspelled::<Play, Without>("stored 1d {}");
    refuses_misspelled::<Play, Unsigned>("another marks {}");
    refuses_misspelled::<Play, WorldSees>("wait 1d -> {}");
    refuses_misspelled::<Play, ProcessSees>("wait 1d -> a {}");
    refuses_misspelled::<Play, Omitted>("a call -> omits {}");
}
