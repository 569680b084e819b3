//! What rustdoc says: the description of the schema, its source in words, and the section of a type in `pages.md`.
//!
//! Each description ends with the source of the element: `stated (section)`, `public (names)` or `assumed`.

use std::collections::BTreeMap;

use crate::documents::Documents;

/// The texts of elements by coordinate, and of types by Rust name.
pub(crate) struct Docs {
    descriptions: BTreeMap<String, String>,
    pub(crate) pages: BTreeMap<String, String>,
}

impl Docs {
    pub(crate) fn read(documents: &Documents) -> Self {
        let elements = documents.elements.iter();
        let sections = include_str!("../pages.md").split("\n## ").skip(1);
        let sections = sections.map(|section| {
            let (name, text) = section.split_once("\n\n").unwrap();
            (name.to_owned(), text.trim().to_owned())
        });
        Self {
            descriptions: elements
                .map(|element| (element.coordinate.clone(), element.description.clone()))
                .collect(),
            pages: sections.collect(),
        }
    }

    /// The description of an element, an empty line, and its source.
    pub(crate) fn lines(&self, coordinate: &str) -> [String; 3] {
        let description = self.descriptions.get(coordinate);
        let description = description.unwrap_or_else(|| panic!("no description: {coordinate}"));
        let (text, source) = split(description).unwrap_or((description, "assumed"));
        [
            text.to_owned(),
            String::new(),
            format!("Source: {}.", words(source)),
        ]
    }

    /// The page of a type: its lines, with the summary of the section in place of the description where there is one, then
    /// the text of the section.
    pub(crate) fn page(&self, name: &str, graphql: &str) -> Vec<String> {
        let section = self.pages.get(name);
        let section = section.unwrap_or_else(|| panic!("pages.md has no section {name}"));
        let mut lines = self.lines(graphql).to_vec();
        let text = match section.strip_prefix("Summary: ") {
            Some(rest) => {
                let (summary, text) = rest.split_once("\n\n").unwrap_or((rest, ""));
                summary.clone_into(&mut lines[0]);
                text
            }
            None => section,
        };
        lines.push(String::new());
        lines.extend(text.lines().map(str::to_owned));
        lines
    }
}

/// Splits a description into its text and its source.
pub(crate) fn split(description: &str) -> Option<(&str, &str)> {
    let description = description.trim();
    let start = description.rfind(". ").map(|dot| dot + 2)?;
    let (text, source) = (description[..start].trim_end(), &description[start..]);
    let starts = ["stated (", "public ("]
        .iter()
        .any(|word| source.starts_with(word));
    (source == "assumed" || starts && source.ends_with(')')).then_some((text, source))
}

/// The names in a source of public material.
pub(crate) fn public_names(source: &str) -> impl Iterator<Item = &str> {
    let names = source.strip_prefix("public (");
    let names = names.and_then(|names| names.strip_suffix(')'));
    names.into_iter().flat_map(|names| names.split(", "))
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
