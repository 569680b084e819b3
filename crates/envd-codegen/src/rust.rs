//! Rust source of the parts of a [`Program`](crate::ir::Program), in lines of 89 columns where it can be broken.

use crate::ir::{Field, Leaf, OpenEnum, Operation, Origin, Record};
use crate::names;

/// How the code names what it uses.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Before the derives of serde.
    pub serde: &'static str,
    /// The crate serde, where the derives do not find it by its name.
    pub serde_crate: Option<&'static str>,
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

    /// The type of a field of an input: one that need not be sent has three states.
    pub fn input_type(&self, field: &Field) -> String {
        let plain = self.plain(field);
        if field.required {
            plain
        } else {
            format!("{}Maybe<{plain}>", self.model)
        }
    }

    /// A record that is read. Every field is optional; a list is empty where there is none.
    pub fn record(&self, name: &str, docs: &[String], fields: &[Field]) -> String {
        let members = fields.iter().map(|field| {
            let reader = names::reader(&field.coordinate);
            let is_list = field.lists > 0 || reader == Some("one_or_many");
            let reader = reader
                .or_else(|| (field.lists == 0 && field.leaf.name == "i64").then_some("int"))
                .or_else(|| is_list.then_some("list"));
            let mut settings = Vec::new();
            if let Some(reader) = reader {
                settings.push("default".to_owned());
                settings.push(format!("deserialize_with = \"{}{reader}\"", self.lenient));
            }
            let plain = match field.lists {
                0 if is_list => format!("Vec<{}>", self.plain(field)),
                _ => self.plain(field),
            };
            let is_optional = !is_list || reader == Some("known_list");
            let rust_type = if is_optional {
                format!("Option<{plain}>")
            } else {
                plain
            };
            member(field, &settings, &rust_type)
        });
        let members: String = members.collect();
        comment(docs)
            + &self.derives(fields, &[])
            + "#[non_exhaustive]\n"
            + &structure(name, &members)
    }

    /// An input, which may lack required fields: the validator reports them.
    pub fn input(&self, input: &Record, attributes: &str) -> String {
        let members = input.fields.iter().map(|field| {
            let setting = if field.required {
                format!("deserialize_with = \"{}or_default\"", self.lenient)
            } else {
                self.is_absent()
            };
            member(field, &[setting], &self.input_type(field))
        });
        let members: String = members.collect();
        let derives = self.derives(&input.fields, &["default".to_owned()]);
        comment(&input.docs) + &derives + attributes + &structure(&input.name, &members)
    }

    /// The variables of an operation. One of a query is sent or not; one of a change may also be null.
    pub fn variables(&self, operation: &Operation, docs: &[String]) -> String {
        let is_change = operation.kind == "mutation";
        let fields: Vec<Field> = operation
            .variables
            .iter()
            .map(|(field, _)| field.clone())
            .collect();
        let members = fields
            .iter()
            .map(|field| match (field.required, is_change) {
                (true, _) => member(field, &[], &self.plain(field)),
                (false, true) => member(field, &[self.is_absent()], &self.input_type(field)),
                (false, false) => {
                    let skip = "skip_serializing_if = \"Option::is_none\"".to_owned();
                    member(field, &[skip], &format!("Option<{}>", self.plain(field)))
                }
            });
        let members: String = members.collect();
        let settings = fields.iter().any(|field| !field.required && is_change);
        let settings: Vec<_> = settings.then(|| "default".to_owned()).into_iter().collect();
        comment(docs) + &self.derives(&fields, &settings) + &structure("Variables", &members)
    }

    fn is_absent(&self) -> String {
        format!("skip_serializing_if = \"{}Maybe::is_absent\"", self.model)
    }

    fn derives(&self, fields: &[Field], settings: &[String]) -> String {
        let serde = self.serde;
        let debug = if hides(fields) { "" } else { "Debug, " };
        let names = fields.iter().map(|field| (&*field.rust, &*field.wire));
        let by_rule = |(rust, wire): (&str, &str)| rust != wire && names::camel_case(rust) == wire;
        let rename = names.clone().any(by_rule);
        let rename = rename.then(|| "rename_all = \"camelCase\"".to_owned());
        let serde_crate = self.serde_crate.map(|path| format!("crate = \"{path}\""));
        let settings = rename
            .into_iter()
            .chain(settings.iter().cloned())
            .chain(serde_crate);
        let settings = attribute("serde", &settings.collect::<Vec<_>>());
        format!(
            "#[derive(Clone, {debug}Default, PartialEq, {serde}Serialize, {serde}Deserialize)]\n{settings}"
        )
    }
}

/// Whether `Debug` hides any of these fields.
pub fn hides(fields: &[Field]) -> bool {
    fields
        .iter()
        .any(|field| names::is_hidden(&field.coordinate))
}

/// `Debug` without the fields that it hides, where there are any.
pub(crate) fn debug(name: &str, fields: &[Field]) -> String {
    if !hides(fields) {
        return String::new();
    }
    let shown = fields
        .iter()
        .filter(|field| !names::is_hidden(&field.coordinate));
    let shown: String = shown
        .map(|field| format!("            .field(\"{0}\", &self.{0})\n", field.rust))
        .collect();
    format!(
        "impl ::std::fmt::Debug for {name} {{\n    \
             fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {{\n        \
                 f.debug_struct(\"{name}\")\n{shown}            .finish_non_exhaustive()\n    }}\n}}\n"
    )
}

/// An enum that keeps values that it does not know, by a macro of the SDK.
pub fn open_enum(one: &OpenEnum, called: &str, attributes: &str) -> String {
    let values = one.values.iter();
    let values =
        values.map(|(variant, wire, docs)| format!("{}{variant} = \"{wire}\",\n", comment(docs)));
    let values = indent(&values.collect::<String>());
    let docs = comment(&one.docs);
    let body = format!("{docs}{attributes}{} {{\n{values}}}\n", one.name);
    format!("{called}! {{\n{}}}\n", indent(&body))
}

fn member(field: &Field, settings: &[String], rust_type: &str) -> String {
    let rename = names::camel_case(&field.rust) != field.wire;
    let rename = rename.then(|| format!("rename = \"{}\"", field.wire));
    let settings: Vec<_> = rename.into_iter().chain(settings.iter().cloned()).collect();
    let aliases: Vec<_> = field
        .aliases
        .iter()
        .map(|word| format!("{word:?}"))
        .collect();
    let aliases = match aliases.as_slice() {
        [] => String::new(),
        [word] => format!("#[doc(alias = {word})]\n"),
        _ => format!("#[doc(alias({}))]\n", aliases.join(", ")),
    };
    let line = format!("pub {}: {rust_type},\n", field.rust);
    comment(&field.docs) + &aliases + &attribute("serde", &settings) + &line
}

fn attribute(name: &str, settings: &[String]) -> String {
    match settings {
        [] => String::new(),
        _ => format!("#[{name}({})]\n", settings.join(", ")),
    }
}

/// A struct without its attributes.
fn structure(name: &str, fields: &str) -> String {
    if fields.is_empty() {
        return format!("pub struct {name} {{}}\n");
    }
    format!("pub struct {name} {{\n{}}}\n", indent(fields))
}

/// The text with each line indented by one level.
pub fn indent(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

/// Doc comments.
pub fn comment(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let lines = lines.into_iter();
    lines
        .map(|line| format!("/// {}", line.as_ref()).trim_end().to_owned() + "\n")
        .collect()
}
