//! Runs scenarios of programs, written like the commands that a user would type.
//!
//! A line at the margin is the name of a story, and the indented lines below it are its steps. The steps after `each` run first
//! in all later stories. Lines that begin with `with` are rows of a table with columns separated by ` | `: the story runs once
//! for each row, and `{1}` is the first column.
//!
//! * `$ @ NAME=value program argument 'with blanks' -> 1` runs a program in the folder of the story. `@` sets the addresses and a token
//!   of the fake. Without a code, the program must end with 0 and an empty stderr. With a code, stderr may have output; `?` is any code.
//! * `< y|24` are lines on the stdin of the next program.
//! * `file NAME text` writes a file, `record ID NAME` a record of the fake.
//! * `next OPERATION fine`, `lost`, `refused CODE text`, `status 503 body`, `shows /pointer JSON` or `lacks /pointer`, perhaps
//!   with `x3`, scripts the next requests. `website makes JSON`, `website sets ID JSON` and `before list 2 website makes JSON`
//!   are edits by another user.
//!
//! Expectations are indented by four:
//!
//! * `> text` is in stdout, `! text` in stderr, `- text` in neither; `>> text` begins stdout, `!! text` stderr; `= text` is all
//!   of stdout.
//! * `/0/state "queued"` is a member of the first JSON value of stdout, `/-1` is the last value. `/0/id ID` names a text, which
//!   later steps insert with `{ID}`.
//! * `row 1 a|b` are the cells of a line, `columns 9 7` the number of columns in the first lines, `wide 100` the longest line,
//!   `first text` is in the first line of stderr, `times 2 text` occurs twice in stdout.
//! * `answers 3[0]=24 17=Yes` are the answers of a declaration on stdout; `read NAME text` is the content of a file, `has NAME
//!   text` is in it, `hides NAME text` is not, `same NAME` equals stdout, `none NAME` does not exist.
//! * `requests 3` is the number of requests of the last program, `asked OPERATION 3` of all programs; `sent OPERATION text` is
//!   in the last request for an operation; `new status JSON` is a member of each record created since the start, `record ID
//!   /status JSON` a member of one record.
//!
//! The table is parsed completely before the first program runs: an unknown word, or a name in braces that stands for nothing, is an
//! error with its place.
//!
//! Texts have the escapes of Rust. No program may print control characters.

use std::collections::BTreeMap;

use envd_sdk::fake::{Fake, Fault, WebsiteEdit, World};
use serde_json::Value;
use test_support::script::{Refusal, Table, Words, first_phrase};
use test_support::words;

use super::{Ended, Folder, Program};

/// The initial state of the stories in a table.
#[derive(Clone, Debug)]
pub struct Stage {
    pub program: fn(&str) -> Program,
    pub world: fn() -> World,
    /// Texts and their names.
    pub names: Vec<(&'static str, String)>,
}

impl Default for Stage {
    fn default() -> Self {
        Self {
            program: Program::new,
            world: World::sample,
            names: Vec::new(),
        }
    }
}

words! {
    "step";
    enum StepWord {
        Run = "$",
        Input = "<",
        File = "file",
        Record = "record",
        ClearScripts = "clear",
        Website = "website",
        BeforeList = "before list",
        Next = "next",
    }
}

words! {
    "edit";
    enum EditWord {
        Makes = "makes",
        Sets = "sets",
    }
}

words! {
    "fate";
    enum Fate {
        Fine = "fine",
        Lost = "lost",
        Refused = "refused",
        Status = "status",
        Shows = "shows",
        Lacks = "lacks",
    }
}

words! {
    "check";
    /// The expectations except for those of JSON members, which begin with a slash.
    enum Check {
        Stdout = ">",
        Stderr = "!",
        Neither = "-",
        StdoutBegins = ">>",
        StderrBegins = "!!",
        StdoutIs = "=",
        First = "first",
        Times = "times",
        Wide = "wide",
        Row = "row",
        Columns = "columns",
        Answers = "answers",
        Read = "read",
        Has = "has",
        Hides = "hides",
        Same = "same",
        None = "none",
        Requests = "requests",
        Asked = "asked",
        Sent = "sent",
        New = "new",
        Record = "record",
    }
}

/// The texts that the fake names.
const NAMES_OF_THE_FAKE: [&str; 6] = [
    "AUTHORIZE",
    "TOKEN",
    "DEVICE",
    "ISSUER",
    "AUDIENCE",
    "CLIENT",
];

/// A step or an expectation, with the cells of a row. Named texts are filled in when it runs.
#[derive(Debug)]
enum Line {
    Run(String),
    Input(String),
    /// The name, and the text.
    File(String, String),
    /// The id, and the name of the file.
    Record(String, String),
    ClearScripts,
    Website(Edit),
    BeforeList(usize, Edit),
    Next(Next),
    See(Check, String),
    /// The pointer, and the value or the name of the text.
    Member(String, String),
}

/// An edit by another user: the fields of a new record, or the id of a record and its changed fields.
#[derive(Debug)]
enum Edit {
    Makes(String),
    Sets(String, String),
}

/// A script of the fake.
#[derive(Debug)]
struct Next {
    target: String,
    fate: Fate,
    argument: String,
    times: usize,
}

impl Edit {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let (word, rest) = first_phrase(text, &[])?;
        let (id, fields) = split(rest);
        Ok(match word {
            EditWord::Makes => Self::Makes(rest.to_owned()),
            EditWord::Sets => Self::Sets(id.to_owned(), fields.to_owned()),
        })
    }
}

impl Next {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let (target, rest) = split(text);
        let times = rest.rsplit_once(" x");
        let times = times.and_then(|(fault, times)| Some((fault, times.parse().ok()?)));
        let (fault, times) = times.unwrap_or((rest, 1));
        let (fate, argument) = first_phrase(fault, &[])?;
        Ok(Self {
            target: target.to_owned(),
            fate,
            argument: argument.to_owned(),
            times,
        })
    }
}

impl Line {
    fn parse(line: &str) -> Result<Self, Refusal> {
        if let Some(expected) = line.strip_prefix("    ") {
            if expected.starts_with('/') {
                let (pointer, value) = split(expected);
                return Ok(Self::Member(pointer.to_owned(), value.to_owned()));
            }
            let (check, text) = first_phrase(expected, &["/"])?;
            return Ok(Self::See(check, text.to_owned()));
        }
        let (step, rest) = first_phrase(line.trim(), &["with"])?;
        let (first, second) = split(rest);
        Ok(match step {
            StepWord::Run => Self::Run(rest.to_owned()),
            StepWord::Input => Self::Input(rest.to_owned()),
            StepWord::File => Self::File(first.to_owned(), second.to_owned()),
            StepWord::Record => Self::Record(first.to_owned(), second.to_owned()),
            StepWord::ClearScripts => Self::ClearScripts,
            StepWord::Website => Self::Website(Edit::parse(rest)?),
            StepWord::BeforeList => {
                let nth = Words::parse(first)?;
                let edit = second.strip_prefix("website ");
                let edit = edit.ok_or_else(|| Refusal::new(format!("{second:?} is no edit")))?;
                Self::BeforeList(nth, Edit::parse(edit)?)
            }
            StepWord::Next => Self::Next(Next::parse(rest)?),
        })
    }
}

/// A story with a row of its table.
#[derive(Debug)]
struct Scenario {
    name: String,
    /// The place, the text and its meaning.
    lines: Vec<(String, String, Line)>,
}

/// The lines of the stories in a table, with their numbers.
fn stories(table: &Table) -> Vec<(&'static str, Vec<(usize, &'static str)>)> {
    let mut stories = Vec::<(&str, Vec<(usize, &str)>)>::new();
    let mut each = Vec::new();
    let lines = (1..).zip(table.text.lines());
    for (number, line) in
        lines.filter(|(_, line)| !line.trim_start().starts_with('#') && !line.is_empty())
    {
        match (line.strip_prefix("each "), stories.last_mut()) {
            (Some(step), _) => each.push((number, step)),
            (None, Some((_, lines))) if line.starts_with("  ") => lines.push((number, line)),
            _ => stories.push((line, each.clone())),
        }
    }
    stories
}

/// Parses a table whose stories have these names. Returns all errors if there are any, with their places.
fn parse(table: &Table, names: &[&str]) -> Result<Vec<Scenario>, String> {
    let mut scenarios = Vec::new();
    let mut refused = Vec::new();
    for (name, lines) in stories(table) {
        let mut rows: Vec<&str> = lines
            .iter()
            .filter_map(|(_, line)| line.strip_prefix("  with "))
            .collect();
        if rows.is_empty() {
            rows.push("");
        }
        let steps: Vec<_> = lines
            .iter()
            .filter(|(_, line)| !line.starts_with("  with "))
            .collect();
        for row in rows {
            let mut scenario = Scenario {
                name: format!("{name} {row}"),
                lines: Vec::new(),
            };
            let mut known: Vec<&str> = [names, &NAMES_OF_THE_FAKE].concat();
            for (number, line) in &steps {
                let place = format!("{}:{number}", table.file);
                let text = with_cells(line, row);
                if let Some(name) = unknown_name(&text, &known) {
                    let known = known.join(", ");
                    refused.push(format!(
                        "{place}: {{{name}}} is no name; the names are: {known}"
                    ));
                }
                match Line::parse(&text) {
                    Ok(parsed) => scenario.lines.push((place, text, parsed)),
                    Err(refusal) => refused.push(format!("{place}: {refusal}")),
                }
                // It may name a text.
                if line.starts_with("    /") {
                    known.push(split(line.trim()).1);
                }
            }
            scenarios.push(scenario);
        }
    }
    refused.dedup();
    if refused.is_empty() {
        Ok(scenarios)
    } else {
        Err(refused.join("\n"))
    }
}

/// Fills the cells of a row into a line.
fn with_cells(line: &str, row: &str) -> String {
    let mut line = line.to_owned();
    for (number, cell) in (1..).zip(row.split(" | ")) {
        line = line.replace(&format!("{{{number}}}"), cell.trim());
    }
    line
}

/// A name or a number in braces that stands for nothing. The number of a character follows `\u`.
fn unknown_name<'l>(line: &'l str, known: &[&str]) -> Option<&'l str> {
    let braces = line.match_indices('{');
    let braces = braces.filter(|(at, _)| !line[..*at].ends_with("\\u"));
    let mut names = braces.filter_map(|(at, _)| Some(line[at + 1..].split_once('}')?.0));
    names.find(|name| {
        let is_name = !name.is_empty() && name.bytes().all(|it| it.is_ascii_uppercase());
        let is_cell = name.len() == 1 && name.bytes().all(|it| it.is_ascii_digit());
        is_cell || (is_name && !known.contains(name))
    })
}

/// Runs all stories of a table. For each failure it prints the step, and the expected and actual values.
pub async fn play(table: Table, stage: Stage) {
    let names: Vec<&str> = stage.names.iter().map(|(name, _)| *name).collect();
    let scenarios = parse(&table, &names).unwrap_or_else(|refused| panic!("\n{refused}"));
    assert!(!scenarios.is_empty(), "{} is empty", table.file);
    let mut failed = Vec::new();
    for Scenario { name, lines } in scenarios {
        // Shown in the output if the test panics.
        println!("{name}");
        let mut story = Story::new(&stage);
        for (place, text, line) in lines {
            if let Err(why) = story.step(&text, line).await {
                failed.push(format!("{name}\n{place}: {text}\n{why}\n"));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

struct Story<'t> {
    stage: &'t Stage,
    folder: Folder,
    fake: Option<Fake>,
    /// The records at the start.
    before: Vec<Value>,
    names: BTreeMap<String, String>,
    input: Option<String>,
    ended: Ended,
    /// The number of requests before the last program.
    requests: usize,
}

impl<'t> Story<'t> {
    fn new(stage: &'t Stage) -> Self {
        Self {
            stage,
            folder: Folder::new(),
            fake: None,
            before: Vec::new(),
            names: stage
                .names
                .iter()
                .map(|(name, text)| ((*name).to_owned(), text.clone()))
                .collect(),
            input: None,
            ended: Ended::default(),
            requests: 0,
        }
    }

    async fn step(&mut self, text: &str, line: Line) -> Result<(), String> {
        if text.contains("{PROVIDER}") || text.contains("{ISSUER}") {
            self.fake().await;
        }
        match line {
            Line::Run(command) => return self.run(&self.filled(&command)).await,
            Line::Input(text) => {
                let lines = unescaped(&self.filled(&text).replace('|', "\n"));
                self.input = Some(String::from_utf8(lines).unwrap() + "\n");
            }
            Line::File(name, text) => {
                let text = unescaped(&self.filled(&text));
                self.folder.write(&self.filled(&name), text);
            }
            Line::Record(id, name) => {
                let id = self.filled(&id);
                let record = record(self.fake().await, &id).to_string();
                self.folder.write(&self.filled(&name), record);
            }
            Line::ClearScripts => self.fake().await.clear_scripts(),
            Line::Website(edit) => {
                let edit = self.website(&edit);
                let fake = self.fake().await;
                fake.edit(fake.account_id(), edit);
            }
            Line::BeforeList(nth, edit) => {
                let edit = self.website(&edit);
                let fake = self.fake().await;
                fake.controls()
                    .edit_before_list(fake.account_id(), nth, edit);
            }
            Line::Next(next) => {
                let target = self.filled(&next.target);
                let argument = self.filled(&next.argument);
                script(self.fake().await, &target, &next, &argument);
            }
            Line::See(check, text) => return self.see(&check, &self.filled(&text)),
            Line::Member(pointer, value) => {
                let pointer = self.filled(&pointer);
                return self.see_member(&pointer, &self.filled(&value));
            }
        }
        Ok(())
    }

    /// Fills the named texts into a line.
    fn filled(&self, line: &str) -> String {
        let mut line = line.to_owned();
        // Run twice, because a named text may contain other names.
        for (name, text) in self.names.iter().chain(&self.names) {
            line = line.replace(&format!("{{{name}}}"), text);
        }
        line
    }

    fn website(&self, edit: &Edit) -> WebsiteEdit {
        let json = |text: &str| serde_json::from_str::<Value>(&self.filled(text)).unwrap();
        match edit {
            Edit::Makes(fields) => WebsiteEdit::insert(json(fields)),
            Edit::Sets(id, fields) => WebsiteEdit::change(self.filled(id), json(fields)),
        }
    }

    async fn fake(&mut self) -> &Fake {
        if self.fake.is_none() {
            let fake = Fake::builder().world((self.stage.world)()).start();
            let fake = fake.await.unwrap();
            self.before = fake.consignments(fake.account_id());
            let urls = [
                ("AUTHORIZE", fake.authorize_url().to_string()),
                ("TOKEN", fake.token_url().to_string()),
                ("DEVICE", fake.device_authorization_url().to_string()),
                ("ISSUER", fake.issuer().to_owned()),
                ("AUDIENCE", fake.audience().to_owned()),
                ("CLIENT", fake.client_id().to_owned()),
            ];
            let urls = urls.map(|(name, text)| (name.to_owned(), text));
            self.names.extend(urls);
            self.fake = Some(fake);
        }
        self.fake.as_ref().unwrap()
    }

    async fn run(&mut self, command: &str) -> Result<(), String> {
        let (command, code) = command.rsplit_once(" -> ").unwrap_or((command, ""));
        let mut words = words(command).into_iter().peekable();
        let is_at_fake = words.next_if(|word| word == "@").is_some();
        let is_setting = |word: &String| {
            let name = word.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| name.bytes().all(|it| it == b'_' || it.is_ascii_uppercase()))
        };
        let settings: Vec<String> = std::iter::from_fn(|| words.next_if(is_setting)).collect();
        let mut program = (self.stage.program)(&words.next().unwrap());
        if is_at_fake {
            program = program.at(self.fake().await);
        }
        for (name, value) in settings.iter().filter_map(|it| it.split_once('=')) {
            program = program.env(name, value);
        }
        self.requests = self.fake.as_ref().map_or(0, |fake| fake.requests().len());
        let program = program.args(words).within(&self.folder.path(""));
        self.ended = match self.input.take() {
            Some(input) => program.run_with_input(&input),
            None => program.run(),
        };
        let Ended {
            stdout,
            stderr,
            code: found,
        } = &self.ended;
        let is_control = |letter: char| {
            letter.is_control() && letter != '\n'
                || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let is_clean = !stdout.contains(is_control) && !stderr.contains(is_control);
        let is_code = match code {
            "" => *found == Some(0) && stderr.is_empty(),
            "?" => true,
            code => *found == code.parse().ok(),
        };
        (is_code && is_clean)
            .then_some(())
            .ok_or_else(|| format!("{:?}", self.ended))
    }

    fn see(&self, check: &Check, rest: &str) -> Result<(), String> {
        let Ended { stdout, stderr, .. } = &self.ended;
        let text = String::from_utf8(unescaped(rest)).unwrap();
        let (number, part) = text.split_once(' ').unwrap_or((&text, ""));
        let count = || number.parse::<usize>().unwrap();
        let (first, second) = split(rest);
        let fake = || self.fake.as_ref().unwrap();
        let is_so = match check {
            Check::Stdout => stdout.contains(&text),
            Check::Stderr => stderr.contains(&text),
            Check::Neither => !stdout.contains(&text) && !stderr.contains(&text),
            Check::StdoutBegins => stdout.starts_with(&text),
            Check::StderrBegins => stderr.starts_with(&text),
            Check::StdoutIs => *stdout == text,
            Check::First => stderr
                .lines()
                .next()
                .is_some_and(|line| line.contains(&text)),
            Check::Times => stdout.matches(part).count() == count(),
            Check::Wide => stdout.lines().all(|line| line.chars().count() <= count()),
            Check::Row => cells(stdout.lines().nth(count()).unwrap_or_default()).join("|") == part,
            Check::Columns => stdout
                .lines()
                .take(count())
                .all(|line| cells(line).len().to_string() == part),
            Check::Has => self.folder.read(number).contains(part),
            Check::Hides => !self.folder.read(number).contains(part),
            Check::None => !self.folder.path(&text).exists(),
            Check::Same => *stdout == self.folder.read(&text),
            Check::Read => return same(&self.folder.read(first).into(), &part.into()),
            Check::Requests => {
                let now = self.fake.as_ref().map_or(0, |fake| fake.requests().len());
                return same(&(now - self.requests).into(), &json(rest));
            }
            Check::Asked => return same(&fake().request_count(first).into(), &json(second)),
            Check::Sent => {
                let sent = fake().requests().into_iter().rev();
                let mut sent = sent.filter(|it| it.operation().as_deref() == Some(first));
                let sent = String::from_utf8_lossy(sent.next().unwrap().body()).into_owned();
                if sent.contains(second) {
                    return Ok(());
                }
                return same(&sent.into(), &second.into());
            }
            Check::Answers => return same(&self.answers().into(), &rest.into()),
            Check::New => {
                let all = fake()
                    .consignments::<Value>(fake().account_id())
                    .into_iter();
                let new = all.filter(|it| self.before.iter().all(|known| known["id"] != it["id"]));
                return same(&new.map(|it| it[first].clone()).collect(), &json(second));
            }
            Check::Record => {
                let (pointer, wanted) = split(second);
                return same(&member(&record(fake(), first), pointer), &json(wanted));
            }
        };
        is_so
            .then_some(())
            .ok_or_else(|| format!("{:?}", self.ended))
    }

    /// The answers of the declaration on stdout.
    fn answers(&self) -> String {
        let stdout: Value = serde_json::from_str(&self.ended.stdout).unwrap();
        let answers = stdout["answers"].as_array().into_iter().flatten();
        let answers = answers.map(|it| {
            let row = it["index"].as_i64().map(|row| format!("[{row}]"));
            let text = |name: &str| it[name].as_str().unwrap();
            let question = text("questionId");
            let value = text("value");
            format!("{question}{}={value}", row.unwrap_or_default())
        });
        let answers: Vec<String> = answers.collect();
        answers.join(" ")
    }

    /// Compares a member of the JSON on stdout, or names it.
    fn see_member(&mut self, pointer: &str, value: &str) -> Result<(), String> {
        let (at, pointer) = pointer[1..].split_once('/').unwrap_or((&pointer[1..], ""));
        let values = serde_json::Deserializer::from_str(&self.ended.stdout).into_iter();
        let values: Vec<Value> = values.map_while(Result::ok).collect();
        let at = match at.strip_prefix('-') {
            Some(back) => values.len().checked_sub(back.parse().unwrap()),
            None => at.parse().ok(),
        };
        let one = at
            .and_then(|at| values.get(at))
            .cloned()
            .unwrap_or_default();
        let found = if pointer.is_empty() {
            one
        } else {
            member(&one, &format!("/{pointer}"))
        };
        if value.bytes().all(|it| it.is_ascii_uppercase()) {
            let text = found.as_str().unwrap_or_default().to_owned();
            self.names.insert(value.to_owned(), text);
            return Ok(());
        }
        same(&found, &json(value))
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text} is no JSON"))
}

fn member(value: &Value, pointer: &str) -> Value {
    value.pointer(pointer).cloned().unwrap_or_default()
}

fn same(found: &Value, wanted: &Value) -> Result<(), String> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("expected: {wanted}\nseen:     {found}"))
    }
}

/// Scripts the service.
fn script(fake: &Fake, target: &str, next: &Next, argument: &str) {
    let on = if target.starts_with('/') {
        fake.on_path(target)
    } else {
        fake.on_operation(target)
    };
    let (first, body) = split(argument);
    let text = String::from_utf8(unescaped(body)).unwrap();
    let on = match next.fate {
        Fate::Fine => on.fault(Fault::none()),
        Fate::Lost => on.fault(Fault::dropped_after()),
        Fate::Refused => on.refuse(first, text),
        Fate::Status if body.is_empty() => on.fault(Fault::status(first.parse().unwrap())),
        Fate::Status => {
            let fault = Fault::status(first.parse().unwrap());
            on.fault(match serde_json::from_str::<Value>(body) {
                Ok(body) => fault.json(body),
                Err(_) => fault.body("text/plain", body),
            })
        }
        Fate::Shows => on.fault(match serde_json::from_str::<Value>(body) {
            Ok(value) => Fault::replaced(first, value),
            Err(_) => Fault::replaced(first, text),
        }),
        Fate::Lacks => on.fault(Fault::replaced(first, ())),
    };
    on.times(next.times);
}

fn record(fake: &Fake, id: &str) -> Value {
    let mut all = fake.consignments::<Value>(fake.account_id()).into_iter();
    all.find(|record| record["id"] == id).unwrap()
}

/// The cells of a line, which have at least two blanks between them.
fn cells(line: &str) -> Vec<&str> {
    let cells = line.split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

/// The first word, and the rest.
fn split(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}

/// Splits words like a shell: at blanks that are not inside single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_open = false;
    for letter in command.trim().chars() {
        match letter {
            '\'' => is_open = !is_open,
            ' ' if !is_open => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words
}

/// Resolves the escapes of Rust.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        let kind = after.chars().next().unwrap();
        let hex = |digits: &str| u32::from_str_radix(digits, 16).unwrap();
        let (text, length) = match kind {
            'n' => ("\n".into(), 1),
            'r' => ("\r".into(), 1),
            't' => ("\t".into(), 1),
            '\\' => ("\\".into(), 1),
            'x' => (vec![hex(&after[1..3]).try_into().unwrap()], 3),
            'u' if after.starts_with("u{") => {
                let end = after.find('}').unwrap();
                let letter = char::from_u32(hex(&after[2..end])).unwrap();
                (letter.to_string().into_bytes(), end + 1)
            }
            // Escapes of JSON stay.
            _ => ("\\".into(), 0),
        };
        bytes.extend::<Vec<u8>>(text);
        rest = &after[length..];
    }
    bytes.extend(rest.bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use test_support::script::{Table, Vocabulary, misspelled, names_the_words};

    use super::{Check, EditWord, Fate, StepWord, parse};

    /// The errors of a story with this step.
    fn refused(step: &str) -> String {
        let text = format!("# Comment.\nA story\n  with x | y\n{step}\n");
        let table = Table {
            file: "words.txt".to_owned(),
            text: text.leak(),
        };
        parse(&table, &["OUTBOX"]).expect_err(step)
    }

    fn refuses_misspelled<V: Vocabulary>(step: &str) {
        for wrong in misspelled::<V>() {
            let why = refused(&step.replace("{}", &wrong));
            names_the_words::<V>("words.txt:4: ", &wrong, &why);
        }
    }

    /// Each word of each vocabulary, misspelled, is an error with the place and the known words.
    #[test]
    fn misspelled_words_are_refused() {
        refuses_misspelled::<StepWord>("  {} 1");
        refuses_misspelled::<EditWord>("  website {} x");
        refuses_misspelled::<EditWord>("  before list 2 website {} x");
        refuses_misspelled::<Fate>("  next Consignments {} x");
        refuses_misspelled::<Check>("    {} 1 x");
    }

    #[test]
    fn misspelled_names_and_missing_cells_are_refused() {
        let why = refused("  $ @ {OUTBXO} --json");
        assert!(why.starts_with("words.txt:4: {OUTBXO} is no name; the names are: OUTBOX, "));
        let why = refused("  $ @ {OUTBOX} {3}");
        assert!(why.starts_with("words.txt:4: {3} is no name"), "{why}");
    }
}
