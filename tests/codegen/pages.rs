//! What the page of a generated type says beside the description of the schema, from `pages.md`.

use std::collections::BTreeMap;
use std::fs;

const PATH: &str = "tests/codegen/pages.md";

/// The section of each type.
pub(crate) struct Pages(BTreeMap<String, String>);

impl Pages {
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(PATH).unwrap();
        let sections = text.split("\n## ").skip(1).map(|section| {
            let (name, text) = section.split_once("\n\n").unwrap();
            (name.to_owned(), text.trim().to_owned())
        });
        Self(sections.collect())
    }

    /// The lines of the page: the description, with the summary of the section in place of its first paragraph where there
    /// is one, then the text of the section.
    pub(crate) fn lines(&self, name: &str, description: Vec<String>) -> Vec<String> {
        let section = self.0.get(name);
        let section = section.unwrap_or_else(|| panic!("{PATH} has no section {name}"));
        let (summary, text) = match section.strip_prefix("Summary: ") {
            Some(rest) => {
                let (summary, text) = rest.split_once("\n\n").unwrap_or((rest, ""));
                (Some(summary), text)
            }
            None => (None, section.as_str()),
        };
        let mut lines = description;
        if let Some(summary) = summary {
            lines[0] = format!(" {summary}");
        }
        lines.push(String::new());
        lines.extend(text.lines().map(|line| match line {
            "" => String::new(),
            line => format!(" {line}"),
        }));
        lines
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
