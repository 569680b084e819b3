//! The answers to the questions of some forms as TypeScript type.

use serde_json::json;

use super::{Condition, Export};
use crate::model::FormType;
use crate::validate::Questionnaire;
use crate::validate::prepared::Kind;

impl Questionnaire {
    /// A TypeScript interface `Answers` for the object that [`json_schema`](Self::json_schema) describes.
    ///
    /// A property is optional unless its question always applies and must be answered.
    #[must_use]
    pub fn typescript(&self, forms: &[FormType]) -> String {
        let names: Vec<&str> = forms.iter().map(FormType::as_str).collect();
        let body = Export::new(&self.0, forms).interface(0, 1);
        let title = comment(&format!("Answers of {}", names.join(", ")));
        format!("{title}\nexport interface Answers {body}\n")
    }
}

impl Export<'_> {
    /// The TypeScript type of an object with answers.
    fn interface(&self, scope: u32, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let mut lines = String::from("{\n");
        for (id, positions) in self.questions(scope) {
            let mut types: Vec<String> = Vec::new();
            for &position in &positions {
                let name = self.type_of(position, depth);
                if !types.contains(&name) {
                    types.push(name);
                }
            }
            let is_needed = positions.iter().any(|position| {
                let always = matches!(self.conditions[*position], Condition::Always);
                always && self.prepared.nodes[*position].required
            });
            let optional = if is_needed { "" } else { "?" };
            let text = comment(&self.prepared.presentations[positions[0]].text);
            let (name, types) = (json!(id), types.join(" | "));
            lines.extend([&indent, text.as_str(), "\n", &indent]);
            lines.extend([&name.to_string(), optional, ": ", &types, ";\n"]);
        }
        lines + &"  ".repeat(depth - 1) + "}"
    }

    fn type_of(&self, position: usize, depth: usize) -> String {
        let node = &self.prepared.nodes[position];
        let choices = self.choices(node).into_iter();
        let choices: Vec<String> = choices.map(|(value, _)| json!(value).to_string()).collect();
        let one = if choices.is_empty() {
            "string".to_owned()
        } else {
            choices.join(" | ")
        };
        match node.kind {
            Kind::Rows => {
                let scope = self.prepared.scope_below(position);
                format!("Array<{}>", self.interface(scope, depth + 1))
            }
            Kind::One => one,
            Kind::Several => format!("Array<{one}>"),
            _ => "string".to_owned(),
        }
    }
}

/// A comment of TypeScript that no text can end.
fn comment(text: &str) -> String {
    let text: Vec<&str> = text.split_whitespace().collect();
    format!("/** {} */", text.join(" ").replace("*/", "* /"))
}
