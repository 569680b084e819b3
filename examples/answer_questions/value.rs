//! What a typed text means as an answer.

use envd_sdk::model::Day;
use envd_sdk::validate::{Choice, Item, ItemKind};

/// How an answer is typed.
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

/// The answer, or what is wrong with the text and what to do.
pub(crate) fn read(item: &Item, text: &str, today: Day) -> Result<String, String> {
    if text.contains(|letter: char| letter.is_control() || letter == '\u{fffd}') {
        return Err(
            "That has a character that is no text, as of an arrow key. Type it again.".to_owned(),
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
    let is = |right: bool, what: &str| {
        let wrong = || {
            format!(
                "\u{201c}{text}\u{201d} is not {what}. Type {}.",
                format(item, today)
            )
        };
        right.then(|| text.to_owned()).ok_or_else(wrong)
    };
    match item.kind {
        ItemKind::Number => is(is_number(text), "a number"),
        ItemKind::Date => is(Day::parse(text).is_ok(), "a date"),
        ItemKind::Time => is(is_time(text), "a time"),
        ItemKind::Month => is(
            text.len() == 7 && Day::parse(&format!("{text}-01")).is_ok(),
            "a month",
        ),
        ItemKind::Image => is(false, "a picture"),
        _ => Ok(text.to_owned()),
    }
}

/// The name by which people know the answer.
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

/// By name, by number from 1, or by the beginning of one name.
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
            "\u{201c}{text}\u{201d} is none of them. Type a number from 1 to {}, or a name.",
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

fn is_number(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, part)) => is_digits(whole) && is_digits(part),
        None => is_digits(text),
    }
}

fn is_time(text: &str) -> bool {
    let below = |part: &str, limit: u8| {
        part.len() == 2
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|number| number < limit)
    };
    text.split_once(':')
        .is_some_and(|(hour, minute)| below(hour, 24) && below(minute, 60))
}

fn month(day: Day) -> String {
    let day = day.to_string();
    day.rsplit_once('-')
        .map_or(day.clone(), |(month, _)| month.to_owned())
}
