//! The rows of the error table (spec 7.2), recognised in one place.

use super::{PathSegment, ServerError};

/// Which row of the error table (spec 7.2) a server error belongs to.
///
/// Codes and paths decide; the text of the message only where the specification gives nothing else.
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
    /// The record does not exist, or the user may not change it; the server does not distinguish them. It sends the text
    /// of a failure ("Internal server error"), so that the reply to a request without the id or the number of a record
    /// is not read this way.
    NotFoundOrForbidden,
    /// The consignment has no forms, or no species follows from them.
    EmptyForms,
    /// A form is unknown to the server.
    UnknownForm,
    /// The forms belong to more than one species.
    MixedSpecies,
    /// A PIC does not have the format of a PIC.
    InvalidPic,
    /// The origin PIC is not the PIC of the selected account.
    PicNotAssociated,
    /// An answer that is required is missing. The server classes this as a warning.
    RequiredAnswerMissing,
    /// An answer breaks a rule of its question. The server classes this as a warning.
    InvalidAnswerValue,
    /// An answer is not an acceptable answer.
    OutsideAcceptableAnswers,
    /// The form LPAG2 can no longer be created. The shape is assumed.
    Lpag2Rejected,
    /// Question 185 was not answered Yes: the goats may not be moved. The shape is assumed.
    Question185No,
    /// The user is not permitted, for example not accredited for a form. The shape is assumed.
    AccessDenied,
    /// The query does not fit the server's schema, or an input has a field that the schema lacks: the service has changed, or a
    /// document of the caller is wrong.
    SchemaMismatch,
    /// A value in the variables does not fit the server's schema.
    InvalidVariable,
    /// A field breaks a rule of spec 2.1 to 2.3.
    FieldRule,
    /// None of the above.
    Other,
}

impl Condition {
    pub(super) fn of(error: &ServerError) -> Self {
        match error.schema_code() {
            // assumed: the text of GraphQL.NET, which has the same code and number for a wrong value and for a field of an input
            // that the schema does not have.
            Some("INVALID_VALUE") if error.message().contains("Unrecognized input fields '") => {
                return Self::SchemaMismatch;
            }
            Some("INVALID_VALUE") if error.message().contains("EFormType") => {
                return Self::UnknownForm;
            }
            Some("INVALID_VALUE") => return Self::InvalidVariable,
            // Validation errors carry the section of the GraphQL specification that was broken.
            Some(_) if error.schema_number().is_some_and(|n| n.starts_with('5')) => {
                return Self::SchemaMismatch;
            }
            Some(
                "SYNTAX_ERROR"
                | "NO_OPERATION"
                | "INVALID_OPERATION"
                | "INVALID_OPERATION_NAME"
                | "QUERY_MISSING"
                // Apollo Server's.
                | "GRAPHQL_PARSE_FAILED"
                | "GRAPHQL_VALIDATION_FAILED"
                | "OPERATION_RESOLUTION_FAILURE",
            ) => {
                return Self::SchemaMismatch;
            }
            // Apollo Server gives variables this code, other servers on graphql-js give none: the text distinguishes them.
            None | Some("BAD_USER_INPUT") if error.code().is_none() && error.path().is_empty() => {
                if let Some(condition) = Self::of_request(error.message()) {
                    return condition;
                }
            }
            // assumed: the codes of other GraphQL servers, and of access rules in GraphQL.NET.
            Some("UNAUTHENTICATED" | "UNAUTHORIZED") => return Self::InvalidToken,
            Some("ACCESS_DENIED" | "FORBIDDEN") => return Self::AccessDenied,
            _ => {}
        }
        match error.code() {
            Some("Unauthorized") => Self::InvalidToken,
            Some("consignorPic") => Self::PicNotAssociated,
            Some("species" | "programs") => Self::EmptyForms,
            Some("") => Self::of_refusal(error),
            Some(code) => Self::of_field(code, error),
            None if is(error.message(), "the access token is invalid") => Self::InvalidToken,
            None => Self::of_path(error),
        }
    }

    /// The texts of graphql-js for a request that it does not execute. Others may come from an execution.
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

    /// An empty Code: the specification distinguishes these by their texts only.
    fn of_refusal(error: &ServerError) -> Self {
        let description = error.description().unwrap_or_default().to_ascii_lowercase();
        let message = error.message();
        if is(message, "access denied") {
            Self::AccessDenied
        } else if description.contains("more than one species") {
            Self::MixedSpecies
        } else if description.contains("lpag2") {
            Self::Lpag2Rejected
        } else if matches!(error.path().last(), Some(PathSegment::Name(last)) if last == "185") {
            Self::Question185No
        } else if is(message, "internal server error") {
            Self::NotFoundOrForbidden
        } else {
            Self::Other
        }
    }

    /// No Code at all: the path names the field as well (spec 7.2).
    fn of_path(error: &ServerError) -> Self {
        match error.path() {
            [_operation, .., PathSegment::Name(last)] => match last.as_str() {
                "consignorPic" => Self::PicNotAssociated,
                "species" | "programs" => Self::EmptyForms,
                _ => match Self::of_field("answers", error) {
                    Self::FieldRule => Self::Other,
                    told => told,
                },
            },
            _ => Self::Other,
        }
    }

    /// A Code that names a field: the message has the reason.
    fn of_field(code: &str, error: &ServerError) -> Self {
        let message = error.message();
        if message.ends_with("is not a valid value for PIC") {
            Self::InvalidPic
        } else if message.ends_with("is not associated with user") {
            Self::PicNotAssociated
        } else if is(message, "required") {
            Self::RequiredAnswerMissing
        } else if message.starts_with("Question ") && message.ends_with(" is not valid") {
            Self::InvalidAnswerValue
        } else if message.starts_with("Answer: ") && message.contains("Acceptable answers are:") {
            Self::OutsideAcceptableAnswers
        } else if code == "answers" || code.starts_with("answers.") {
            Self::Other
        } else {
            Self::FieldRule
        }
    }
}

/// The specification and public material differ in case and in the full stop.
fn is(message: &str, wanted: &str) -> bool {
    message.trim_end_matches('.').eq_ignore_ascii_case(wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
        let none = r#"Variable "$id" of required type "String!" was not provided."#;
        for (error, condition) in [
            (
                apollo("GRAPHQL_VALIDATION_FAILED", no_field),
                C::SchemaMismatch,
            ),
            (
                apollo("GRAPHQL_PARSE_FAILED", "Syntax Error: Unexpected Name."),
                C::SchemaMismatch,
            ),
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
            // With a path it comes from an execution, which may have changed something.
            (
                json!({"message": unknown_field, "path": ["save"]}),
                C::Other,
            ),
        ] {
            let error = ServerError::from_value(error);
            assert_eq!(error.condition(), condition, "{error}");
        }
    }
}
