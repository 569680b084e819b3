//! The provenance at the end of each description: the source of the element.

/// Splits a description into its text and its provenance, `stated (n)`, `public (name)` or `assumed`.
pub(crate) fn split(description: &str) -> Option<(&str, &str)> {
    let description = description.trim();
    let start = description.rfind(". ").map(|dot| dot + 2)?;
    let (text, provenance) = (description[..start].trim_end(), &description[start..]);
    let known = provenance == "assumed"
        || ["stated (", "public ("]
            .iter()
            .any(|word| provenance.starts_with(word) && provenance.ends_with(')'));
    known.then_some((text, provenance))
}

/// The names in a provenance of public material.
pub(crate) fn sources(provenance: &str) -> impl Iterator<Item = &str> {
    let names = provenance.strip_prefix("public (");
    let names = names.and_then(|names| names.strip_suffix(')'));
    names.into_iter().flat_map(|names| names.split(", "))
}

/// A description as rustdoc: the text, then the provenance in words.
pub(crate) fn rustdoc(description: &str) -> Vec<String> {
    let (text, provenance) = split(description).unwrap_or((description, "assumed"));
    vec![
        text.to_owned(),
        String::new(),
        format!("Source: {}.", words(provenance)),
    ]
}

/// The provenance in words, for rustdoc.
pub(crate) fn words(provenance: &str) -> String {
    let inside = provenance
        .split_once('(')
        .map_or("", |(_, inside)| inside.trim_end_matches(')'));
    match provenance.split(' ').next() {
        Some("stated") => format!("stated, specification {inside}"),
        Some("public") => {
            let names: Vec<_> = sources(provenance)
                .map(|name| format!("`{name}`"))
                .collect();
            format!("public material ({}), not confirmed", names.join(", "))
        }
        _ => "assumed".to_owned(),
    }
}
