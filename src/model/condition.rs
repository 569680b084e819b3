//! Recognises the rows of the error table (spec 7.2), in a single place.

use super::ServerError;

/// The row of the error table (spec 7.2) to which a server error belongs.
///
/// Codes and paths decide. The message text is used only if the specification gives nothing else.
///
/// ```
/// use envd_sdk::model::{Condition, ServerError};
///
/// let advice = |error: &ServerError| match error.condition() {
///     Condition::InvalidToken => "log in again",
///     Condition::PicNotAssociated => "choose the account of this property",
///     Condition::RequiredAnswerMissing | Condition::InvalidAnswerValue => "mend the answer",
///     _ => "show the message",
/// };
/// let error: ServerError = serde_json::from_str(r#"{"message": "The access token is invalid"}"#)?;
/// assert_eq!(advice(&error), "log in again");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// The access token is invalid or expired.
    InvalidToken,
    /// The record does not exist, or the user may not change it; the server does not distinguish the two. It sends the text of
    /// a failure ("Internal server error"), so the reply to a request without a record id or number is not classified this way.
    NotFoundOrForbidden,
    /// The consignment has no forms, or forms that imply no species.
    EmptyForms,
    /// A form is unknown to the server.
    UnknownForm,
    /// The forms belong to more than one species.
    MixedSpecies,
    /// A PIC has an invalid format.
    InvalidPic,
    /// The origin PIC is not that of the selected account.
    PicNotAssociated,
    /// A required answer is missing. The server classes this as a warning.
    RequiredAnswerMissing,
    /// An answer violates a rule of its question. The server classes this as a warning.
    InvalidAnswerValue,
    /// An answer is not one of the acceptable answers.
    OutsideAcceptableAnswers,
    /// The form LPAG2 can no longer be created. The shape is assumed.
    Lpag2Rejected,
    /// Question 185 was not answered with Yes: the goats must not be moved. The shape is assumed.
    Question185No,
    /// The user lacks permission, such as the accreditation for a form. The shape is assumed.
    AccessDenied,
    /// The query does not match the server's schema, or an input has a field missing in the schema: the service has changed, or
    /// the caller's document is wrong.
    SchemaMismatch,
    /// A variable's value does not match the server's schema.
    InvalidVariable,
    /// A field violates a rule of spec 2.1 to 2.3.
    FieldRule,
    /// None of the above.
    Other,
}

impl Condition {
    pub(super) fn of(error: &ServerError) -> Self {
        match error.schema_code() {
            // assumed: the message of GraphQL.NET, which uses the same code and number for a wrong value and for an unknown
            // input field.
            Some("INVALID_VALUE") if error.message().contains("Unrecognized input fields '") => {
                return Self::SchemaMismatch;
            }
            Some("INVALID_VALUE") if error.message().contains("EFormType") => {
                return Self::UnknownForm;
            }
            Some("INVALID_VALUE") => return Self::InvalidVariable,
            // Validation errors carry the section of the GraphQL specification that was violated.
            Some(_) if error.schema_number().is_some_and(|n| n.starts_with('5')) => {
                return Self::SchemaMismatch;
            }
            Some(
                "SYNTAX_ERROR"
                | "NO_OPERATION"
                | "INVALID_OPERATION"
                | "INVALID_OPERATION_NAME"
                | "QUERY_MISSING"
                // Apollo Server's codes.
                | "GRAPHQL_PARSE_FAILED"
                | "GRAPHQL_VALIDATION_FAILED"
                | "OPERATION_RESOLUTION_FAILURE",
            ) => {
                return Self::SchemaMismatch;
            }
            // Apollo Server uses this code for variables, other servers based on graphql-js use none: the text distinguishes
            // them.
            None | Some("BAD_USER_INPUT") if error.code().is_none() && error.path().is_empty() => {
                if let Some(condition) = Self::of_request(error.message()) {
                    return condition;
                }
            }
            // assumed: codes of other GraphQL servers, and of access rules in GraphQL.NET.
            Some("UNAUTHENTICATED" | "UNAUTHORIZED") => return Self::InvalidToken,
            Some("ACCESS_DENIED" | "FORBIDDEN") => return Self::AccessDenied,
            _ => {}
        }
        let message = words(error.message());
        let description = words(error.description().unwrap_or_default());
        // The row does not specify the Code.
        if description.contains("more than one species") {
            return Self::MixedSpecies;
        }
        match words(error.code().unwrap_or_default()).as_str() {
            "unauthorized" => Self::InvalidToken,
            "" if message == "the access token is invalid" => Self::InvalidToken,
            "" if error.has_empty_code() => Self::of_refusal(error, &message, &description),
            "" => Self::of_path(error, &message),
            code => Self::of_field(code, &message),
        }
    }

    /// The messages of graphql-js for requests that it does not execute. Other messages may come from an execution.
    fn of_request(message: &str) -> Option<Self> {
        let document = [
            "Syntax Error",
            "Cannot query field \"",
            "Unknown argument \"",
            "Unknown type \"",
            "Unknown operation named \"",
        ];
        if document.iter().any(|start| message.starts_with(start)) {
            return Some(Self::SchemaMismatch);
        }
        // `Variable "$input" got invalid value {..} at "input.x"; Field "y" is not defined by type "Z".`
        let (_, reason) = message.strip_prefix("Variable \"$")?.split_once('"')?;
        let is_field = reason.contains("; Field \"")
            && (reason.contains("\" is not defined by type \"")
                || reason.contains("\" was not provided."));
        if is_field {
            Some(Self::SchemaMismatch)
        } else if reason.contains("does not exist in \"EFormType\" enum") {
            Some(Self::UnknownForm)
        } else if reason.starts_with(" got invalid value ")
            || reason.starts_with(" of required type ")
            || reason.starts_with(" of non-null type ")
        {
            Some(Self::InvalidVariable)
        } else {
            None
        }
    }

    /// An empty Code: the specification distinguishes these errors only by their text.
    fn of_refusal(error: &ServerError, message: &str, description: &str) -> Self {
        if message == "access denied" {
            Self::AccessDenied
        } else if description.contains("lpag2") {
            Self::Lpag2Rejected
        } else if error.path().last().is_some_and(|last| last == "185") {
            Self::Question185No
        } else if message == "internal server error" {
            Self::NotFoundOrForbidden
        } else {
            Self::Other
        }
    }

    /// No Code at all: the path also names the field (spec 7.2).
    fn of_path(error: &ServerError, message: &str) -> Self {
        let [_operation, .., field] = error.path() else {
            return Self::Other;
        };
        match Self::of_field(&words(field), message) {
            // Failures have a path too.
            Self::FieldRule => Self::Other,
            reported => reported,
        }
    }

    /// A Code or a path that names a field. The message states the reason.
    fn of_field(field: &str, message: &str) -> Self {
        let ends_in = |ends: &[&str]| ends.iter().any(|end| message.ends_with(end));
        if ends_in(&["is not a valid value for pic"]) {
            Self::InvalidPic
        } else if ends_in(&[
            "is not associated with user",
            "is not associated with the user",
        ]) {
            Self::PicNotAssociated
        } else if message == "required" {
            Self::RequiredAnswerMissing
        } else if message.starts_with("question ") && ends_in(&["is not valid"]) {
            Self::InvalidAnswerValue
        } else if message.starts_with("answer: ") && message.contains("acceptable answers are:") {
            Self::OutsideAcceptableAnswers
        } else if field == "species" || field == "programs" {
            Self::EmptyForms
        } else if field == "consignorpic" && message.is_empty() {
            Self::PicNotAssociated
        } else if field == "answers" || field.starts_with("answers.") {
            Self::Other
        } else {
            Self::FieldRule
        }
    }
}

/// Normalizes a text: the specification and public material differ in case, white space and the full stop.
fn words(text: &str) -> String {
    let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_support::script::rows;

    use super::*;

    /// The error of a row, and its condition.
    fn error_of(row: &[&str], change: fn(&str) -> String) -> (String, ServerError) {
        let [condition, message, code, path, description] = row else {
            panic!("{row:?}");
        };
        let text = |column: &&str| match *column {
            "-" => json!(null),
            "empty" => json!(""),
            text => json!(change(text)),
        };
        let mut names = vec!["createOrSaveConsignment"];
        names.extend(path.split('.').filter(|name| *name != "-"));
        let data = json!({"Code": text(code), "Message": text(message), "Description": text(description), "OutcomeStatus": "ERROR"});
        let error = json!({"message": text(message), "path": names, "extensions": {"data": data}});
        (condition.to_string(), ServerError::from_value(error))
    }

    #[test]
    fn each_condition_is_known_by_what_the_specification_states() {
        let changes: [fn(&str) -> String; 6] = [
            str::to_owned,
            str::to_uppercase,
            str::to_lowercase,
            |text| format!("{text}."),
            |text| format!(" {text}\n"),
            |text| text.replace(' ', "  "),
        ];
        for row in rows(include_str!("conditions.txt")) {
            for change in changes {
                let (condition, error) = error_of(&row, change);
                let found = format!("{:?}", error.condition());
                assert_eq!(found, condition, "{}", error.raw());
            }
        }
    }

    #[test]
    fn requests_that_graphql_js_does_not_execute_are_known_by_code_or_text() {
        use Condition as C;
        let apollo = |code: &str, message: &str| json!({"message": message, "locations": [{"line": 1, "column": 2}], "extensions": {"code": code}});
        let plain =
            |message: &str| json!({"message": message, "locations": [{"line": 1, "column": 2}]});
        let unknown_field = r#"Variable "$input" got invalid value { a: 1 }; Field "owner" is not defined by type "Input". Did you mean "own"?"#;
        let missing = r#"Variable "$input" got invalid value {}; Field "pic" of required type "String!" was not provided."#;
        let form = r#"Variable "$input" got invalid value "LPAX" at "input.forms[0]"; Value "LPAX" does not exist in "EFormType" enum."#;
        let number = r#"Variable "$first" got invalid value "x"; Int cannot represent non-integer value: "x""#;
        let no_field = r#"Cannot query field "x" on type "Query"."#;
        let no_argument = r#"Unknown argument "x" on field "Query.comments"."#;
        let past = "The date is in the past";
        let executed = json!({"message": unknown_field, "path": ["save"]});
        let none = r#"Variable "$id" of required type "String!" was not provided."#;
        let invalid = "GRAPHQL_VALIDATION_FAILED";
        let unread = "GRAPHQL_PARSE_FAILED";
        for (error, condition) in [
            (apollo(invalid, no_field), C::SchemaMismatch),
            (apollo(unread, "Syntax Error: Name."), C::SchemaMismatch),
            (apollo("BAD_USER_INPUT", unknown_field), C::SchemaMismatch),
            (apollo("BAD_USER_INPUT", missing), C::SchemaMismatch),
            (apollo("BAD_USER_INPUT", form), C::UnknownForm),
            (apollo("BAD_USER_INPUT", number), C::InvalidVariable),
            (apollo("BAD_USER_INPUT", past), C::Other),
            (plain(no_field), C::SchemaMismatch),
            (plain(no_argument), C::SchemaMismatch),
            (plain(unknown_field), C::SchemaMismatch),
            (plain(none), C::InvalidVariable),
            (plain("Unexpected error."), C::Other),
            (plain("Variable weather"), C::Other),
            // An error with a path comes from an execution, which may have changed something.
            (executed, C::Other),
        ] {
            let error = ServerError::from_value(error);
            assert_eq!(error.condition(), condition, "{error}");
        }
    }
}
