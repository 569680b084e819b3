//! Prints the dialog to stderr. Questions and answers stay on the screen.

use std::fmt::Display;

use console::{Style, Term};
use envd_sdk::model::Day;
use envd_sdk::validate::{Change, Form, Item, ItemKind, Rule};

use super::cli::{self, printable};
use super::places::{Place, places};
use super::value;

/// No colours if stderr is not a terminal or `NO_COLOR` is set.
fn style() -> Style {
    Style::new().for_stderr()
}

pub(crate) fn note(text: &str) {
    let text = cli::fitted(text, &Term::stderr());
    eprintln!("{}", style().dim().apply_to(text));
}

/// Prints lines that break at blanks.
fn show(text: impl Display) {
    eprintln!("{}", cli::fitted(&text.to_string(), &Term::stderr()));
}

pub(crate) fn start(form: &Form) {
    let input = form.to_input();
    let pic = |pic: Option<&String>| pic.map_or("-".to_owned(), printable);
    let origin = pic(input.origin.pic.value());
    let destination = pic(input.destination.pic.value());
    let title = format!("Declaration LPAC1, cattle from {origin} to {destination}");
    show(style().bold().apply_to(title));
    note(
        "Enter leaves it open \u{b7} < goes back \u{b7} ? says why it is asked \u{b7} help \u{b7} quit",
    );
}

/// Prints the available commands, and a new prompt.
pub(crate) fn help() {
    for (typed, what) in [
        ("Enter", "leaves the question open, or keeps its answer"),
        ("--", "takes the answer away"),
        ("<", "goes back"),
        ("?", "says why it is asked"),
        ("remove 2", "removes the second row of a section"),
        ("quit", "saves and ends, as Ctrl-C does"),
    ] {
        note(&format!("    {typed:8}  {what}"));
    }
    prompt("");
}

/// Prints the question, how to answer it, and its current answer.
pub(crate) fn question(place: &Place, form: &Form, today: Day) {
    let item = place.item;
    heading(place, form);
    if let Some(tip) = &item.tip {
        note(&format!("    {}", printable(tip)));
    }
    choices(item);
    note(&format!("    {}", value::format(item, today)));
    if let Some(answer) = &item.value {
        let answer = printable(value::name(item, answer));
        note(&format!(
            "    now: {answer} (Enter keeps it, -- removes it)"
        ));
    }
}

/// Prints the numbered choices; a few short ones fit on one line.
fn choices(item: &Item) {
    let all = (1..).zip(&item.choices);
    let all: Vec<String> = all
        .map(|(number, choice)| format!("{number:2}  {}", printable(&choice.name)))
        .collect();
    let line = all.join("  ");
    if console::measure_text_width(&line) < 70 && all.len() < 5 {
        if !all.is_empty() {
            show(format!("    {line}"));
        }
        return;
    }
    for choice in all {
        show(format!("    {choice}"));
    }
}

/// Prints a section and the number of its rows.
pub(crate) fn section(place: &Place, form: &Form) {
    heading(place, form);
    match place.item.rows.len() {
        0 => note("    y or n"),
        1 => note("    it has 1 row; y, n, or remove 1"),
        rows => note(&format!(
            "    it has {rows} rows; y, n, or remove and the number of a row"
        )),
    }
}

fn heading(place: &Place, form: &Form) {
    let item = place.item;
    let progress = form.progress();
    let done = format!("[{} of {}]", progress.answered, progress.questions);
    let text = printable(item.text.trim());
    let mut line = format!(
        "\n{} {}",
        style().cyan().apply_to(done),
        style().bold().apply_to(text)
    );
    if item.required {
        line += &style().yellow().apply_to(" (required)").to_string();
    }
    if let (Some(section), Some(row)) = (place.section, item.row_number) {
        let row = format!(" \u{b7} {}, row {row}", printable(section.text.trim()));
        line += &style().dim().apply_to(row).to_string();
    }
    show(line);
    if let (Some(why), None) = (&item.why, item.question.row) {
        note(&format!("    asked because {}", printable(why)));
    }
}

/// Prints why a question is asked.
pub(crate) fn why(item: &Item) {
    let why = item
        .why
        .as_deref()
        .unwrap_or("each declaration of this form needs it");
    show(format!("    Asked because {}.", printable(why)));
    for text in [&item.help, &item.tip].into_iter().flatten() {
        show(format!("    {}", printable(text)));
    }
    if item.required {
        show("    It must be answered before the declaration is submitted.");
    }
}

pub(crate) fn prompt(text: &str) {
    eprint!("  {text}{} ", style().cyan().apply_to(">"));
}

pub(crate) fn refused(why: &str) {
    show(format!("    {}", style().red().apply_to(printable(why))));
}

/// Prints the name of the chosen answer; the user may have typed its number.
pub(crate) fn taken(item: &Item, value: &str) {
    if !item.choices.is_empty() {
        let name = printable(value::name(item, value));
        show(format!("    {}", style().green().apply_to(name)));
    }
}

/// Prints the texts of the questions that no longer apply, and new mistakes in other questions.
pub(crate) fn changed(change: &Change, before: &[Place]) {
    for question in &change.vanished {
        if let Some(place) = before.iter().find(|place| place.item.question == *question) {
            note(&format!(
                "    no longer asked: {}",
                printable(place.item.text.trim())
            ));
        }
    }
    for finding in &change.mistakes {
        refused(&finding.sentence());
    }
}

/// Prints the missing answers, or the answers to check.
pub(crate) fn end(form: &Form) {
    let blockers = form.blockers();
    if blockers.is_empty() {
        let ready = "The declaration is complete and valid.";
        show(format!("\n{}", style().green().apply_to(ready)));
        let advice = form.report().advice().iter();
        // No question of the dialog accepts the declaration.
        for finding in advice.filter(|finding| finding.rule != Rule::DeclarationAccepted) {
            let sentence = printable(finding.sentence());
            show(format!("  {} {sentence}", style().yellow().apply_to("?")));
        }
        return;
    }
    show("\nBefore the declaration can be submitted:");
    for blocker in blockers {
        let colour = if blocker.blocks_creating() {
            style().red()
        } else {
            style().yellow()
        };
        show(format!(
            "  {} {}",
            colour.apply_to("\u{2022}"),
            printable(blocker)
        ));
    }
}

/// Prints the answers to stdout, for people.
pub(crate) fn summary(form: &Form) {
    let line = |text: String| println!("{}", cli::fitted(&text, &Term::stdout()));
    line(String::new());
    for place in places(&form.items()) {
        let item = place.item;
        let text = printable(place.item.text.trim());
        let indent = if place.section.is_some() {
            "    "
        } else {
            "  "
        };
        match (&item.value, item.kind) {
            (Some(value), _) => {
                let colon = if text.ends_with('?') { "" } else { ":" };
                let answer = printable(value::name(item, value));
                line(format!("{indent}{text}{colon} {answer}"));
            }
            (None, ItemKind::Rows) if !item.rows.is_empty() => line(format!("{indent}{text}")),
            _ => {}
        }
    }
}
