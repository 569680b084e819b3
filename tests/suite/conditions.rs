//! Every row of the error table (spec 7.2) and every other body of `tests/fixtures/errors`, from literal bodies.

use envd_sdk::model::{Condition, ServerError, Severity};
use test_support::script::rows;

use crate::fixed_date::fixture;

fn errors(file: &str) -> Vec<ServerError> {
    let mut body = fixture(&format!("errors/{file}.json"));
    serde_json::from_value(body["errors"].take()).unwrap()
}

/// File, condition, severity, and the field of the input.
#[rustfmt::skip]
const ROWS: [(&str, Condition, Severity, &str); 30] = {
    use Condition as C;
    use Severity::{Error, Warning};
    [
        ("invalid-token", C::InvalidToken, Error, ""),
        ("consignment-not-found", C::NotFoundOrForbidden, Error, ""),
        ("empty-forms", C::EmptyForms, Error, "forms"),
        ("unknown-form", C::UnknownForm, Error, "forms.0"),
        ("mixed-species", C::MixedSpecies, Error, ""),
        ("invalid-pic", C::InvalidPic, Error, "origin.pic"),
        ("origin-pic-not-associated", C::PicNotAssociated, Error, "origin.pic"),
        ("required-answer-missing", C::RequiredAnswerMissing, Warning, "answers.17"),
        ("invalid-answer-value", C::InvalidAnswerValue, Warning, "answers.103"),
        ("answer-outside-acceptable", C::OutsideAcceptableAnswers, Error, "answers.17"),
        ("lpag2-rejected", C::Lpag2Rejected, Error, ""),
        ("question-185-no", C::Question185No, Error, "answers.185"),
        ("not-accredited", C::AccessDenied, Error, ""),
        ("field-rule", C::FieldRule, Error, "origin.address.postcode"),
        ("internal-error", C::Other, Error, ""),
        ("schema-variable-missing", C::InvalidVariable, Error, ""),
        ("schema-variable-null", C::InvalidVariable, Error, ""),
        ("schema-unknown-input-field", C::SchemaMismatch, Error, ""),
        ("schema-object-expected", C::InvalidVariable, Error, "origin"),
        ("schema-unknown-field", C::SchemaMismatch, Error, ""),
        ("schema-unknown-argument", C::SchemaMismatch, Error, ""),
        ("schema-argument-missing", C::SchemaMismatch, Error, ""),
        ("schema-sub-selection-missing", C::SchemaMismatch, Error, ""),
        ("schema-undefined-variable", C::SchemaMismatch, Error, ""),
        ("schema-two-errors", C::SchemaMismatch, Error, ""),
        ("schema-syntax-error", C::SchemaMismatch, Error, ""),
        ("schema-no-operation", C::SchemaMismatch, Error, ""),
        ("schema-unknown-operation-name", C::SchemaMismatch, Error, ""),
        ("schema-query-missing", C::SchemaMismatch, Error, ""),
        ("schema-code-and-data", C::MixedSpecies, Error, ""),
    ]
};

#[test]
fn each_body_has_its_condition_its_severity_and_its_field() {
    for (file, condition, severity, field) in ROWS {
        let errors = errors(file);
        let first = &errors[0];
        assert_eq!(first.condition(), condition, "{file}");
        assert_eq!(first.severity(), severity, "{file}");
        assert_eq!(first.input_path().join("."), field, "{file}");
        assert!(
            errors.iter().all(|error| error.condition() == condition),
            "{file}"
        );
    }
    let rows = errors("required-answer-missing");
    assert_eq!(rows[1].input_path(), ["answers", "3", "0"]);
}

/// Errors in other formats than the fixtures: bare field names as in the table of spec 7.2, messages without an extension,
/// another letter case.
const OTHERS: &str = r#"
InvalidPic             | {"message": "X1 is not a valid value for PIC", "path": ["op", "pic"], "extensions": {"data": {"Code": "pic"}}}
InvalidPic             | {"message": "X1 is not a valid value for PIC", "path": ["op", "owner", "pic"]}
PicNotAssociated       | {"message": "X1 is not associated with user", "path": ["op", "consignorPic"]}
RequiredAnswerMissing  | {"message": "Required", "path": ["op", "answers", "17"]}
EmptyForms             | {"message": "Array item count 0 is less than minimum count of 1.", "path": ["op", "programs"]}
InvalidToken           | {"message": "the access token is invalid"}
InvalidToken           | {"message": "no", "extensions": {"code": "UNAUTHENTICATED"}}
AccessDenied           | {"message": "no", "extensions": {"code": "ACCESS_DENIED"}}
Other                  | {"message": "Error trying to resolve field 'comments'.", "path": ["comments"]}
Other                  | {"message": "What is this?", "path": ["op", "colour"]}
Other                  | {}
"#;

#[test]
fn the_conditions_of_the_specification_are_recognised_in_other_envelopes() {
    for row in rows(OTHERS) {
        let error: ServerError = serde_json::from_str(row[1]).unwrap();
        assert_eq!(format!("{:?}", error.condition()), row[0], "{error}");
    }
}

#[test]
fn an_outcome_status_of_warning_is_a_warning() {
    let error =
        r#"{"message": "m", "extensions": {"data": {"Code": "", "OutcomeStatus": "WARNING"}}}"#;
    let error: ServerError = serde_json::from_str(error).unwrap();
    assert_eq!(error.severity(), Severity::Warning);
}

#[test]
fn a_server_error_keeps_all_received_fields() {
    let body = fixture("errors/schema-resolver-threw.json");
    let error: ServerError = serde_json::from_value(body["errors"][0].clone()).unwrap();
    assert_eq!(error.raw(), &body["errors"][0]);
    assert_eq!(error.path()[0], "comments");
    assert_eq!(error.schema_code(), Some("NULL_REFERENCE"));
    assert_eq!(serde_json::to_value(&error).unwrap(), body["errors"][0]);
}
