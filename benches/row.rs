//! A row of a bench: a figure with its goal, as a line of a Markdown table. `benches/peers` reads the rows of all programs.

#![allow(dead_code)] // Not every program uses all of it.

use std::fmt;

/// One figure.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What is done, and by how many threads.
    pub(crate) work: String,
    /// Who does it, or for how many.
    pub(crate) case: String,
    pub(crate) figure: f64,
    /// `times` is a ratio; `in all` and `bytes` are whole numbers.
    pub(crate) unit: String,
    pub(crate) goal: Goal,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    None,
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    fn is_met(self, figure: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtMost(limit) => figure <= limit,
            Self::AtLeast(limit) => figure >= limit,
        }
    }
}

/// Prints a row; returns whether its goal is met.
pub(crate) fn row(work: &str, case: &str, figure: f64, unit: &str, goal: Goal) -> bool {
    let row = Row {
        work: work.to_owned(),
        case: case.to_owned(),
        figure,
        unit: unit.to_owned(),
        goal,
    };
    println!("{row}");
    row.is_met()
}

impl Row {
    pub(crate) fn is_met(&self) -> bool {
        self.goal.is_met(self.figure)
    }

    /// Reads a line that `Display` has written; `None` when it is none.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        let [work, case, figure, goal] = cells[..] else {
            return None;
        };
        let (figure, unit) = figure.split_once(' ')?;
        let limit = |text: &str| text.split(',').next()?.trim().parse().ok();
        let goal = match (goal.strip_prefix("at most"), goal.strip_prefix("at least")) {
            (Some(most), _) => Goal::AtMost(limit(most)?),
            (_, Some(least)) => Goal::AtLeast(limit(least)?),
            _ => Goal::None,
        };
        Some(Self {
            work: work.to_owned(),
            case: case.to_owned(),
            figure: figure.parse().ok()?,
            unit: unit.to_owned(),
            goal,
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goal = match self.goal {
            Goal::None => String::new(),
            Goal::AtMost(limit) => format!("at most {limit}, {}", self.verdict()),
            Goal::AtLeast(limit) => format!("at least {limit}, {}", self.verdict()),
        };
        let Self { work, case, .. } = self;
        let figure = format!("{} {}", self.digits(), self.unit);
        write!(to, "| {work} | {case} | {figure} | {goal} |")
    }
}

impl Row {
    fn verdict(&self) -> &'static str {
        if self.is_met() { "met" } else { "missed" }
    }

    /// Three digits, or all of those before the point.
    fn digits(&self) -> String {
        let figure = self.figure;
        let is_count = ["in all", "bytes"].contains(&self.unit.as_str());
        match figure {
            _ if is_count || figure >= 99.95 => format!("{figure:.0}"),
            _ if figure >= 9.995 => format!("{figure:.1}"),
            _ => format!("{figure:.2}"),
        }
    }
}
