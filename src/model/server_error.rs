//! Server errors as data, and the translation of their field names to those of our inputs.
//!
//! The server reports faults in an older schema of the record (the eNVD samples of `guide::sources`): its `programs` are our
//! `forms`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Condition;
use super::redact::{ShownPath, shown_code};

/// One item of the `errors` array in a reply (spec 7.2).
///
/// Decoding never fails: data with an unexpected shape is kept in [`raw`](Self::raw). `Debug` omits the message, because
/// servers quote answers and names in it, and shows only known field names and codes; `Display` shows the message.
///
/// ```
/// use envd_sdk::model::{Condition, ServerError};
///
/// let error: ServerError = serde_json::from_str(
///     r#"{"message": "QAZZ777 is not a valid value for PIC",
///         "path": ["createOrSaveConsignment", "origin", "pic"],
///         "extensions": {"data": {"Code": "origin.pic", "OutcomeStatus": "Error"}}}"#,
/// )?;
/// assert_eq!(error.code(), Some("origin.pic"));
/// assert_eq!(error.condition(), Condition::InvalidPic);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ServerError {
    message: String,
    path: Vec<String>,
    raw: Value,
    /// The request named no record, so the error cannot mean "not found".
    pub(crate) no_record_named: bool,
}

impl ServerError {
    /// Decodes an error from an item of the `errors` array, whatever its shape.
    pub fn from_value(raw: Value) -> Self {
        // A plain string instead of an object is still a message.
        let text = |name| raw.get(name).and_then(Value::as_str);
        let message = text("message")
            .or_else(|| text("Message"))
            .or_else(|| raw.as_str());
        Self {
            message: message.unwrap_or_default().to_owned(),
            path: path_in(&raw),
            raw,
            no_record_named: false,
        }
    }

    /// The human-readable message; empty if there is none. It may quote user input. It often does not name the field:
    /// [`Finding::from_server`](crate::validate::Finding::from_server) creates a sentence that does.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The path to the field in the reply, starting with the operation. For a field problem it ends with the field name. A list
    /// position is a number, starting at 0.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// The complete `extensions` object.
    pub fn extensions(&self) -> Option<&Map<String, Value>> {
        self.raw.get("extensions")?.as_object()
    }

    /// The error as received.
    pub fn raw(&self) -> &Value {
        &self.raw
    }

    /// `extensions.data.Code`: the dotted path of the field, or a word such as `Unauthorized`; possibly empty.
    pub fn code(&self) -> Option<&str> {
        self.data("Code")
    }

    /// Whether there is a Code that is empty.
    pub(super) fn has_empty_code(&self) -> bool {
        self.code().is_some_and(|code| code.trim().is_empty())
    }

    /// `extensions.data.Description`: a longer text.
    pub fn description(&self) -> Option<&str> {
        self.data("Description")
    }

    /// `extensions.data.OutcomeStatus`. The server varies its letter case.
    pub(super) fn outcome_status(&self) -> Option<&str> {
        self.data("OutcomeStatus")
    }

    /// `extensions.code`: the code of a schema-level error, such as `INVALID_VALUE`.
    pub fn schema_code(&self) -> Option<&str> {
        self.raw.pointer("/extensions/code")?.as_str()
    }

    /// `extensions.number`: the section of the GraphQL specification that a schema-level error refers to, such as `5.8`.
    pub(super) fn schema_number(&self) -> Option<&str> {
        self.raw.pointer("/extensions/number")?.as_str()
    }

    /// The matching row of the error table (spec 7.2).
    pub fn condition(&self) -> Condition {
        match Condition::of(self) {
            Condition::NotFoundOrForbidden if self.no_record_named => Condition::Other,
            condition => condition,
        }
    }

    /// Whether the server refuses the request, or merely reports a problem and proceeds (spec 7.2 classes missing and invalid
    /// answers as warnings). assumed: an `OutcomeStatus` named like a warning or information is one.
    pub fn severity(&self) -> Severity {
        let outcome = self.outcome_status().unwrap_or_default();
        let harmless = ["warning", "warn", "information", "info"];
        match self.condition() {
            Condition::RequiredAnswerMissing | Condition::InvalidAnswerValue => Severity::Warning,
            _ if harmless
                .iter()
                .any(|word| outcome.eq_ignore_ascii_case(word)) =>
            {
                Severity::Warning
            }
            _ => Severity::Error,
        }
    }

    /// The affected input field, as a path from the input, so that a form can mark it; empty if the error does not refer to a
    /// single field.
    ///
    /// The server's older names are translated: `programs` and `species` to `forms`, `consignorPic` to `origin`, `pic` (spec
    /// 7.2); others are inferred from the previous interface.
    ///
    /// ```
    /// use envd_sdk::model::ServerError;
    ///
    /// let error: ServerError = serde_json::from_str(
    ///     r#"{"message": "QDZZ3333 is not associated with user",
    ///         "path": ["createOrSaveConsignment", "consignorPic"],
    ///         "extensions": {"data": {"Code": "consignorPic"}}}"#,
    /// )?;
    /// assert_eq!(error.input_path(), ["origin", "pic"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn input_path(&self) -> Vec<String> {
        of(self)
    }

    fn data(&self, name: &str) -> Option<&str> {
        self.raw.pointer("/extensions/data")?.get(name)?.as_str()
    }
}

/// The names and positions that can be decoded; others remain only in the raw error.
fn path_in(raw: &Value) -> Vec<String> {
    let parts = raw.get("path").and_then(Value::as_array).into_iter();
    let parts = parts.flatten().filter_map(|part| match part {
        Value::String(name) => Some(name.clone()),
        part => part.as_u64().map(|position| position.to_string()),
    });
    parts.collect()
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.message.as_str(), self.description()) {
            ("", None) => f.write_str("the server gave no message"),
            ("", Some(text)) | (text, None) => f.write_str(text),
            (message, Some(description)) => write!(f, "{message}: {description}"),
        }
    }
}

debug_shows!(ServerError, |it|
    condition: it.condition(),
    code: it.code().or_else(|| it.schema_code()).and_then(shown_code),
    path: ShownPath(it),
);

impl<'de> Deserialize<'de> for ServerError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from_value)
    }
}

impl Serialize for ServerError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

/// How serious a finding is.
///
/// The server assigns it to errors, the validator to findings.
///
/// ```
/// use envd_sdk::model::{ServerError, Severity};
///
/// let error: ServerError =
///     serde_json::from_str(
///         r#"{"message": "Required", "extensions": {"data": {"OutcomeStatus": "Warning"}}}"#,
///     )?;
/// assert_eq!(error.severity(), Severity::Warning);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The server refuses the consignment.
    Error,
    /// The server saves the consignment and reports the problem (spec 7.2).
    Warning,
    /// The server is not known to report this.
    Advice,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Advice => "advice",
        })
    }
}

/// An old name at the start of a path, with its replacement. The first three are stated (spec 7.2); the others are inferred
/// from the previous interface.
const AT_THE_START: [(&str, &[&str]); 6] = [
    ("programs", &["forms"]),
    // A consignment has no species of its own: its forms imply it.
    ("species", &["forms"]),
    ("consignorPic", &["origin", "pic"]),
    ("consigneePic", &["destination", "pic"]),
    ("fromProperty", &["origin"]),
    ("toProperty", &["destination"]),
];

/// An old name below another one.
const BELOW: [(&str, &str, &str); 9] = [
    ("origin", "originPIC", "pic"),
    ("origin", "fullTradingName", "name"),
    ("origin", "fullName", "name"),
    ("origin", "propertyAddress", "address"),
    ("destination", "destinationPIC", "pic"),
    ("destination", "fullName", "name"),
    ("destination", "propertyAddress", "address"),
    ("declaration", "propertyAddress", "address"),
    ("declaration", "declare", "accept"),
];

/// Whether the server uses this name for a field with another name here.
pub(super) fn is_old_name(name: &str) -> bool {
    AT_THE_START.iter().any(|(old, _)| *old == name) || BELOW.iter().any(|(_, old, _)| *old == name)
}

/// The input field that an error refers to; empty if there is none.
pub(super) fn of(error: &ServerError) -> Vec<String> {
    if error.schema_code() == Some("INVALID_VALUE") {
        return translated(variable(error.message()).unwrap_or_default());
    }
    input_path(server_path(error), error.code().unwrap_or_default())
}

/// The path of an error from the input, in the server's names.
pub(crate) fn server_path(error: &ServerError) -> Vec<String> {
    let code = error.code().or_else(|| error.schema_code());
    let mut path = error.path().to_vec();
    // The first name is that of the operation, unless the path already equals the code.
    if !path.is_empty() && Some(&*path.join(".")) != code {
        path.remove(0);
    }
    if path.is_empty() && error.schema_code() == Some("INVALID_VALUE") {
        path = variable(error.message()).unwrap_or_default();
    }
    path
}

/// The input field for a path in the server's names and a code.
pub(crate) fn input_path(path: Vec<String>, code: &str) -> Vec<String> {
    // Codes without a field name are words such as `Unauthorized` and `INVALID_VALUE`, or empty.
    let code: Vec<String> = if code.starts_with(|c: char| c.is_ascii_lowercase()) {
        code.split('.').map(str::to_owned).collect()
    } else {
        Vec::new()
    };
    // Both name the field, and the longer one is more precise.
    translated(if code.len() > path.len() { code } else { path })
}

/// `Variable '$input.forms[0]' is invalid`: GraphQL.NET names the field only in its message.
fn variable(message: &str) -> Option<Vec<String>> {
    let (_, rest) = message.split_once("'$input.")?;
    let (place, _) = rest.split_once('\'')?;
    Some(
        place
            .split(['.', '['])
            .map(|name| name.trim_end_matches(']').to_owned())
            .collect(),
    )
}

fn translated(mut names: Vec<String>) -> Vec<String> {
    // An array field ends with [] (spec 7.2).
    for name in &mut names {
        if let Some(bare) = name.strip_suffix("[]") {
            *name = bare.to_owned();
        }
    }
    let old = names.first().and_then(|first| {
        let found = AT_THE_START.iter().find(|(old, _)| old == first);
        found.map(|(_, new)| *new)
    });
    if let Some(new) = old {
        names.splice(..1, new.iter().map(|name| (*name).to_owned()));
    }
    if let [first, second, ..] = names.as_mut_slice() {
        let found = BELOW
            .iter()
            .find(|(above, old, _)| above == first && old == second);
        if let Some((_, _, new)) = found {
            (*new).clone_into(second);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_support::script::rows;

    use super::*;

    #[test]
    fn odd_shapes_are_kept_and_do_not_fail() {
        for raw in [
            json!(null),
            json!("plain text"),
            json!({"path": ["a", 1, null], "locations": [{"line": 1}], "extensions": []}),
            json!({"message": 5, "path": "x", "locations": null, "extensions": {"data": []}}),
        ] {
            let error: ServerError = serde_json::from_value(raw.clone()).unwrap();
            assert_eq!(error.raw(), &raw);
            assert_eq!(serde_json::to_value(&error).unwrap(), raw);
        }
    }

    #[test]
    fn debug_does_not_repeat_what_the_user_entered() {
        let answer = "Answer: Maybe is not valid. Acceptable answers are: Yes";
        let error = ServerError::from_value(json!({ "message": answer }));
        assert!(!format!("{error:?}").contains("Maybe"));
        assert!(error.to_string().contains("Maybe"));
        let error = ServerError::from_value(json!({
            "path": ["createOrSaveConsignment", "answers", 17, "Sam Sample"],
            "extensions": {"data": {"Code": "Sam"}}
        }));
        let shown = format!("{error:?}");
        let place = "createOrSaveConsignment.answers.17[..]";
        assert!(!shown.contains("Sam") && shown.contains(place), "{shown}");
    }

    #[test]
    fn old_names_become_those_of_the_input_and_the_longer_of_path_and_code_counts() {
        // Columns: path, code (a dash means none), and path of the input.
        for row in rows(
            "
            op programs                        | programs            | forms
            op species                         | species             | forms
            op consignorPic                    | consignorPic        | origin.pic
            op consigneePic                    | -                   | destination.pic
            op fromProperty originPIC          | -                   | origin.pic
            op toProperty propertyAddress town | -                   | destination.address.town
            op declaration declare             | declaration.declare | declaration.accept
            op origin pic                      | origin.pic          | origin.pic
            op answers 17                      | answers.17          | answers.17
            op pic                             | origin.pic          | origin.pic
            op origin pic                      | pic                 | origin.pic
            origin pic                         | origin.pic          | origin.pic
                                               | programs[]          | forms
            op                                 |                     |
            op                                 | Unauthorized        |
            ",
        ) {
            let path: Vec<&str> = row[0].split_whitespace().collect();
            let code = Some(row[1]).filter(|code| *code != "-");
            let error =
                json!({"message": "", "path": path, "extensions": {"data": {"Code": code}}});
            let found = of(&ServerError::from_value(error)).join(".");
            assert_eq!(found, row[2], "{row:?}");
        }
    }

    #[test]
    fn a_variable_is_named_in_the_text_only() {
        for (variable, wanted) in [
            ("$input.forms[0]", "forms.0"),
            ("$input.origin.pic", "origin.pic"),
            ("$input", ""),
            ("$envdAccountId", ""),
        ] {
            let message = format!("Variable '{variable}' is invalid. Unable to");
            let error = json!({"message": message, "extensions": {"code": "INVALID_VALUE"}});
            assert_eq!(of(&ServerError::from_value(error)).join("."), wanted);
        }
    }
}
