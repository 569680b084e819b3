//! The errors of the server as data, and their names as names of our inputs.
//!
//! The server finds faults in an older shape of the record (the eNVD samples of `guide::sources`), so what it calls `programs` is
//! `forms` here.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Condition;
use super::redact::{ShownPath, shown_code};

/// One item of the `errors` array of a reply (spec 7.2).
///
/// Reading one never fails: what does not have the expected shape is kept in [`raw`](Self::raw).
/// `Debug` leaves the message out, because the server repeats answers and names in it, and shows known names of fields and
/// known codes only; `Display` shows the message.
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
    /// The request named no record, so that none can be missing.
    pub(crate) no_record_named: bool,
}

impl ServerError {
    /// Reads an error from an item of the `errors` array, whatever its shape.
    pub fn from_value(raw: Value) -> Self {
        // A bare text in place of an object is still a message.
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

    /// The text for people; empty when there is none. It may repeat what the user entered. Alone it does not say which field
    /// is meant: [`Finding::from_server`](crate::validate::Finding::from_server) makes a sentence that does.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The path to the field of the reply, the name of the operation first; for a field problem it ends in the field name. A
    /// position in a list is a number, from 0.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// The `extensions` object, whole.
    pub fn extensions(&self) -> Option<&Map<String, Value>> {
        self.raw.get("extensions")?.as_object()
    }

    /// The error as it was received.
    pub fn raw(&self) -> &Value {
        &self.raw
    }

    /// `extensions.data.Code`: the dotted path of the field, or a word such as `Unauthorized`; possibly empty.
    pub fn code(&self) -> Option<&str> {
        self.data("Code")
    }

    /// Whether there is a Code, and it is empty.
    pub(super) fn has_empty_code(&self) -> bool {
        self.code().is_some_and(|code| code.trim().is_empty())
    }

    /// `extensions.data.Description`: a longer text.
    pub fn description(&self) -> Option<&str> {
        self.data("Description")
    }

    /// `extensions.data.OutcomeStatus`; spelled in more than one case by the server.
    pub(super) fn outcome_status(&self) -> Option<&str> {
        self.data("OutcomeStatus")
    }

    /// `extensions.code`: the code of a schema-level error, such as `INVALID_VALUE`.
    pub fn schema_code(&self) -> Option<&str> {
        self.raw.pointer("/extensions/code")?.as_str()
    }

    /// `extensions.number`: the section of the GraphQL specification that a schema-level error is about, such as `5.8`.
    pub(super) fn schema_number(&self) -> Option<&str> {
        self.raw.pointer("/extensions/number")?.as_str()
    }

    /// Which row of the error table (spec 7.2) this is.
    pub fn condition(&self) -> Condition {
        match Condition::of(self) {
            Condition::NotFoundOrForbidden if self.no_record_named => Condition::Other,
            condition => condition,
        }
    }

    /// Whether the server refuses, or only reports it and carries on (spec 7.2 classes a missing answer and an invalid one as
    /// warnings). assumed: an `OutcomeStatus` that names a warning or an information is one.
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

    /// The field of the input that this is about, from the input down, so that a form can mark it; empty when it is about
    /// no single field.
    ///
    /// The server's older names are translated: `programs` and `species` are `forms`, `consignorPic` is `origin`, `pic`
    /// (spec 7.2); further ones are inferred from the interface before this one.
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

/// The names and positions that can be read; the others stay in the raw error.
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

/// How much a finding matters.
///
/// The server classes an error, the validator a finding.
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
    /// The server saves the consignment and reports it (spec 7.2).
    Warning,
    /// The server is not known to report it.
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

/// An old name and the path that replaces it, at the beginning of a path. The first three are stated (spec 7.2); the others
/// are inferred from the interface before this one.
const AT_THE_START: [(&str, &[&str]); 6] = [
    ("programs", &["forms"]),
    // A consignment has no species of its own: it follows from the forms.
    ("species", &["forms"]),
    ("consignorPic", &["origin", "pic"]),
    ("consigneePic", &["destination", "pic"]),
    ("fromProperty", &["origin"]),
    ("toProperty", &["destination"]),
];

/// An old name below another.
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

/// Whether the server calls a field so that has another name here.
pub(super) fn is_old_name(name: &str) -> bool {
    AT_THE_START.iter().any(|(old, _)| *old == name) || BELOW.iter().any(|(_, old, _)| *old == name)
}

/// The field of the input that an error is about; empty when it is about none.
pub(super) fn of(error: &ServerError) -> Vec<String> {
    if error.schema_code() == Some("INVALID_VALUE") {
        return translated(variable(error.message()).unwrap_or_default());
    }
    input_path(server_path(error), error.code().unwrap_or_default())
}

/// The path of an error in the server's names, from the input down.
pub(crate) fn server_path(error: &ServerError) -> Vec<String> {
    let code = error.code().or_else(|| error.schema_code());
    let mut path = error.path().to_vec();
    // The first name is the operation's, unless the path alone makes up the code.
    if !path.is_empty() && Some(&*path.join(".")) != code {
        path.remove(0);
    }
    if path.is_empty() && error.schema_code() == Some("INVALID_VALUE") {
        path = variable(error.message()).unwrap_or_default();
    }
    path
}

/// The field of the input, from a path in the server's names and a code.
pub(crate) fn input_path(path: Vec<String>, code: &str) -> Vec<String> {
    // Codes that name no field are words such as `Unauthorized` and `INVALID_VALUE`, or empty.
    let code: Vec<String> = if code.starts_with(|c: char| c.is_ascii_lowercase()) {
        code.split('.').map(str::to_owned).collect()
    } else {
        Vec::new()
    };
    // Both name the field, and the longer one is more precise.
    translated(if code.len() > path.len() { code } else { path })
}

/// `Variable '$input.forms[0]' is invalid`: GraphQL.NET names the place in its text only.
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
    // An array field ends in [] (spec 7.2).
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
    use equipment::script::rows;
    use serde_json::json;

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
        // Path, code (a dash is none), and the path of the input.
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
