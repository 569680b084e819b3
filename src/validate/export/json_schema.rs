//! The answers to the questions of some forms as JSON Schema.

use serde_json::{Map, Value, json};

use super::{Condition, Export};
use crate::model::FormType;
use crate::validate::Questionnaire;
use crate::validate::fields::DEVICES_QUESTION;
use crate::validate::prepared::Kind;

impl Questionnaire {
    /// A JSON Schema (2020-12) for the answers to the questions of some forms.
    ///
    /// The answers are an object: the id of a question leads to its answer, a text; to a list of texts for a
    /// `MULTIPLE_CHOICE` question; to a list of rows, each an object of the same kind, for a `REPEATABLE` question. A question
    /// without an answer is absent. [`answers_from_json`](crate::validate::answers_from_json) turns such an object into answers.
    ///
    /// The schema accepts the answers about which [`validate`](Self::validate) has no finding. Rules that a schema cannot
    /// express are in a `$comment` of the question: dates after today, and triggers on answers outside of a row.
    ///
    /// ```
    /// use envd_sdk::model::{FormType, Question};
    /// use envd_sdk::validate::Questionnaire;
    ///
    /// let questions: Vec<Question> = serde_json::from_str(
    ///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "text": "Bred here?",
    ///          "validators": [{"type": "required", "parameter": ""}],
    ///          "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]}]"#,
    /// )?;
    /// let schema = Questionnaire::prepare(&questions).json_schema(&[FormType::Lpac1]);
    /// assert_eq!(schema["properties"]["17"]["enum"][1], "No");
    /// assert_eq!(schema["required"][0], "17");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn json_schema(&self, forms: &[FormType]) -> Value {
        let export = Export::new(&self.0, forms);
        let mut schema = export.object(0);
        let definitions = export.conditions.iter().enumerate();
        let definitions = definitions.filter_map(|(position, condition)| match condition {
            Condition::If(parts) => Some((export.key(position), json!({"allOf": parts}))),
            _ => None,
        });
        let definitions: Map<String, Value> = definitions.collect();
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        if forms.contains(&FormType::Lpahrg0) {
            // Spec 2.6, with or without the question in the list.
            let yes = json!({"properties": {DEVICES_QUESTION: {"const": "Yes"}}, "required": [DEVICES_QUESTION]});
            push(&mut schema, "allOf", yes);
        }
        if self.0.too_large {
            let comment = "There are too many questions and triggers to state their rules.";
            schema.insert("$comment".to_owned(), comment.into());
        }
        let names: Vec<&str> = forms.iter().map(FormType::as_str).collect();
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        schema.insert("$schema".to_owned(), dialect.into());
        let title = format!("Answers of {}", names.join(", "));
        schema.insert("title".to_owned(), title.into());
        schema.into()
    }
}

impl Export<'_> {
    /// The schema of an object with answers.
    fn object(&self, scope: u32) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        let mut properties = Map::new();
        for (id, positions) in self.questions(scope) {
            let mut property = self.described(positions[0]);
            for &position in &positions {
                let node = &self.prepared.nodes[position];
                let value = self.constraints(position);
                let condition = &self.conditions[position];
                if let Some(comment) = self.unsaid(position) {
                    property.insert("$comment".to_owned(), comment.into());
                }
                match condition {
                    Condition::Always if positions.len() == 1 => {
                        property.extend(value);
                        if node.required {
                            push(&mut schema, "required", id.into());
                        }
                        continue;
                    }
                    Condition::Never | Condition::Elsewhere => continue,
                    _ => {}
                }
                let mut then = json!({"properties": {id: value}});
                if node.required {
                    then["required"] = json!([id]);
                }
                let then = match condition {
                    Condition::If(_) => json!({"if": self.reference(position), "then": then}),
                    _ => then,
                };
                push(&mut schema, "allOf", then);
            }
            properties.insert(id.to_owned(), property.into());
        }
        schema.insert("properties".to_owned(), properties.into());
        schema
    }

    /// Shape and texts of an answer.
    fn described(&self, position: usize) -> Map<String, Value> {
        let (node, presentation) = (
            &self.prepared.nodes[position],
            &self.prepared.presentations[position],
        );
        let shape = match node.kind {
            Kind::Rows => json!({"type": "array"}),
            Kind::Several => json!({"type": "array", "items": {"type": "string"}}),
            _ => json!({"type": "string", "minLength": 1}),
        };
        let texts = [
            ("title", Some(&presentation.text)),
            ("description", presentation.help.as_ref()),
        ];
        let texts = texts.into_iter().filter_map(|(key, text)| {
            let text = text.filter(|text| !text.is_empty())?;
            Some((key.to_owned(), text.as_str().into()))
        });
        let shape = shape.as_object().cloned().unwrap_or_default();
        shape.into_iter().chain(texts).collect()
    }

    /// What an answer must be where the question applies.
    fn constraints(&self, position: usize) -> Map<String, Value> {
        let node = &self.prepared.nodes[position];
        let mut value = Map::new();
        let choices = self.choices(node);
        match node.kind {
            Kind::Rows => {
                let mut row = self.object(self.prepared.scope_below(position));
                row.insert("minProperties".to_owned(), 1.into());
                value.insert("items".to_owned(), row.into());
            }
            Kind::One if !choices.is_empty() => {
                value.extend(one_of(&choices));
            }
            Kind::Several => {
                if !choices.is_empty() {
                    // An empty text is no answer, but questions below apply.
                    let choices = [&choices[..], &[("", "")]].concat();
                    value.insert("items".to_owned(), one_of(&choices).into());
                }
                if node.required {
                    value.insert("contains".to_owned(), json!({"minLength": 1}));
                }
            }
            _ => {}
        }
        if !node.years.is_none() && node.kind != Kind::Several {
            let pattern = date_pattern(node.years.min, node.years.max);
            value.insert("pattern".to_owned(), pattern.into());
        }
        value
    }

    /// What the schema leaves out of the rules of a question.
    fn unsaid(&self, position: usize) -> Option<String> {
        let node = &self.prepared.nodes[position];
        let unsaid = [
            matches!(self.conditions[position], Condition::Elsewhere).then_some(
                "Whether it applies depends on answers outside of this object, so no rule is stated.",
            ),
            (node.kind == Kind::Unknown && !node.choices.is_empty())
                .then_some("Its type is unknown, so its choices are not stated."),
            node.years
                .not_future
                .then_some("The date must not be after today."),
            (!node.years.is_none()).then_some("The day must exist in its month."),
            (node.kind == Kind::Several && !node.years.is_none())
                .then_some("The years of its choices are not stated."),
        ];
        let unsaid: Vec<&str> = unsaid.into_iter().flatten().collect();
        (!unsaid.is_empty()).then(|| unsaid.join(" "))
    }
}

/// One of some values, with the names that people see where they differ.
fn one_of(choices: &[(&str, &str)]) -> Map<String, Value> {
    let (key, list) = if choices.iter().all(|(value, name)| value == name) {
        let values = choices.iter().map(|(value, _)| json!(value));
        ("enum", values.collect::<Vec<_>>())
    } else {
        let named = choices.iter();
        let named = named.map(|(value, name)| json!({"const": value, "title": name}));
        ("oneOf", named.collect())
    };
    [(key.to_owned(), list.into())].into_iter().collect()
}

/// Adds to a list in a schema.
fn push(schema: &mut Map<String, Value>, key: &str, item: Value) {
    let list = schema.entry(key).or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        list.push(item);
    }
}

/// A pattern for years, months, days and times within years.
fn date_pattern(min: Option<i32>, max: Option<i32>) -> String {
    let year = |year: i32| u32::try_from(year.clamp(0, 10_000)).unwrap_or_default();
    let (mut next, last) = (
        year(min.unwrap_or(1)).max(1),
        year(max.unwrap_or(9999)).min(9999),
    );
    let mut years = Vec::new();
    while next <= last {
        // The longest block of years with the same first digits.
        let blocks = (0..4_u32).map(|zeros| (zeros, 10_u32.pow(zeros)));
        let block = blocks
            .rev()
            .find(|(_, size)| next % size == 0 && next + size - 1 <= last);
        let (zeros, size) = block.unwrap_or((0, 1));
        let width = 4 - zeros as usize;
        years.push(format!(
            "{:0width$}{}",
            next / size,
            "[0-9]".repeat(zeros as usize)
        ));
        next += size;
    }
    let years = if years.is_empty() {
        // No year will do.
        "[^\\s\\S]".to_owned()
    } else {
        years.join("|")
    };
    let (hour, sixty) = ("([01][0-9]|2[0-3])", "[0-5][0-9]");
    let zone = format!("(Z|[+-]{hour}:{sixty})");
    let time = format!("T{hour}:{sixty}(:{sixty}(\\.[0-9]+)?)?{zone}?");
    let day = format!("-(0[1-9]|[12][0-9]|3[01])({time})?");
    format!("^({years})(-(0[1-9]|1[0-2])({day})?)?$")
}
