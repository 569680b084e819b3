//! Runs tables of scenarios, in the tests of token managers, replica, outbox and banks.
//!
//! A line at the margin is the name of a scenario, and the indented lines below it are its steps: `do; do -> see, see`. `fails`
//! means that the step must fail. A scenario runs once for each alternative in braces; groups with the same number of
//! alternatives vary together. The steps after `each:` run first in all later scenarios.
//!
//! The words of a step are an enum, declared with [`words!`](crate::words). The table is parsed before its first step
//! runs: an unknown word, or an extra word, is an error with the file, the line and the known words. To add a word, add a
//! variant; the compiler then shows each `match` that needs it.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Display};
use std::path::Path;
use std::time::Duration;

/// The time limit of a step, far longer than any step takes.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Precedes the number of a line in the joined steps of a scenario.
const LINE: char = '\u{1}';

/// Panics if a wait on a fake or a manual clock does not end.
pub async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LIMIT, wait).await;
    waited.unwrap_or_else(|_| panic!("{what}: it has not ended after {LIMIT:?}"))
}

/// The text of a table, and its path for messages. Made by [`table!`](crate::table).
#[derive(Clone, Debug)]
pub struct Table {
    pub file: String,
    pub text: &'static str,
}

impl Table {
    /// A table in the folder of this source file.
    #[must_use]
    pub fn beside(source: &str, name: &str, text: &'static str) -> Self {
        let file = Path::new(source).with_file_name(name);
        let file = file.display().to_string();
        Self { file, text }
    }
}

/// The table in a text file, by its path relative to the source file; with `const`, the table in a constant.
#[macro_export]
macro_rules! table {
    (const $text:ident) => {
        $crate::script::Table {
            file: concat!(file!(), " ", stringify!($text)).to_owned(),
            text: $text,
        }
    };
    ($name:expr) => {
        $crate::script::Table::beside(file!(), $name, include_str!($name))
    };
}

/// Why words were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    why: String,
    /// The words that exist in this place.
    known: Option<String>,
}

impl Refusal {
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { why, known: None }
    }
}

impl Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.known {
            Some(known) => write!(out, "{}; {known}", self.why),
            None => out.write_str(&self.why),
        }
    }
}

/// A closed set of phrases. Declared with [`words!`](crate::words).
pub trait Vocabulary: Argument {
    /// The noun for one phrase in messages, such as `step`.
    const KIND: &'static str;

    const PHRASES: &'static [&'static str];

    /// The phrase of this value, without its arguments.
    fn phrase(&self) -> &'static str;

    /// Parses the arguments that follow a phrase.
    fn with_arguments(phrase: &str, words: &mut Words<'_>) -> Result<Self, Refusal>;
}

/// A value that is parsed from the next words of a step.
pub trait Argument: Sized {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal>;
}

/// Declares a closed vocabulary: an enum with the phrase of each variant. The arguments of a variant follow its phrase.
///
/// A phrase that ends in `=`, `:` or `.` is the beginning of a word, and the rest of this word is the first argument. Of several
/// phrases that fit, the longest is meant.
///
/// ```text
/// words! {
///     "step";
///     enum Does {
///         Pass = "pass",
///         ClockBack(Duration) = "clock back",
///         Next(Operation, Vec<FaultWord>) = "next",
///     }
/// }
/// ```
#[macro_export]
macro_rules! words {
    (
        $kind:literal;
        $(#[$outer:meta])*
        $vis:vis enum $name:ident {
            $($(#[$inner:meta])* $variant:ident $(($($argument:ty),+))? = $phrase:literal,)+
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug)]
        $vis enum $name {
            $($(#[$inner])* $variant $(($($argument),+))?,)+
        }

        impl $crate::script::Vocabulary for $name {
            const KIND: &'static str = $kind;

            const PHRASES: &'static [&'static str] = &[$($phrase),+];

            fn phrase(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $phrase,)+
                }
            }

            fn with_arguments(
                phrase: &str,
                words: &mut $crate::script::Words<'_>,
            ) -> Result<Self, $crate::script::Refusal> {
                // OK if it stays unused: no variant may have arguments.
                let _ = &words;
                match phrase {
                    $($phrase => Ok(Self::$variant
                        $(($(<$argument as $crate::script::Argument>::take(words)?),+))?),)+
                    _ => unreachable!("{phrase} is none of the phrases"),
                }
            }
        }

        impl $crate::script::Argument for $name {
            fn take(
                words: &mut $crate::script::Words<'_>,
            ) -> Result<Self, $crate::script::Refusal> {
                words.phrase()
            }
        }
    };
}

/// The ends of phrases that are the beginning of a word.
const OPEN: [char; 3] = ['=', ':', '.'];

/// Whether a part of a phrase is the beginning of a word. A single `=` is a word of its own.
fn is_open(part: &str) -> bool {
    part.len() > 1 && part.ends_with(OPEN)
}

/// The words of a step that are not parsed yet.
#[derive(Clone, Debug)]
pub struct Words<'t> {
    left: VecDeque<&'t str>,
    /// The phrases of the first vocabulary.
    known: Option<String>,
}

impl<'t> Words<'t> {
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self {
            left: text.split_whitespace().collect(),
            known: None,
        }
    }

    /// Parses a text to its end.
    ///
    /// # Errors
    ///
    /// If a word is unknown or left over.
    pub fn parse<A: Argument>(text: &'t str) -> Result<A, Refusal> {
        let mut words = Self::new(text);
        let parsed = A::take(&mut words)?;
        words.end()?;
        Ok(parsed)
    }

    /// Checks that no word is left over.
    ///
    /// # Errors
    ///
    /// If there is a further word.
    pub fn end(mut self) -> Result<(), Refusal> {
        if self.left.is_empty() {
            return Ok(());
        }
        let left = self.rest();
        Err(Refusal {
            why: format!("{left:?} is left over"),
            known: self.known,
        })
    }

    /// Takes the words before this one.
    #[must_use]
    pub fn until(&mut self, end: &str) -> Self {
        let at = self.left.iter().position(|word| *word == end);
        let left = self.left.drain(..at.unwrap_or(self.left.len())).collect();
        let known = None;
        Self { left, known }
    }

    #[must_use]
    pub fn peek(&self) -> Option<&'t str> {
        self.left.front().copied()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Takes the next word, which is expected to be such a thing.
    ///
    /// # Errors
    ///
    /// If the step has ended.
    pub fn next(&mut self, what: &str) -> Result<&'t str, Refusal> {
        let next = self.left.pop_front();
        next.ok_or_else(|| Refusal::new(format!("{what} is missing")))
    }

    /// Parses the next word, which is expected to be such a thing.
    ///
    /// # Errors
    ///
    /// If the step has ended, or the word is not as expected.
    pub fn next_as<T>(
        &mut self,
        what: &str,
        expected: &str,
        parse: impl FnOnce(&'t str) -> Option<T>,
    ) -> Result<T, Refusal> {
        let word = self.next(what)?;
        parse(word).ok_or_else(|| Refusal::new(format!("{word:?} is no {expected}")))
    }

    /// Takes the next word if it satisfies a condition.
    pub fn next_if(&mut self, fits: impl FnOnce(&str) -> bool) -> Option<&'t str> {
        let next = self.peek()?;
        if fits(next) {
            self.left.pop_front()
        } else {
            None
        }
    }

    /// Takes all words but a last repetition such as `x3`.
    #[must_use]
    pub fn before_times(&mut self) -> Self {
        let last = self.left.back().and_then(|word| word.strip_prefix('x'));
        let has_times = last.is_some_and(|times| times.parse::<usize>().is_ok());
        let count = self.left.len() - usize::from(has_times);
        let left = self.left.drain(..count).collect();
        let known = None;
        Self { left, known }
    }

    /// Takes all words of a kind, wherever they stand.
    #[must_use]
    pub fn extract(&mut self, is_one: impl Fn(&str) -> bool) -> Self {
        let (left, others) = self.left.iter().partition(|word| is_one(word));
        self.left = others;
        let known = None;
        Self { left, known }
    }

    /// Removes the beginning of the next word. Returns false if it begins otherwise.
    pub fn strip(&mut self, beginning: &str) -> bool {
        let rest = self.peek().and_then(|word| word.strip_prefix(beginning));
        let Some(rest) = rest else {
            return false;
        };
        self.left[0] = rest;
        true
    }

    /// Takes a repetition such as `x3`.
    pub fn times(&mut self) -> Option<usize> {
        let times = self.peek()?.strip_prefix('x')?.parse().ok()?;
        self.left.pop_front();
        Some(times)
    }

    /// Takes all words.
    pub fn rest(&mut self) -> String {
        let rest: Vec<&str> = self.left.drain(..).collect();
        rest.join(" ")
    }

    fn begins_with(&self, phrase: &str) -> bool {
        let mut words = self.left.iter();
        phrase.split(' ').all(|part| {
            words
                .next()
                .is_some_and(|word| *word == part || (is_open(part) && word.starts_with(part)))
        })
    }

    /// Whether the next words are a phrase of this vocabulary.
    #[must_use]
    pub fn begin<V: Vocabulary>(&self) -> bool {
        V::PHRASES.iter().any(|phrase| self.begins_with(phrase))
    }

    /// Takes a phrase of a vocabulary and its arguments.
    ///
    /// # Errors
    ///
    /// If the next words do not begin a phrase, or its arguments are wrong.
    pub fn phrase<V: Vocabulary>(&mut self) -> Result<V, Refusal> {
        self.phrase_or::<V>(&[])
    }

    /// Like [`phrase`](Self::phrase), where a message lists further phrases.
    ///
    /// # Errors
    ///
    /// If the next words do not begin a phrase, or its arguments are wrong.
    pub fn phrase_or<V: Vocabulary>(&mut self, others: &[&str]) -> Result<V, Refusal> {
        let kind = V::KIND;
        let known = [V::PHRASES, others].concat().join(", ");
        let known = format!("the {kind}s are: {known}");
        self.known.get_or_insert_with(|| known.clone());
        let whole: Vec<&str> = self.left.iter().copied().collect();
        let whole = whole.join(" ");
        let fitting = V::PHRASES.iter().filter(|phrase| self.begins_with(phrase));
        let Some(phrase) = fitting.max_by_key(|phrase| phrase.len()) else {
            return Err(Refusal {
                why: format!("{whole:?} is no {kind}"),
                known: Some(known),
            });
        };
        for part in phrase.split(' ') {
            let word = self.next(kind)?;
            if is_open(part) {
                self.left.push_front(&word[part.len()..]);
            }
        }
        let parsed = V::with_arguments(phrase, self);
        // The wrong argument may be a misspelled part of a longer phrase.
        let longer = format!("{phrase} ");
        let has_longer = V::PHRASES.iter().any(|it| it.starts_with(&longer));
        parsed.map_err(|refusal| match refusal.known {
            Some(_) if !has_longer => refusal,
            _ => Refusal {
                why: format!("{whole:?} is no {kind}: {refusal}"),
                known: Some(known),
            },
        })
    }
}

/// Takes a phrase of a vocabulary without arguments from the beginning of a text. The rest keeps its blanks.
///
/// # Errors
///
/// If the text begins otherwise; the message lists these other phrases too.
pub fn first_phrase<'t, V: Vocabulary>(
    text: &'t str,
    others: &[&str],
) -> Result<(V, &'t str), Refusal> {
    let rest_of = |phrase: &str| {
        let rest = text.strip_prefix(phrase)?;
        (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
    };
    let fitting = V::PHRASES.iter().filter(|phrase| rest_of(phrase).is_some());
    let phrase = fitting.max_by_key(|phrase| phrase.len());
    // Without a phrase, the text is refused.
    let length = phrase.map_or(text.len(), |phrase| phrase.len());
    let parsed = Words::new(&text[..length]).phrase_or(others)?;
    let rest = &text[length..];
    Ok((parsed, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// Any word.
impl Argument for String {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        words.next("a word").map(str::to_owned)
    }
}

/// A repetition such as `x3`.
#[derive(Clone, Copy, Debug)]
pub struct Times(pub usize);

impl Argument for Times {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let times = words.times();
        let times = times.ok_or_else(|| Refusal::new("a repetition such as x3 is missing"));
        times.map(Self)
    }
}

macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl Argument for $number {
            fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
                words.next_as("a number", "number", |word| word.parse().ok())
            }
        }
    )+};
}

numbers! { usize u8 u16 u32 u64 i32 }

impl Argument for Duration {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        words.next_as("a time", "time such as 90s or 1.5h", |word| {
            Duration::try_from_secs_f64(parse_seconds(word)?).ok()
        })
    }
}

impl<A: Argument> Argument for Box<A> {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        A::take(words).map(Self::new)
    }
}

/// The last argument, which may be absent.
impl<A: Argument> Argument for Option<A> {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        if words.is_empty() {
            Ok(None)
        } else {
            A::take(words).map(Some)
        }
    }
}

/// All further arguments.
impl<A: Argument> Argument for Vec<A> {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let mut all = Self::new();
        while !words.is_empty() {
            all.push(A::take(words)?);
        }
        Ok(all)
    }
}

/// All further words, unchecked.
#[derive(Clone, Debug)]
pub struct Rest(pub String);

impl Argument for Rest {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        Ok(Self(words.rest()))
    }
}

/// A thing to see, and the value that is expected of it.
#[derive(Clone, Debug)]
pub struct Expected<S> {
    pub sees: S,
    pub value: String,
}

impl<S: Argument> Argument for Expected<S> {
    fn take(words: &mut Words<'_>) -> Result<Self, Refusal> {
        let sees = S::take(words)?;
        let value = words.rest();
        Ok(Self { sees, value })
    }
}

/// Executes the steps of a scenario, and reports what they see.
pub trait Stage: Sized + Send + 'static {
    type Does: Argument + Send;
    type Sees: Argument + Send + Sync;
    type Error: Debug + Send;

    fn start() -> impl Future<Output = Self> + Send;

    fn act(&mut self, does: Self::Does) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Returns the actual value, in the format of the expected one.
    fn see(&mut self, sees: &Self::Sees, expected: &str) -> impl Future<Output = String> + Send;
}

struct Step<S: Stage> {
    /// The file, the line and the text.
    text: String,
    does: Option<S::Does>,
    must_fail: bool,
    sees: Vec<(String, Expected<S::Sees>)>,
}

impl<S: Stage> Step<S> {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let (does, expects) = text.split_once("->").unwrap_or((text, ""));
        let does = Some(does.trim()).filter(|does| !does.is_empty());
        let mut step = Self {
            text: text.to_owned(),
            does: does.map(Words::parse).transpose()?,
            must_fail: false,
            sees: Vec::new(),
        };
        let expects = expects.split(", ").map(str::trim);
        for expected in expects.filter(|it| !it.is_empty()) {
            if expected == "fails" {
                step.must_fail = true;
            } else {
                let parsed = Words::parse(expected)?;
                step.sees.push((expected.to_owned(), parsed));
            }
        }
        Ok(step)
    }
}

/// A scenario with one choice of its alternatives.
struct Scenario<S: Stage> {
    name: &'static str,
    steps: Vec<Step<S>>,
}

/// The names of the scenarios of a table, with their joined steps.
fn joined(table: &Table) -> Vec<(&'static str, String)> {
    let mut scenarios: Vec<(&str, String)> = Vec::new();
    let mut first = String::new();
    let lines = (1..).zip(table.text.lines());
    for (number, line) in lines.filter(|(_, line)| !line.trim_start().starts_with('#')) {
        let numbered = |steps: &str| format!(" {LINE}{number} {}", steps.trim());
        match (line.strip_prefix("  "), scenarios.last_mut()) {
            (Some(steps), Some((_, all))) => all.push_str(&numbered(steps)),
            _ if line.is_empty() => {}
            _ => match line.strip_prefix("each:") {
                Some(steps) => first = numbered(steps),
                None => scenarios.push((line, first.clone())),
            },
        }
    }
    scenarios
}

/// Parses a table. Returns all refused steps if there are any, with their places.
fn parse<S: Stage>(table: &Table) -> Result<Vec<Scenario<S>>, String> {
    let mut scenarios = Vec::new();
    let mut refused = Vec::new();
    for (name, steps) in joined(table) {
        if !steps.contains(LINE) {
            refused.push(format!("{}: {name:?} has no steps", table.file));
        }
        for chosen in alternatives(&steps) {
            let mut scenario = Scenario {
                name,
                steps: Vec::new(),
            };
            let mut line = String::new();
            for step in chosen.split(';') {
                let mut words = Vec::new();
                for word in step.split_whitespace() {
                    match word.strip_prefix(LINE) {
                        Some(number) if words.is_empty() => number.clone_into(&mut line),
                        Some(_) => {}
                        None => words.push(word),
                    }
                }
                let place = format!("{}:{line}", table.file);
                match Step::parse(&words.join(" ")) {
                    _ if words.is_empty() => {}
                    Ok(step) => scenario.steps.push(Step {
                        text: format!("{place}: {}", step.text),
                        ..step
                    }),
                    Err(refusal) => refused.push(format!("{place}: {refusal}")),
                }
                // The next step begins on the last line of this one.
                let last = step.split_whitespace().rev();
                let last = last.filter_map(|word| word.strip_prefix(LINE)).next();
                last.unwrap_or(&line.clone()).clone_into(&mut line);
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

/// Runs all scenarios of a table. For each failure it prints the scenario, the failed step, and the expected and actual values.
pub async fn play<S: Stage>(table: Table) {
    let scenarios = parse::<S>(&table).unwrap_or_else(|refused| panic!("\n{refused}"));
    assert!(!scenarios.is_empty(), "{} is empty", table.file);
    let mut failed = Vec::new();
    for Scenario { name, steps } in scenarios {
        let texts: Vec<&str> = steps.iter().map(|step| &*step.text).collect();
        let texts = texts.join("\n ");
        let why = match tokio::spawn(play_steps::<S>(steps)).await {
            Ok(Ok(())) => continue,
            Ok(Err(why)) => why,
            Err(panic) => panic.to_string(),
        };
        failed.push(format!("{name}\n {texts}\n  {why}\n"));
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

async fn play_steps<S: Stage>(steps: Vec<Step<S>>) -> Result<(), String> {
    let mut stage = within("start", S::start()).await;
    for step in steps {
        let text = step.text;
        let done = match step.does {
            None => Ok(()),
            Some(does) => within(&text, stage.act(does)).await,
        };
        if step.must_fail != done.is_err() {
            return Err(format!(
                "{text}\n  expected: fails or not\n  seen:     {done:?}"
            ));
        }
        for (expected, Expected { sees, value }) in step.sees {
            let seen = within(&expected, stage.see(&sees, &value)).await;
            if seen != value {
                return Err(format!(
                    "{text}\n  expected: {expected}\n  seen:     {seen}"
                ));
            }
        }
    }
    Ok(())
}

/// The phrases of a vocabulary, each with one word misspelled, and each word misspelled once.
#[must_use]
pub fn misspelled<V: Vocabulary>() -> Vec<String> {
    let is_phrase = |text: &String| V::PHRASES.iter().any(|phrase| phrase == text);
    let mut all = Vec::new();
    for phrase in V::PHRASES {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for (at, part) in parts.iter().enumerate() {
            let written = if is_open(part) {
                part.trim_end_matches(OPEN)
            } else {
                part
            };
            let end = &part[written.len()..];
            let (rest, last) = written.split_at(written.len() - 1);
            // The last two letters swapped, the last letter missing, written twice, or after a wrong one.
            let swapped = match rest.char_indices().last() {
                Some((nth, other)) => format!("{}{last}{other}", &rest[..nth]),
                None => rest.to_owned(),
            };
            let wrong = [
                swapped,
                rest.to_owned(),
                format!("{written}{last}"),
                format!("q{written}"),
            ];
            let wrong = wrong.into_iter().filter(|wrong| !wrong.is_empty());
            let mut wrong = wrong.filter(|wrong| wrong != written).map(|wrong| {
                let wrong = format!("{wrong}{end}");
                [&parts[..at], &[&*wrong], &parts[at + 1..]]
                    .concat()
                    .join(" ")
            });
            all.push(wrong.find(|wrong| !is_phrase(wrong)).unwrap());
        }
    }
    all
}

/// Asserts that each word of a vocabulary is refused when it is misspelled, with the file, the line and the known words. The step
/// has `{}` instead of the phrase.
///
/// # Panics
///
/// If a misspelled word is accepted, or its error lacks something.
pub fn refuses_misspelled<S: Stage, V: Vocabulary>(step: &str) {
    for wrong in misspelled::<V>() {
        let text = format!(
            "# Comment.\n\nA scenario\n  ; {}\n",
            step.replace("{}", &wrong)
        );
        let table = Table {
            file: "words.txt".to_owned(),
            text: text.leak(),
        };
        let why = match parse::<S>(&table) {
            Ok(_) => panic!("{wrong:?} is accepted"),
            Err(why) => why,
        };
        names_the_words::<V>("words.txt:4: ", &wrong, &why);
    }
}

/// Asserts that an error names the place, the first misspelled word and the known words.
///
/// # Panics
///
/// If it does not.
pub fn names_the_words<V: Vocabulary>(place: &str, wrong: &str, why: &str) {
    assert!(why.starts_with(place), "{wrong:?}: {why}");
    let known = V::PHRASES.join(", ");
    assert!(why.contains(&known), "{wrong:?}: {why}");
    let unknown = |word: &&str| {
        !V::PHRASES
            .iter()
            .any(|phrase| phrase.split(' ').any(|it| it == *word))
    };
    let named = wrong.split(' ').find(unknown).unwrap_or(wrong);
    assert!(why.contains(named), "{wrong:?}: {why}");
}

/// Expands the alternatives. Braces without a bar, and outer braces, belong to JSON.
fn alternatives(steps: &str) -> Vec<String> {
    let groups = steps.split('{').skip(1);
    let groups = groups.filter_map(|rest| Some(rest.split_once('}')?.0));
    let groups: Vec<&str> = groups.filter(|group| group.contains('|')).collect();
    let Some(length) = groups.first().map(|group| group.split('|').count()) else {
        return vec![steps.to_owned()];
    };
    let chosen = |number: usize| {
        let choose = |steps: String, group: &&str| match group.split('|').nth(number) {
            Some(one) if group.split('|').count() == length => {
                // The text after the group begins on its last line.
                let line = group.rfind(LINE).map_or("", |at| &group[at..]);
                let line = line.split([' ', '|']).next().unwrap_or_default();
                let one = match line {
                    "" => one.to_owned(),
                    line => format!("{one} {line} "),
                };
                steps.replacen(&format!("{{{group}}}"), &one, 1)
            }
            _ => steps,
        };
        alternatives(&groups.iter().fold(steps.to_owned(), choose))
    };
    (0..length).flat_map(chosen).collect()
}

/// The rows of a table whose columns are separated by `|`.
pub fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// Parses a duration such as `90s`, `5m`, `1.5h` or `-40d`.
#[must_use]
pub fn parse_seconds(text: &str) -> Option<f64> {
    let units = [
        ("ms", 0.001),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3_600.0),
        ("d", 86_400.0),
    ];
    units.into_iter().find_map(|(name, seconds)| {
        let number: f64 = text.strip_suffix(name)?.parse().ok()?;
        Some(number * seconds)
    })
}

/// Like [`parse_seconds`], for a text that is a duration.
pub fn seconds(text: &str) -> f64 {
    parse_seconds(text).unwrap_or_else(|| panic!("{text:?} is no duration"))
}

pub fn span(text: &str) -> Duration {
    Duration::from_secs_f64(seconds(text))
}

/// Joins several values in one line.
pub fn listed(all: impl IntoIterator<Item = impl Into<String>>) -> String {
    let all: Vec<String> = all.into_iter().map(Into::into).collect();
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(" + ")
    }
}
