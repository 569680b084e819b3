//! The arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::Arg::{self, Long, Short, Value};
use lexopt::{Parser, ValueExt};

use super::cli;

pub(crate) const USAGE: &str = "\
usage: many_hosts [--schema NAME] [COMMAND]

Without a command: four hosts serve 36 accounts over the Postgres database of DATABASE_URL.
Declarations are written by a web server and sent by the hosts; one of them is killed while it
sends, and the others take over.

  add ACCOUNT..       creates the tables, and adds accounts for the hosts to serve
  write [--submit] ACCOUNT INPUT.json
                      writes a declaration for the next host that serves the account
  host [--name NAME] [--jobs N] [--interval SECONDS] [--lease SECONDS] [--settle SECONDS]
       [--per-second N]
                      serves accounts until Ctrl-C or SIGTERM: N at a time (8 unless set), each
                      once in the interval (300) and when something is written, with at most N
                      requests a second for all hosts together (200). Other hosts take over its
                      accounts --lease seconds (10) after it is killed. It sends a lost request
                      again after --settle seconds (60). NAME is sent as the header x-host
  status [--json]     counts accounts and declarations

The tables are in the schemas NAME and NAME_jobs (envd_many_hosts unless set). A host uses the servers
of the ENVD_ settings (examples/README.md) with ENVD_ACCESS_TOKEN, or the login in the database.";

pub(crate) struct Arguments {
    pub(crate) schema: String,
    pub(crate) command: Command,
}

pub(crate) enum Command {
    Story,
    Add(Vec<String>),
    Write {
        account: String,
        file: PathBuf,
        is_submitted: bool,
    },
    Host(HostOptions),
    Status {
        is_json: bool,
    },
}

#[derive(Clone)]
pub(crate) struct HostOptions {
    pub(crate) name: Option<String>,
    pub(crate) jobs: usize,
    pub(crate) interval: Duration,
    pub(crate) lease: Duration,
    pub(crate) settle: Duration,
    pub(crate) per_second: f64,
}

pub(crate) fn read(given: &mut Parser) -> Result<Arguments, lexopt::Error> {
    let mut schema = "envd_many_hosts".to_owned();
    let command = loop {
        match given.next()? {
            None => break Command::Story,
            // The schema becomes part of SQL statements.
            Some(Long("schema")) => {
                schema = cli::value(given, "--schema", "a-z, 0-9 and _", |text| {
                    let fits = |letter| matches!(letter, 'a'..='z' | '0'..='9' | '_');
                    let begins = text.starts_with(|first| matches!(first, 'a'..='z' | '_'));
                    (begins && text.chars().all(fits)).then(|| text.to_owned())
                })?;
            }
            Some(Value(name)) if name == "add" => break add(given)?,
            Some(Value(name)) if name == "write" => break write(given)?,
            Some(Value(name)) if name == "host" => break host(given)?,
            Some(Value(name)) if name == "status" => break status(given)?,
            Some(other) => return Err(another(other)),
        }
    };
    Ok(Arguments { schema, command })
}

fn add(given: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut accounts = Vec::new();
    while let Some(next) = given.next()? {
        match next {
            Value(account) => accounts.push(account.string()?),
            other => return Err(another(other)),
        }
    }
    if accounts.is_empty() {
        return Err("no ACCOUNT is given".into());
    }
    Ok(Command::Add(accounts))
}

fn write(given: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut values = Vec::new();
    let mut is_submitted = false;
    while let Some(next) = given.next()? {
        match next {
            Long("submit") => is_submitted = true,
            Value(value) if values.len() < 2 => values.push(value),
            other => return Err(another(other)),
        }
    }
    let [account, file] = <[_; 2]>::try_from(values).map_err(|_| "give ACCOUNT and INPUT.json")?;
    Ok(Command::Write {
        account: account.string()?,
        file: file.into(),
        is_submitted,
    })
}

fn host(given: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut options = HostOptions {
        name: None,
        jobs: 8,
        interval: Duration::from_secs(300),
        lease: Duration::from_secs(10),
        settle: Duration::from_secs(60),
        per_second: 200.0,
    };
    while let Some(next) = given.next()? {
        match next {
            Long("name") => options.name = Some(given.value()?.string()?),
            Long("jobs") => {
                let jobs = |text: &str| text.parse().ok().filter(|jobs| (1..=1_000).contains(jobs));
                options.jobs = cli::value(given, "--jobs", "1 to 1000", jobs)?;
            }
            Long("interval") => options.interval = seconds(given, "--interval")?,
            Long("lease") => options.lease = seconds(given, "--lease")?,
            Long("settle") => options.settle = seconds(given, "--settle")?,
            Long("per-second") => {
                options.per_second = seconds(given, "--per-second")?.as_secs_f64();
            }
            other => return Err(another(other)),
        }
    }
    Ok(Command::Host(options))
}

fn status(given: &mut Parser) -> Result<Command, lexopt::Error> {
    let mut is_json = false;
    while let Some(next) = given.next()? {
        match next {
            Long("json") => is_json = true,
            other => return Err(another(other)),
        }
    }
    Ok(Command::Status { is_json })
}

/// Handles an argument that the command does not have; all commands have the help option.
fn another(argument: Arg<'_>) -> lexopt::Error {
    match argument {
        Short('h') | Long("help") => cli::help(USAGE),
        _ => argument.unexpected(),
    }
}

/// Parses a positive number, in most options of seconds.
fn seconds(given: &mut Parser, option: &str) -> Result<Duration, lexopt::Error> {
    cli::value(given, option, "a number from 0.1 to 86400", |text| {
        let number: f64 = text.parse().ok()?;
        (0.1..=86_400.0)
            .contains(&number)
            .then(|| Duration::from_secs_f64(number))
    })
}
