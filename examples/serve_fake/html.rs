//! Pages from files with placeholders such as `{{ name }}`.

use serde_json::Value;

/// The page with its placeholders filled in. A value is HTML, made of texts that are [escaped](text).
pub(crate) fn filled<const N: usize>(page: &str, values: [(&str, String); N]) -> String {
    let fill = |page: String, (name, value): (&str, String)| {
        page.replace(&format!("{{{{ {name} }}}}"), &value)
    };
    values.into_iter().fold(page.to_owned(), fill)
}

/// A text in an element or between double quotes. Braces are escaped as well, so that no text is a placeholder.
pub(crate) fn text(text: impl AsRef<str>) -> String {
    let text = text.as_ref().replace('&', "&amp;").replace('<', "&lt;");
    text.replace('"', "&quot;").replace('{', "&#123;")
}

/// JSON in a `script` element, which `<` could end.
pub(crate) fn json(json: &Value) -> String {
    json.to_string().replace('<', "\\u003c")
}
