//! Parts of Rust source as text, broken into lines at 89 columns.

use crate::names;

const WIDTH: usize = 89;

/// The text with each line indented by one level.
pub(crate) fn indent(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

/// Doc comments.
pub(crate) fn comment(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let lines = lines.into_iter();
    lines
        .map(|line| format!("/// {}", line.as_ref()).trim_end().to_owned() + "\n")
        .collect()
}

/// Further names for the search of rustdoc.
pub(crate) fn aliases<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().map(|word| format!("{word:?}")).collect();
    match words.as_slice() {
        [] => String::new(),
        [word] => format!("#[doc(alias = {word})]\n"),
        _ => format!("#[doc(alias({}))]\n", words.join(", ")),
    }
}

/// All serde settings of a field in one attribute. `name` and `wire` are those of the field.
pub(crate) fn serde(name: &str, wire: &str, settings: &[String]) -> String {
    let rename = (names::camel_case(name) != wire).then(|| format!("rename = \"{wire}\""));
    let settings: Vec<String> = rename.into_iter().chain(settings.iter().cloned()).collect();
    if settings.is_empty() {
        return String::new();
    }
    format!("#[serde({})]\n", settings.join(", "))
}

/// The serde settings of a struct, with `rename_all` if a field is named by it. Takes the Rust name and the wire name of each
/// field.
pub(crate) fn rename_all<'a>(
    fields: impl IntoIterator<Item = (&'a str, &'a str)>,
    settings: &[&str],
) -> String {
    let by_rule = |(rust, wire): (&str, &str)| rust != wire && names::camel_case(rust) == wire;
    let rename = fields.into_iter().any(by_rule);
    let rename = rename.then_some("rename_all = \"camelCase\"");
    let settings: Vec<_> = rename.into_iter().chain(settings.iter().copied()).collect();
    match settings.join(", ").as_str() {
        "" => String::new(),
        settings => format!("#[serde({settings})]\n"),
    }
}

/// A struct without its attributes.
pub(crate) fn structure(name: &str, fields: &str) -> String {
    if fields.is_empty() {
        return format!("pub struct {name} {{}}\n");
    }
    format!("pub struct {name} {{\n{}}}\n", indent(fields))
}

/// A `use` of names from one module, which stands inside of `levels` blocks.
pub(crate) fn import<'a>(
    module: &str,
    names: impl IntoIterator<Item = &'a str>,
    levels: usize,
) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if let [name] = names.as_slice() {
        return format!("use {module}::{name};\n");
    }
    let line = format!("use {module}::{{{}}};", names.join(", "));
    let width = WIDTH - 4 * levels;
    if line.len() <= width {
        return line + "\n";
    }
    format!(
        "use {module}::{{\n{}\n}};\n",
        fill("   ", names, "    ", width)
    )
}

/// Words with a comma after each, in lines of at most `width`. Lines after the first one are indented.
pub(crate) fn fill(
    start: &str,
    words: impl IntoIterator<Item = impl AsRef<str>>,
    indent: &str,
    width: usize,
) -> String {
    let mut lines = vec![start.to_owned()];
    for word in words {
        let word = format!("{},", word.as_ref());
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => line.extend([" ", &word]),
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}
