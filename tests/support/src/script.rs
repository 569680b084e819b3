//! Runs tables of scenarios, in the tests of token managers, replica, outbox and banks.
//!
//! A line at the margin is the name of a scenario, and the indented lines below it are its steps: `do; do -> see, see`. `fails`
//! means that the step must fail. A scenario runs once for each alternative in braces; groups with the same number of
//! alternatives vary together. The steps after `each:` run first in all later scenarios.

use std::fmt::Debug;
use std::time::Duration;

/// The time limit of a step, far longer than any step takes.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Panics if a wait on a fake or a manual clock does not end.
pub async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LIMIT, wait).await;
    waited.unwrap_or_else(|_| panic!("{what}: it has not ended after {LIMIT:?}"))
}

/// Executes the steps of a scenario, and reports what they see.
pub trait Stage: Send + 'static {
    type Error: Debug + Send;

    fn start() -> impl Future<Output = Self> + Send;

    fn act(&mut self, words: &[&str]) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Returns the actual value, in the format of the expected words.
    fn see(&mut self, words: &[&str]) -> impl Future<Output = String> + Send;
}

/// Runs all scenarios of a table. For each failure it prints the scenario, the failed step, and the expected and actual values.
pub async fn play<S: Stage>(table: &'static str) {
    let mut scenarios: Vec<(&str, String)> = Vec::new();
    let mut first = "";
    for line in table
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        match (line.strip_prefix("  "), scenarios.last_mut()) {
            (Some(steps), Some((_, all))) => all.extend([" ", steps.trim()]),
            _ if line.is_empty() => {}
            _ => match line.strip_prefix("each:") {
                Some(steps) => first = steps,
                None => scenarios.push((line, first.to_owned())),
            },
        }
    }
    let mut failed = Vec::new();
    for (name, steps) in scenarios {
        for steps in alternatives(&steps) {
            let why = match tokio::spawn(play_steps::<S>(steps.clone())).await {
                Ok(Ok(())) => continue,
                Ok(Err(why)) => why,
                Err(panic) => panic.to_string(),
            };
            failed.push(format!("{name}\n {steps}\n  {why}\n"));
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

async fn play_steps<S: Stage>(steps: String) -> Result<(), String> {
    let mut stage = within("start", S::start()).await;
    let steps = steps.split(';').map(str::trim);
    for step in steps.filter(|step| !step.is_empty()) {
        let (does, expects) = step.split_once("->").unwrap_or((step, ""));
        let expects: Vec<&str> = expects.split(", ").map(str::trim).collect();
        let does: Vec<&str> = does.split_whitespace().collect();
        let done = match &does[..] {
            [] => Ok(()),
            does => within(step, stage.act(does)).await,
        };
        if expects.contains(&"fails") != done.is_err() {
            return Err(format!(
                "{step}\n  expected: fails or not\n  seen:     {done:?}"
            ));
        }
        for expected in expects.into_iter().filter(|it| !["", "fails"].contains(it)) {
            let words: Vec<&str> = expected.split_whitespace().collect();
            let seen = within(expected, stage.see(&words)).await;
            if seen != words.join(" ") {
                return Err(format!(
                    "{step}\n  expected: {expected}\n  seen:     {seen}"
                ));
            }
        }
    }
    Ok(())
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
                steps.replacen(&format!("{{{group}}}"), one, 1)
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
pub fn seconds(text: &str) -> f64 {
    let (number, unit) = text.split_at(text.len() - 1);
    let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    let (_, seconds) = units.into_iter().find(|(name, _)| *name == unit).unwrap();
    number.parse::<f64>().unwrap() * seconds
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
