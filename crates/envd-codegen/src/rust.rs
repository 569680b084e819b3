//! Writes the parts of a [`Program`](crate::ir::Program) as Rust source, in lines of at most 89 columns where it can be broken.

use crate::ir::{Field, Leaf, OpenEnum, Operation, Origin, Struct};
use crate::names;

/// The path prefixes in the code.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Before the derives of serde.
    pub serde: &'static str,
    /// The serde attribute that names its crate, if it is not in scope as `serde`.
    pub serde_crate: &'static str,
    /// Before types of `envd_sdk::model`.
    pub model: &'static str,
    /// Before the functions of `envd_sdk::model::lenient`.
    pub lenient: &'static str,
    /// Before types that all operations share.
    pub shared: &'static str,
}

impl Style {
    /// The type inside all lists and options.
    pub fn leaf(&self, leaf: &Leaf) -> String {
        let path = match leaf.origin {
            Origin::Rust | Origin::Operation => "",
            Origin::Sdk => self.model,
            Origin::Shared => self.shared,
        };
        match leaf.generic {
            Some(generic) => format!("{}{generic}<{path}{}>", self.model, leaf.name),
            None => format!("{path}{}", leaf.name),
        }
    }

    /// The type without its outer option. Elements of lists are not optional.
    pub fn plain(&self, field: &Field) -> String {
        let mut plain = self.leaf(&field.leaf);
        if field.boxed {
            plain = format!("Box<{plain}>");
        }
        for _ in 0..field.lists {
            plain = format!("Vec<{plain}>");
        }
        plain
    }

    /// The type of a field of an input; an optional field has three states.
    pub fn input_type(&self, field: &Field) -> String {
        let plain = self.plain(field);
        if field.required {
            plain
        } else {
            format!("{}Maybe<{plain}>", self.model)
        }
    }

    /// A record of a reply: every field is optional, and a missing list is empty.
    pub fn record(&self, record: &Struct) -> String {
        self.structure(record, "", "#[non_exhaustive]\n", |field| {
            let plain = self.plain(field);
            let is_int = field.lists == 0 && field.leaf.name == "i64";
            let (reader, rust_type) = match (field.reader, field.lists) {
                (Some("one_or_many"), _) => (Some("one_or_many"), format!("Vec<{plain}>")),
                (None, 1..) => (Some("list"), plain),
                (None, 0) if is_int => (Some("int"), format!("Option<{plain}>")),
                (reader, _) => (reader, format!("Option<{plain}>")),
            };
            let read = |reader| format!("default, deserialize_with = \"{}{reader}\"", self.lenient);
            (reader.map(read).unwrap_or_default(), rust_type)
        })
    }

    /// An input. Required fields may be missing: the validator reports them.
    pub fn input(&self, input: &Struct, attributes: &str) -> String {
        let setting = if input.has_default { "default" } else { "" };
        self.structure(input, setting, attributes, |field| {
            let setting = match (field.required, field.has_default) {
                (true, true) => format!("deserialize_with = \"{}or_default\"", self.lenient),
                (true, false) => String::new(),
                (false, _) => self.is_absent(),
            };
            let setting = if input.has_default || setting.is_empty() {
                setting
            } else {
                format!("default, {setting}")
            };
            (setting, self.input_type(field))
        })
    }

    /// The variables of an operation: those of a query are sent or not, those of a mutation may also be null.
    pub fn variables(&self, operation: &Operation) -> String {
        let variables = &operation.variables;
        let is_change = operation.kind == "mutation";
        let may_lack = is_change && variables.fields.iter().any(|field| !field.required);
        let has_default = may_lack && variables.has_default;
        let own = if has_default { "" } else { "default, " };
        self.structure(
            variables,
            if has_default { "default" } else { "" },
            "",
            |field| {
                let plain = self.plain(field);
                let skip = "skip_serializing_if = \"Option::is_none\"";
                match (field.required, is_change) {
                    (true, _) => (String::new(), plain),
                    (false, true) => (own.to_owned() + &self.is_absent(), self.input_type(field)),
                    (false, false) => (skip.to_owned(), format!("Option<{plain}>")),
                }
            },
        )
    }

    fn is_absent(&self) -> String {
        format!("skip_serializing_if = \"{}Maybe::is_absent\"", self.model)
    }

    /// A struct with attributes and serde settings; `member` returns the serde settings and the type of a field.
    fn structure(
        &self,
        record: &Struct,
        setting: &str,
        attributes: &str,
        member: impl Fn(&Field) -> (String, String),
    ) -> String {
        let Struct { name, fields, .. } = record;
        let (mut members, mut is_renamed) = (String::new(), false);
        for field in fields {
            let by_rule = names::camel_case(&field.rust) == field.wire;
            is_renamed |= by_rule && field.rust != field.wire;
            let rename = if by_rule {
                String::new()
            } else {
                format!("rename = \"{}\"", field.wire)
            };
            let (setting, rust_type) = member(field);
            let head = comment(&field.docs) + &field.attributes + &serde(&[&rename, &setting]);
            members.extend([&head, "pub ", &field.rust, ": ", &rust_type, ",\n"]);
        }
        let members = match members.as_str() {
            "" => "{}".to_owned(),
            members => format!("{{\n{}}}", indent(members)),
        };
        let rename = if is_renamed {
            "rename_all = \"camelCase\""
        } else {
            ""
        };
        let settings = serde(&[rename, setting, self.serde_crate]);
        let debug = if hides(fields) { "" } else { "Debug, " };
        let default = if record.has_default { "Default, " } else { "" };
        format!(
            "{}#[derive(Clone, {debug}{default}PartialEq, {1}Serialize, {1}Deserialize)]\n{settings}{attributes}pub struct {name} {members}\n",
            comment(&record.docs),
            self.serde,
        )
    }
}

/// Whether `Debug` hides any of these fields.
pub fn hides(fields: &[Field]) -> bool {
    fields.iter().any(Field::is_hidden)
}

/// An implementation of `Debug` without the hidden fields, if there are any.
pub(crate) fn debug(Struct { name, fields, .. }: &Struct) -> String {
    if !hides(fields) {
        return String::new();
    }
    let shown = fields.iter().filter(|field| !field.is_hidden());
    let shown = shown.map(|field| format!("            .field(\"{0}\", &self.{0})\n", field.rust));
    let shown: String = shown.collect();
    format!(
        "#[allow(deprecated)]\nimpl ::std::fmt::Debug for {name} {{\n    \
             fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {{\n        \
                 f.debug_struct(\"{name}\")\n{shown}            .finish_non_exhaustive()\n    }}\n}}\n"
    )
}

/// An enum that preserves unknown values, through a macro of the SDK.
pub fn open_enum(one: &OpenEnum, called: &str, attributes: &str) -> String {
    let values = one.values.iter();
    let values = values.map(|(variant, wire, docs, attributes)| {
        format!("{}{attributes}{variant} = \"{wire}\",\n", comment(docs))
    });
    let values = indent(&values.collect::<String>());
    let docs = comment(&one.docs);
    let body = format!("{docs}{attributes}{} {{\n{values}}}\n", one.name);
    format!("{called}! {{\n{}}}\n", indent(&body))
}

fn serde(settings: &[&str]) -> String {
    let settings = settings.iter().copied().filter(|one| !one.is_empty());
    match settings.collect::<Vec<_>>().join(", ").as_str() {
        "" => String::new(),
        settings => format!("#[serde({settings})]\n"),
    }
}

/// The text with each line indented by one level.
pub fn indent(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

/// Writes doc comments; no other code writes comments.
///
/// Every line end starts a new comment line. Other control characters are removed: rustc refuses some of them, and with others a
/// reader sees a different text than rustc.
pub fn comment(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut comments = String::new();
    for line in lines {
        for part in self::lines(line.as_ref()) {
            let shown = part.chars().filter(|letter| !is_control(*letter));
            let comment = format!("/// {}", shown.collect::<String>());
            comments.extend([comment.trim_end(), "\n"]);
        }
    }
    comments
}

/// Splits a text at every character that anything treats as a line end; an empty text is one line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split([
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ])
}

/// Control characters, line ends and direction marks.
pub(crate) fn is_control(letter: char) -> bool {
    let is_direction = |letter| matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || is_direction(letter)
}
