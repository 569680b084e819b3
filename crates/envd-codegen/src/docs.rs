//! What rustdoc says of an element: its description in the schema, and the source that the description ends with.

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

/// The names in a source of public material.
pub fn public_names(source: &str) -> impl Iterator<Item = &str> {
    let names = source.strip_prefix("public (");
    let names = names.and_then(|names| names.strip_suffix(')'));
    names.into_iter().flat_map(|names| names.split(", "))
}

/// The description of an element, and its source. The schema of a service names no sources.
pub(crate) fn lines(description: Option<&str>, coordinate: &str) -> Vec<String> {
    let description = description.unwrap_or_default();
    match split(description) {
        Some((text, source)) => {
            let source = format!("Source: {}.", words(source));
            vec![plain(text), String::new(), source]
        }
        None if description.trim().is_empty() => vec![format!("`{coordinate}`.")],
        None => description.lines().map(plain).collect(),
    }
}

/// A line as text: no links, no markup, no programs that rustdoc would run.
fn plain(line: &str) -> String {
    let mut text = String::new();
    for letter in line.trim().chars().filter(|letter| !letter.is_control()) {
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
