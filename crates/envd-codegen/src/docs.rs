//! The documentation of an element: its description in the schema, and the source at the end of that description.

use apollo_compiler::ast::DirectiveList;

use crate::rust;

/// Splits a description into its text and its source: `stated (section)`, `public (names)` or `assumed`.
pub fn split(description: &str) -> Option<(&str, &str)> {
    let description = description.trim();
    let start = description.rfind(". ").map(|dot| dot + 2)?;
    let (text, source) = (description[..start].trim_end(), &description[start..]);
    let starts = ["stated (", "public ("]
        .iter()
        .any(|word| source.starts_with(word));
    (source == "assumed" || starts && source.ends_with(')')).then_some((text, source))
}

/// The names in a source that cites public material.
pub fn public_names(source: &str) -> impl Iterator<Item = &str> {
    let names = source.strip_prefix("public (");
    let names = names.and_then(|names| names.strip_suffix(')'));
    names.into_iter().flat_map(|names| names.split(", "))
}

/// The lines of a description, with its source if the element is in the schema of the SDK. Other schemas name no sources.
pub(crate) fn lines(description: Option<&str>, coordinate: &str, is_sdk: bool) -> Vec<String> {
    let description = description.unwrap_or_default();
    let source = split(description).filter(|_| is_sdk);
    let (text, source) = source.map_or((description, None), |(text, source)| (text, Some(source)));
    let mut lines: Vec<String> = rust::lines(text).map(plain).collect();
    if lines.iter().all(String::is_empty) {
        lines = vec![format!("`{coordinate}`.")];
    }
    if let Some(source) = source {
        lines.extend([String::new(), format!("Source: {}.", words(source))]);
    }
    lines
}

/// The attribute `#[deprecated]`, with the reason in the schema.
pub(crate) fn deprecated(directives: &DirectiveList) -> String {
    let Some(directive) = directives.get("deprecated") else {
        return String::new();
    };
    let reason = directive.specified_argument_by_name("reason");
    let reason = reason.and_then(|reason| reason.as_str()).map(words_of);
    match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("#[deprecated = {reason:?}]\n"),
        None => "#[deprecated]\n".to_owned(),
    }
}

/// Puts a text on one line, without control characters and with one blank between words.
fn words_of(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || rust::is_control(letter));
    let words = words.filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Escapes a line so that rustdoc shows it as plain text, without links, markup or code that would run as a test. Words have one
/// blank between them, because five blanks after the mark of a list or a quotation begin a code block.
fn plain(line: &str) -> String {
    let mut text = String::new();
    for letter in words_of(line).chars() {
        if matches!(letter, '[' | '<' | '*' | '#' | '~' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.replace("```", "'''")
}

fn words(source: &str) -> String {
    if let Some(section) = source.strip_prefix("stated (") {
        return format!("stated, specification {}", section.trim_end_matches(')'));
    }
    let names: Vec<_> = public_names(source)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        return "assumed".to_owned();
    }
    format!("public material ({}), not confirmed", names.join(", "))
}
