//! Explains findings to the people who fill in the declaration, in English or in another language.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Expected, Finding, Rule, Severity};
use crate::model::OneLine;

/// Sentences and labels for findings, in English or in a language that the application supplies.
///
/// The texts are a flat table; [`english`](Self::english) lists its keys and English texts. Collect a translation from pairs of
/// key and text, or read it from JSON. Missing keys fall back to English. Placeholders such as `{label}`, `{value}` and
/// `{expected}` are filled in from the finding.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
/// use envd_sdk::validate::{Context, Sentences, validate_fields};
///
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
///     .movement("2026-02-30", "05:15");
/// let report = validate_fields(&input, &Context::on(Day::parse("2026-02-20")?));
/// let finding = &report.findings()[0];
/// assert_eq!(finding.sentence(), "Movement date 2026-02-30 is not a date. Write it as 2026-02-28.");
///
/// let german: Sentences = serde_json::from_str(r#"{
///     "rule.date": "{label} {value} ist kein Datum. Richtig wäre {expected}.",
///     "label.movementDate": "Transportdatum",
///     "expected.corrected": "{value}"
/// }"#)?;
/// let sentence = german.sentence(finding);
/// assert_eq!(sentence, "Transportdatum 2026-02-30 ist kein Datum. Richtig wäre 2026-02-28.");
/// assert!(german.missing().any(|key| key == "rule.time"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sentences(BTreeMap<String, String>);

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Sentences {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(texts: T) -> Self {
        let texts = texts.into_iter();
        Self(texts.map(|(key, text)| (key.into(), text.into())).collect())
    }
}

impl Sentences {
    /// The English table, for translators: keys and texts.
    pub fn english() -> impl Iterator<Item = (&'static str, &'static str)> {
        include_str!("english.txt")
            .lines()
            .filter(|line| !line.starts_with("# "))
            .filter_map(|line| line.split_once(": "))
    }

    /// The keys of the English table that have no text here.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        Self::english()
            .map(|(key, _)| key)
            .filter(|key| !self.0.contains_key(*key))
    }

    /// The problem and how to fix it: see [`Finding::sentence`].
    pub fn sentence(&self, finding: &Finding) -> String {
        let key = format!("rule.{}", finding.rule.key());
        let variant = match &finding.expected {
            _ if finding.severity == Severity::Advice => ".advice",
            _ if finding.severity == Severity::Warning && finding.rule == Rule::Other => ".warning",
            None => ".unexplained",
            Some(Expected::OneOf { names, .. })
                if finding.value.as_ref().is_some_and(|it| names.contains(it)) =>
            {
                ".named"
            }
            Some(_) => "",
        };
        let part = finding.path.first().map_or("", String::as_str);
        let text = self
            .text(&format!("{key}.{part}"))
            .or_else(|| self.text(&format!("{key}{variant}")))
            .or_else(|| self.text(&key))
            .unwrap_or("{label}");
        let expected = finding.expected.as_ref().map(|e| self.expected(e));
        let values = [
            ("label", &*self.label(finding)),
            ("value", finding.value.as_deref().unwrap_or_default()),
            ("expected", expected.as_deref().unwrap_or_default()),
            ("message", &finding.message),
        ];
        fill(text, &values)
    }

    /// The subject of the finding: the text of the question, or the label of the field.
    pub fn label(&self, finding: &Finding) -> String {
        let Some(question) = &finding.question else {
            return self.field_label(&finding.input_path());
        };
        let text = finding
            .question_text
            .as_ref()
            .map(|about| about.text.trim());
        let label = match text.filter(|text| !text.is_empty()) {
            Some(text) => self.filled("label.question", &[("text", text)]),
            None => self.filled("label.questionId", &[("id", question.id.as_str())]),
        };
        // The server gives only the index.
        let number = finding.row_number.map(|number| number.to_string());
        let index = || Some(question.row?.saturating_add(1).to_string());
        match number.or_else(index) {
            Some(row) => self.filled("label.inRow", &[("label", &label), ("row", &row)]),
            None => label,
        }
    }

    /// The label of a field of the input, by its path: `["origin", "pic"]`.
    pub fn field_label(&self, path: &[impl AsRef<str>]) -> String {
        let mut key = "label".to_owned();
        let mut number = String::new();
        for name in path.iter().map(AsRef::as_ref) {
            key.push('.');
            match name.parse::<u64>() {
                Ok(position) => {
                    number = position.saturating_add(1).to_string();
                    key.push('#');
                }
                Err(_) => key.push_str(name),
            }
        }
        let text = self.text(&key);
        match (text, path.last()) {
            (Some(text), _) => fill(text, &[("number", &number)]),
            // A field that the input does not have keeps the server's name.
            (None, Some(name)) => self.filled("label.unknown", &[("name", name.as_ref())]),
            (None, None) => self.filled("label.consignment", &[]),
        }
    }

    /// A correct value in words that follow "Use" or "Enter".
    pub fn expected(&self, expected: &Expected) -> String {
        match expected {
            Expected::Characters { at_most } => {
                self.filled("expected.characters", &[("max", &at_most.to_string())])
            }
            Expected::OneOf { values, names } => match (values.as_slice(), names.as_slice()) {
                (shown, []) | (_, shown) => self.one_of(shown),
            },
            Expected::Years { from, to, until } => {
                let key = match (from, to) {
                    (Some(_), Some(_)) => "expected.years.between",
                    (Some(_), None) => "expected.years.from",
                    (None, Some(_)) => "expected.years.to",
                    (None, None) => "expected.years",
                };
                let date = self.filled(key, &[("from", &shown(*from)), ("to", &shown(*to))]);
                match until {
                    Some(day) => {
                        let day = day.to_string();
                        self.filled("expected.years.until", &[("date", &date), ("until", &day)])
                    }
                    None => date,
                }
            }
            Expected::Created { from, before } => {
                let key = match (from, before) {
                    (Some(_), Some(_)) => "expected.created.between",
                    (Some(_), None) => "expected.created.from",
                    (None, _) => "expected.created.before",
                };
                self.filled(key, &[("from", &shown(*from)), ("before", &shown(*before))])
            }
            Expected::Corrected { value } => self.filled("expected.corrected", &[("value", value)]),
            Expected::Example { value } => self.filled("expected.example", &[("value", value)]),
            Expected::Text => self.filled("expected.text", &[]),
            Expected::WholeNumber => self.filled("expected.wholeNumber", &[]),
            Expected::YesOrNo => self.filled("expected.yesOrNo", &[]),
            Expected::List => self.filled("expected.list", &[]),
            Expected::Fields => self.filled("expected.fields", &[]),
        }
    }

    fn one_of(&self, values: &[String]) -> String {
        match values {
            [value] => value.clone(),
            _ if values.len() > MOST_VALUES => self.filled(
                "expected.oneOfMany",
                &[("count", &values.len().to_string())],
            ),
            _ => self.filled("expected.oneOf", &[("values", &values.join(", "))]),
        }
    }

    fn filled(&self, key: &str, values: &[(&str, &str)]) -> String {
        fill(self.text(key).unwrap_or_default(), values)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).or_else(|| {
            Self::english()
                .find(|(known, _)| *known == key)
                .map(|(_, text)| text)
        })
    }
}

/// The most choices that a sentence lists.
const MOST_VALUES: usize = 16;

impl Finding {
    /// The problem and how to fix it, in plain English.
    ///
    /// [`message`](Self::message) is the server's wording. [`Sentences`] has other languages.
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::validate::{Context, validate_fields};
    ///
    /// let origin = PartyInput::new("QAZZ777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let report = validate_fields(&input, &Context::on(Day::parse("2026-11-20")?));
    /// let sentence = report.findings()[0].sentence();
    /// let right = "Enter 8 letters and digits, without spaces.";
    /// assert_eq!(sentence, format!("PIC of origin QAZZ777 is not a PIC. {right}"));
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn sentence(&self) -> String {
        Sentences::default().sentence(self)
    }

    /// The subject of the finding in plain English: the text of the question, or the label of the field.
    pub fn label(&self) -> String {
        Sentences::default().label(self)
    }
}

impl Rule {
    /// The name of the rule in keys, the same as in JSON.
    fn key(self) -> String {
        let mut name = format!("{self:?}");
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        name
    }
}

/// Part of an expectation; empty if absent.
fn shown(part: Option<impl ToString>) -> String {
    part.map(|part| part.to_string()).unwrap_or_default()
}

/// Fills values into a text, on one line. An empty value also removes the space before it.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, (name, after))) = rest
        .split_once('{')
        .and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        filled.push_str(before);
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, "")) => filled.truncate(filled.trim_end().len()),
            Some((_, value)) => filled += &OneLine(value).to_string(),
            None => {}
        }
        rest = after;
    }
    filled + rest
}
