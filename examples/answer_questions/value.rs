//! Converts typed text into answers.

use envd_sdk::model::Day;
use envd_sdk::validate::{Choice, Item, ItemKind};

/// Describes how to type an answer.
pub(crate) fn format(item: &Item, today: Day) -> String {
    match item.kind {
        ItemKind::MultipleChoice => "numbers or names, with commas between them".to_owned(),
        _ if !item.choices.is_empty() => "the number or the name".to_owned(),
        ItemKind::Number => "a number, such as 24".to_owned(),
        ItemKind::Date => format!("year-month-day, such as {today}"),
        ItemKind::Time => "hour:minute, such as 05:15".to_owned(),
        ItemKind::Month => format!("year-month, such as {}", month(today)),
        ItemKind::Image => "a picture cannot be typed: leave it open".to_owned(),
        _ => "a text".to_owned(),
    }
}

/// Returns the answer, or a message that says why the text is not an answer and what to type.
pub(crate) fn read(item: &Item, text: &str) -> Result<String, String> {
    if text.contains(|letter: char| letter.is_control() || letter == '\u{fffd}') {
        return Err(
            "That contains a control character, as from an arrow key. Type it again.".to_owned(),
        );
    }
    if item.kind == ItemKind::MultipleChoice && !item.choices.is_empty() {
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        let chosen: Result<Vec<&str>, String> = parts
            .map(|part| choice(&item.choices, part.trim()))
            .collect();
        return chosen.map(|values| values.join(","));
    }
    if !item.choices.is_empty() {
        return choice(&item.choices, text).map(str::to_owned);
    }
    if item.kind == ItemKind::Image {
        return Err("A picture cannot be typed. Leave it open.".to_owned());
    }
    // The dialog asks about the crate's advice once the answer is in the form.
    Ok(item.kind.from_typed(text))
}

/// The display name of the answer.
pub(crate) fn name(item: &Item, value: &str) -> String {
    let name = |value: &str| {
        item.choices
            .iter()
            .find(|choice| choice.value == value)
            .map(|choice| choice.name.clone())
    };
    name(value).unwrap_or_else(|| {
        let parts = value
            .split(',')
            .map(|part| name(part.trim()).unwrap_or_else(|| part.trim().to_owned()));
        if item.choices.is_empty() {
            value.to_owned()
        } else {
            parts.collect::<Vec<_>>().join(", ")
        }
    })
}

/// Finds a choice by name, by number from 1, or by a prefix that only one name has.
fn choice<'a>(choices: &'a [Choice], text: &str) -> Result<&'a str, String> {
    let lower = text.to_lowercase();
    let is_named = |choice: &&Choice| {
        choice.name.to_lowercase() == lower || choice.value.to_lowercase() == lower
    };
    if let Some(choice) = choices.iter().find(is_named) {
        return Ok(&choice.value);
    }
    let number = text
        .parse()
        .ok()
        .and_then(|number: usize| number.checked_sub(1));
    if let Some(choice) = number.and_then(|at| choices.get(at)) {
        return Ok(&choice.value);
    }
    let begins =
        |choice: &&Choice| !lower.is_empty() && choice.name.to_lowercase().starts_with(&lower);
    let fitting: Vec<&Choice> = choices.iter().filter(begins).collect();
    match fitting[..] {
        [choice] => Ok(&choice.value),
        [] => Err(format!(
            "\u{201c}{text}\u{201d} is not one of them. Type a number from 1 to {}, or a name.",
            choices.len()
        )),
        _ => {
            let names: Vec<&str> = fitting.iter().map(|choice| choice.name.as_str()).collect();
            Err(format!(
                "\u{201c}{text}\u{201d} may be {}. Type the number.",
                names.join(" or ")
            ))
        }
    }
}

fn month(day: Day) -> String {
    let day = day.to_string();
    day.rsplit_once('-')
        .map_or(day.clone(), |(month, _)| month.to_owned())
}
