//! The arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use envd_sdk::model::{ConsignmentId, Timestamp};
use envd_sync::outbox::{Decision, DeclarationId};
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;

use super::cli;

pub(crate) const USAGE: &str = "\
usage: outbox --store FILE COMMAND

Declarations that are written without reception, and sent when there is some. FILE keeps the
declarations and their states. All commands but `run` work without reception and without a login.

  add [--submit] [--not-after RFC3339] [--key KEY | --base RECORD.json] INPUT.json
                      writes a new declaration, or with --base the edited state of a record: nothing
                      is sent if the service's record has changed since RECORD.json. With --submit,
                      or the status SUBMITTED in INPUT.json, it is submitted and not only saved.
                      Nothing is sent after --not-after. A second add with the same KEY makes no
                      second entry: with another text it edits the first one
  edit [--submit] [--not-after RFC3339] ENTRY INPUT.json
                      replaces the text of an entry, which is still submitted if it was to be.
                      --not-after sets another limit, even after the old one
  withdraw ENTRY      saves an entry as a draft instead of submitting it
  delete ENTRY|ID     deletes an entry by its number, or a record by its id
  decide ENTRY keep-mine|take-theirs|resend|send-as-me|discard|adopt ID
                      answers a question that only a person can decide
  run [--once] [--settle SECONDS] [--for SECONDS] [--lease SECONDS] [--json]
                      sends what is due, and shows each change of state: until Ctrl-C, with --once
                      until nothing more is due, with --for at most so long. After a lost reply it
                      looks for the record at once, after --settle seconds (60 unless set, at least
                      1) and after as long again, and then sends again. One run sends at a time; if
                      it is killed, another one continues after --lease seconds (3 unless set)
  list [--json]       shows all entries, finished ones included

What one user wrote is not sent under the login of another: `run` asks. The user is that of the
last login with FILE, or ENVD_USER where only an access token is given.

The servers and the account are those of the ENVD_ settings (examples/README.md), or a fake.
Commands that write print {\"entry\": \"..\"} with the number of the entry.

The exit code of `run` is 0 when all is confirmed or there is nothing to do, and 1 when something
is refused, waits or needs a decision. Of all commands it is 2 for wrong arguments and files that
cannot be read, 3 when the user has to log in, and 4 when FILE cannot be used.";

pub(crate) struct Arguments {
    pub(crate) store: PathBuf,
    pub(crate) command: Command,
}

pub(crate) enum Command {
    Add(Add),
    Edit(Edit),
    Withdraw(DeclarationId),
    Delete(DeclarationId),
    DeleteRecord(ConsignmentId),
    Run(Run),
    List {
        json: bool,
    },
    Decide {
        entry: DeclarationId,
        decision: Decision,
    },
}

pub(crate) struct Add {
    pub(crate) submit: bool,
    pub(crate) not_after: Option<Timestamp>,
    pub(crate) key: Option<String>,
    pub(crate) base: Option<PathBuf>,
    pub(crate) input: PathBuf,
}

pub(crate) struct Edit {
    pub(crate) submit: bool,
    pub(crate) not_after: Option<Timestamp>,
    pub(crate) entry: DeclarationId,
    pub(crate) input: PathBuf,
}

#[derive(Default)]
pub(crate) struct Run {
    pub(crate) once: bool,
    pub(crate) json: bool,
    pub(crate) settle: Option<Duration>,
    pub(crate) limit: Option<Duration>,
    pub(crate) lease: Option<Duration>,
}

/// The given arguments, before they are checked against the command.
#[derive(Default)]
struct Given {
    store: Option<PathBuf>,
    words: Vec<String>,
    /// The options of commands, by name.
    options: Vec<&'static str>,
    not_after: Option<Timestamp>,
    key: Option<String>,
    base: Option<PathBuf>,
    run: Run,
}

impl Arguments {
    /// `None` without arguments.
    pub(crate) fn read() -> Option<Self> {
        cli::arguments(USAGE, Self::parse)
    }

    fn parse(parser: &mut lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut given = Given::default();
        let mut is_empty = true;
        while let Some(argument) = parser.next()? {
            is_empty = false;
            match argument {
                Long("store") => given.store = Some(parser.value()?.into()),
                Long("submit") => given.options.push("--submit"),
                Long("not-after") => {
                    let expected = "a time such as 2027-01-15T18:00:00+10:00";
                    let time = cli::value(parser, "--not-after", expected, timestamp)?;
                    given.not_after = Some(time);
                    given.options.push("--not-after");
                }
                Long("key") => {
                    given.key = Some(parser.value()?.string()?);
                    given.options.push("--key");
                }
                Long("base") => {
                    given.base = Some(parser.value()?.into());
                    given.options.push("--base");
                }
                Long("once") => given.options.push("--once"),
                Long("json") => given.options.push("--json"),
                Long("settle") => {
                    given.run.settle = Some(cli::value(parser, "--settle", SECONDS, seconds)?);
                    given.options.push("--settle");
                }
                Long("for") => {
                    given.run.limit = Some(cli::value(parser, "--for", SECONDS, seconds)?);
                    given.options.push("--for");
                }
                Long("lease") => {
                    given.run.lease = Some(cli::value(parser, "--lease", SECONDS, seconds)?);
                    given.options.push("--lease");
                }
                Short('h') | Long("help") => cli::help(USAGE),
                Value(word) => given.words.push(word.string()?),
                _ => return Err(argument.unexpected()),
            }
        }
        if is_empty {
            return Ok(None);
        }
        given.into_arguments().map(Some)
    }
}

impl Given {
    fn into_arguments(mut self) -> Result<Arguments, lexopt::Error> {
        let words = std::mem::take(&mut self.words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some((name, words)) = words.split_first() else {
            return Err("a command is missing, such as add, run or list".into());
        };
        let allowed: &[&str] = match *name {
            "add" => &["--submit", "--not-after", "--key", "--base"],
            "run" => &["--once", "--settle", "--for", "--lease", "--json"],
            "list" => &["--json"],
            "edit" => &["--submit", "--not-after"],
            _ => &[],
        };
        let command = match (*name, words) {
            ("add", [_]) if self.has("--key") && self.has("--base") => {
                let problem =
                    "add: --key is for a new declaration, --base for a record: leave one out";
                return Err(problem.into());
            }
            ("add", [input]) => Command::Add(Add {
                submit: self.has("--submit"),
                not_after: self.not_after.take(),
                key: self.key.take(),
                base: self.base.take(),
                input: input.into(),
            }),
            ("edit", [entry, input]) => Command::Edit(Edit {
                submit: self.has("--submit"),
                not_after: self.not_after.take(),
                entry: number(entry)?,
                input: input.into(),
            }),
            ("withdraw", [entry]) => Command::Withdraw(number(entry)?),
            ("delete", [id]) => match id.parse() {
                Ok(entry) => Command::Delete(entry),
                Err(_) => Command::DeleteRecord((*id).into()),
            },
            ("run", []) => Command::Run(Run {
                once: self.has("--once"),
                json: self.has("--json"),
                ..std::mem::take(&mut self.run)
            }),
            ("list", []) => Command::List {
                json: self.has("--json"),
            },
            ("decide", [entry, words @ ..]) => Command::Decide {
                entry: number(entry)?,
                decision: decision(words)?,
            },
            ("add" | "edit" | "withdraw" | "delete" | "decide" | "run" | "list", _) => {
                let given = words.join(" ");
                return Err(format!("{name}: these are not its arguments: \"{given}\"").into());
            }
            _ => return Err(format!("there is no command {name}").into()),
        };
        if let Some(option) = self.options.iter().find(|option| !allowed.contains(option)) {
            return Err(format!("{name} has no option {option}").into());
        }
        let store = self.store.ok_or("--store FILE is needed")?;
        Ok(Arguments { store, command })
    }

    fn has(&self, option: &str) -> bool {
        self.options.contains(&option)
    }
}

const SECONDS: &str = "a number of seconds";

/// At most a year, which any clock can add.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    (time <= Duration::from_secs(366 * 24 * 60 * 60)).then_some(time)
}

fn timestamp(text: &str) -> Option<Timestamp> {
    let time = Timestamp::from(text);
    time.to_time().is_some().then_some(time)
}

fn number(text: &str) -> Result<DeclarationId, lexopt::Error> {
    let expected = || format!("ENTRY {text}: expected the number of an entry").into();
    text.parse().map_err(|_| expected())
}

fn decision(words: &[&str]) -> Result<Decision, lexopt::Error> {
    let expected = "keep-mine, take-theirs, resend, send-as-me, discard, or adopt ID";
    let given = words.join(" ");
    given
        .parse()
        .map_err(|_| format!("decide {given}: expected {expected}").into())
}
