//! Pages from files with placeholders such as `{{ name }}`.

use serde_json::Value;

/// Fills in the placeholders of a page. A value is HTML whose texts are [escaped](text).
pub(crate) fn filled<const N: usize>(page: &str, values: [(&str, String); N]) -> String {
    let fill = |page: String, (name, value): (&str, String)| {
        page.replace(&format!("{{{{ {name} }}}}"), &value)
    };
    values.into_iter().fold(page.to_owned(), fill)
}

/// Escapes a text for an element or a double-quoted attribute. Also escapes braces, so that a text is never taken for a placeholder.
pub(crate) fn text(text: impl AsRef<str>) -> String {
    let text = text.as_ref().replace('&', "&amp;").replace('<', "&lt;");
    text.replace('"', "&quot;").replace('{', "&#123;")
}

/// Escapes JSON for a `script` element: a `<` could end the element.
pub(crate) fn json(json: &Value) -> String {
    json.to_string().replace('<', "\\u003c")
}
