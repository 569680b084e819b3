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
//! Texts have the escapes of Rust. No program may print control characters.

use std::collections::BTreeMap;

use envd_sdk::fake::{Fake, Fault, WebsiteEdit, World};
use serde_json::Value;

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

/// Runs all stories of a table. For each failure it prints the step, and the expected and actual values.
pub async fn play(table: &str, stage: Stage) {
    let mut stories = Vec::<(&str, Vec<&str>)>::new();
    let mut each = Vec::new();
    for line in table
        .lines()
        .filter(|line| !line.trim_start().starts_with('#') && !line.is_empty())
    {
        match (line.strip_prefix("each "), stories.last_mut()) {
            (Some(step), _) => each.push(step),
            (None, Some((_, lines))) if line.starts_with("  ") => lines.push(line),
            _ => stories.push((line, each.clone())),
        }
    }
    let mut failed = Vec::new();
    for (name, lines) in &stories {
        let rows: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("  with "))
            .collect();
        for row in if rows.is_empty() { &[""][..] } else { &rows } {
            // Shown in the output if the test panics.
            println!("{name} {row}");
            let mut story = Story::new(&stage, row);
            for step in lines.iter().filter(|line| !line.starts_with("  with ")) {
                if let Err(why) = story.step(step).await {
                    failed.push(format!("{name} {row}\n{step}\n{why}\n"));
                    break;
                }
            }
        }
    }
    assert!(
        failed.is_empty() && !stories.is_empty(),
        "\n{}",
        failed.join("\n")
    );
}

struct Story<'t> {
    stage: &'t Stage,
    row: Vec<&'t str>,
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
    fn new(stage: &'t Stage, row: &'t str) -> Self {
        Self {
            stage,
            row: row.split(" | ").map(str::trim).collect(),
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

    async fn step(&mut self, line: &str) -> Result<(), String> {
        if line.contains("{PROVIDER}") || line.contains("{ISSUER}") {
            self.fake().await;
        }
        let line = self.filled(line);
        if let Some(expected) = line.strip_prefix("    ") {
            return self.see(expected);
        }
        let (what, rest) = split(line.trim());
        match what {
            "$" => return self.run(rest).await,
            "<" => {
                let lines = unescaped(&rest.replace('|', "\n"));
                self.input = Some(String::from_utf8(lines).unwrap() + "\n");
            }
            "file" => {
                let (name, text) = split(rest);
                self.folder.write(name, unescaped(text));
            }
            "record" => {
                let (id, name) = split(rest);
                let record = record(self.fake().await, id).to_string();
                self.folder.write(name, record);
            }
            _ => act(self.fake().await, what, rest),
        }
        Ok(())
    }

    /// Fills the cells of the row and the named texts into a line.
    fn filled(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (number, cell) in (1..).zip(&self.row) {
            line = line.replace(&format!("{{{number}}}"), cell);
        }
        // Run twice, because a named text may contain other names.
        for (name, text) in self.names.iter().chain(&self.names) {
            line = line.replace(&format!("{{{name}}}"), text);
        }
        line
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

    fn see(&mut self, expected: &str) -> Result<(), String> {
        let Ended { stdout, stderr, .. } = &self.ended;
        let (what, rest) = split(expected);
        let text = String::from_utf8(unescaped(rest)).unwrap();
        let (number, part) = text.split_once(' ').unwrap_or((&text, ""));
        let count = || number.parse::<usize>().unwrap();
        let is_so = match what {
            ">" => stdout.contains(&text),
            "!" => stderr.contains(&text),
            "-" => !stdout.contains(&text) && !stderr.contains(&text),
            ">>" => stdout.starts_with(&text),
            "!!" => stderr.starts_with(&text),
            "=" => *stdout == text,
            "first" => stderr
                .lines()
                .next()
                .is_some_and(|line| line.contains(&text)),
            "times" => stdout.matches(part).count() == count(),
            "wide" => stdout.lines().all(|line| line.chars().count() <= count()),
            "row" => cells(stdout.lines().nth(count()).unwrap_or_default()).join("|") == part,
            "columns" => stdout
                .lines()
                .take(count())
                .all(|line| cells(line).len().to_string() == part),
            "has" => self.folder.read(number).contains(part),
            "hides" => !self.folder.read(number).contains(part),
            "none" => !self.folder.path(&text).exists(),
            "same" => *stdout == self.folder.read(&text),
            _ => {
                let (found, wanted) = self.found(what, rest);
                return if found == wanted {
                    Ok(())
                } else {
                    Err(format!("expected: {wanted}\nseen:     {found}"))
                };
            }
        };
        is_so
            .then_some(())
            .ok_or_else(|| format!("{:?}", self.ended))
    }

    /// The actual and the expected value.
    fn found(&mut self, what: &str, rest: &str) -> (Value, Value) {
        let json =
            |text: &str| serde_json::from_str(text).unwrap_or_else(|_| panic!("{text} is no JSON"));
        let member =
            |value: &Value, pointer: &str| value.pointer(pointer).cloned().unwrap_or_default();
        let (first, second) = split(rest);
        let fake = || self.fake.as_ref().unwrap();
        match what {
            "read" => {
                let text = self.folder.read(first);
                let wanted = String::from_utf8(unescaped(second)).unwrap();
                (text.into(), wanted.into())
            }
            "requests" => {
                let now = self.fake.as_ref().map_or(0, |fake| fake.requests().len());
                ((now - self.requests).into(), json(rest))
            }
            "asked" => (fake().request_count(first).into(), json(second)),
            "sent" => {
                let sent = fake().requests().into_iter().rev();
                let mut sent = sent.filter(|it| it.operation().as_deref() == Some(first));
                let sent = String::from_utf8_lossy(sent.next().unwrap().body()).into_owned();
                (
                    if sent.contains(second) {
                        second.into()
                    } else {
                        sent.into()
                    },
                    second.into(),
                )
            }
            "answers" => {
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
                (answers.join(" ").into(), rest.into())
            }
            "new" => {
                let all = fake()
                    .consignments::<Value>(fake().account_id())
                    .into_iter();
                let new = all.filter(|it| self.before.iter().all(|known| known["id"] != it["id"]));
                (new.map(|it| it[first].clone()).collect(), json(second))
            }
            "record" => {
                let (pointer, wanted) = split(second);
                (member(&record(fake(), first), pointer), json(wanted))
            }
            pointer => {
                let (at, pointer) = pointer[1..].split_once('/').unwrap_or((&pointer[1..], ""));
                let values = serde_json::Deserializer::from_str(&self.ended.stdout).into_iter();
                let values: Vec<Value> = values.map_while(Result::ok).collect();
                let at = match at.strip_prefix('-') {
                    Some(back) => values.len().checked_sub(back.parse().unwrap()),
                    None => at.parse().ok(),
                };
                let value = at
                    .and_then(|at| values.get(at))
                    .cloned()
                    .unwrap_or_default();
                let found = if pointer.is_empty() {
                    value
                } else {
                    member(&value, &format!("/{pointer}"))
                };
                if rest.bytes().all(|it| it.is_ascii_uppercase()) {
                    let text = found.as_str().unwrap_or_default().to_owned();
                    self.names.insert(rest.to_owned(), text);
                    return (Value::Null, Value::Null);
                }
                (found, json(rest))
            }
        }
    }
}

/// Scripts the service, or makes an edit by another user.
fn act(fake: &Fake, what: &str, rest: &str) {
    let account = fake.account_id();
    match what {
        "clear" => fake.clear_scripts(),
        "website" => drop(fake.edit(account, website(rest))),
        "before" => {
            let (nth, edit) = rest
                .trim_start_matches("list ")
                .split_once(" website ")
                .unwrap();
            fake.controls()
                .edit_before_list(account, nth.parse().unwrap(), website(edit));
        }
        "next" => {
            let (target, rest) = split(rest);
            let on = if target.starts_with('/') {
                fake.on_path(target)
            } else {
                fake.on_operation(target)
            };
            let (fault, times) = match rest.rsplit_once(" x") {
                Some((fault, times)) => (fault, times.parse().unwrap()),
                None => (rest, 1),
            };
            let (kind, argument) = split(fault);
            let (first, body) = split(argument);
            let text = String::from_utf8(unescaped(body)).unwrap();
            let on = match kind {
                "fine" => on.fault(Fault::none()),
                "lost" => on.fault(Fault::dropped_after()),
                "refused" => on.refuse(first, text),
                "status" if body.is_empty() => on.fault(Fault::status(first.parse().unwrap())),
                "status" => {
                    let fault = Fault::status(first.parse().unwrap());
                    on.fault(match serde_json::from_str::<Value>(body) {
                        Ok(body) => fault.json(body),
                        Err(_) => fault.body("text/plain", body),
                    })
                }
                "shows" => on.fault(match serde_json::from_str::<Value>(body) {
                    Ok(value) => Fault::replaced(first, value),
                    Err(_) => Fault::replaced(first, text),
                }),
                "lacks" => on.fault(Fault::replaced(first, ())),
                _ => panic!("{fault} is no fault"),
            };
            on.times(times);
        }
        _ => panic!("{what} {rest} is no step"),
    }
}

fn record(fake: &Fake, id: &str) -> Value {
    let mut all = fake.consignments::<Value>(fake.account_id()).into_iter();
    all.find(|record| record["id"] == id).unwrap()
}

fn website(edit: &str) -> WebsiteEdit {
    let (what, rest) = split(edit);
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    match what {
        "makes" => WebsiteEdit::insert(json(rest)),
        "sets" => {
            let (id, fields) = split(rest);
            WebsiteEdit::change(id, json(fields))
        }
        _ => panic!("{edit} is no edit"),
    }
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
