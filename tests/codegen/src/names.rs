//! What the schema does not state: Rust names, types of ids, and the fields that `Debug` hides.

/// GraphQL types whose Rust name differs. Fragments give all other names.
pub(crate) fn type_name(graphql: &str) -> &str {
    match graphql {
        "EFormType" => "FormType",
        "ConsignmentSpecies" => "Species",
        "CreateOrSaveConsignmentInput" => "ConsignmentInput",
        "CreateOrSaveTemplateInput" => "TemplateInput",
        "CreateCommentInput" => "CommentInput",
        "DateTime" => "Timestamp",
        "String" | "ID" => "String",
        "Boolean" => "bool",
        "Int" => "i64",
        "Float" => "f64",
        // A tree is unrolled in GraphQL and recursive in Rust.
        name if name.starts_with("QuestionDepth") => "Question",
        name => name,
    }
}

/// The generic type for a record with these fields.
pub(crate) fn generic(fields: &[&str]) -> Option<&'static str> {
    Some(match fields {
        ["totalCount", "pageInfo", "edges"] => "Connection",
        ["cursor", "node"] => "Edge",
        ["data"] => "Saved",
        _ => return None,
    })
}

/// String fields with a dedicated Rust type, by `Type.field`.
pub(crate) fn text_type(coordinate: &str) -> Option<&'static str> {
    Some(match coordinate {
        "Account.envdAccountId" => "AccountId",
        "Consignment.id" | "CreateOrSaveConsignmentInput.id" => "ConsignmentId",
        "Consignment.number"
        | "CreateOrSaveConsignmentInput.number"
        | "Comment.consignmentNumber"
        | "CreateCommentInput.consignmentNumber" => "ConsignmentNumber",
        "Consignment.pdfUrl" => "PdfUrl",
        "Template.id" | "CreateOrSaveTemplateInput.id" => "TemplateId",
        "Question.id" | "Answer.questionId" | "AnswerInput.questionId" | "Trigger.questionId" => {
            "QuestionId"
        }
        "Question.type" => "QuestionType",
        "Question.forms" => "FormType",
        "Validator.type" => "ValidatorType",
        "Account.accountType" => "AccountType",
        "Account.roles" | "UserDetails.roles" => "Role",
        _ => return None,
    })
}

/// The method that runs an operation.
pub(crate) fn method(operation: &str) -> &'static str {
    match operation {
        "Comments" => "Account::comments",
        "Consignment" => "Account::consignment",
        "ConsignmentUserMapping" => "Account::user_mappings",
        "Consignments" => "Account::consignments",
        "CopyConsignment" => "Account::copy_consignment",
        "CreateComment" => "Account::create_comment",
        "CreateOrSaveConsignment" => "Account::save_consignment",
        "CreateOrSaveTemplate" => "Account::save_template",
        "DeleteConsignment" => "Account::delete_consignment",
        "DeleteTemplate" => "Account::delete_template",
        "Edecs" => "Account::edecs",
        "FullConsignments" => "Account::full_consignments",
        "Questions" => "Client::questions",
        "Template" => "Account::template",
        "Templates" => "Account::templates_page",
        "UserDetails" => "Client::user_details",
        _ => panic!("no method runs {operation}"),
    }
}

/// String variables with a dedicated Rust type, by operation and name.
pub(crate) fn variable_type(operation: &str, variable: &str) -> Option<&'static str> {
    Some(match (operation, variable) {
        (_, "envdAccountId") => "AccountId",
        ("Consignment" | "DeleteConsignment" | "CopyConsignment", "id") => "ConsignmentId",
        ("Template" | "DeleteTemplate", "id") => "TemplateId",
        (_, "consignmentNumber") => "ConsignmentNumber",
        _ => return None,
    })
}

/// Fields whose Rust name is not the wire name in snake case.
pub(crate) fn field_name(coordinate: &str) -> Option<&'static str> {
    Some(match coordinate {
        "Question.type" => "question_type",
        "Validator.type" => "validator_type",
        "ConsignmentForm.type" => "form_type",
        "Accreditations.lPA" => "lpa",
        "Accreditations.eU" => "eu",
        "Accreditations.mSA" => "msa",
        "Accreditations.eUGFHQB" => "eugfhqb",
        "Accreditations.nFAS" => "nfas",
        "Accreditations.hRG" => "hrg",
        _ => return None,
    })
}

/// `envd_account_id` as `envdAccountId`, in the same way as `serde(rename_all = "camelCase")`.
pub(crate) fn camel_case(rust: &str) -> String {
    let mut words = rust.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalized(word))
}

/// `envdAccountId` as `envd_account_id`, `UserDetails` as `user_details`.
pub(crate) fn snake_case(wire: &str) -> String {
    let mut name = String::new();
    for letter in wire.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// `BOBBY_CALVES` as `BobbyCalves`.
pub(crate) fn upper_camel_case(value: &str) -> String {
    let words = value.split('_');
    words
        .map(|word| capitalized(&word.to_lowercase()))
        .collect()
}

fn capitalized(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Setters whose name is not that of their field: a method of that name reads the field.
pub(crate) fn setter_name(coordinate: &str) -> Option<&'static str> {
    (coordinate == "CreateOrSaveConsignmentInput.answers").then_some("with_answers")
}

/// Words by which the search of rustdoc finds a field (`Type.field`), beside its name. Those of a type stand on its `pub use` in
/// `src/model/mod.rs`: rustdoc drops the aliases of what a private module declares.
pub(crate) fn search_words(field: &str) -> &'static [&'static str] {
    match field {
        "Consignment.heads" => &["animals", "head count"],
        "Consignment.pdfUrl" => &["print"],
        "Consignment.origin" | "CreateOrSaveConsignmentInput.origin" => &["consignor", "vendor"],
        _ => &[],
    }
}

/// Fields that `Debug` hides: personal data, answers, signatures.
pub(crate) fn is_hidden(coordinate: &str) -> bool {
    let Some((of, field)) = coordinate.split_once('.') else {
        return false;
    };
    match of {
        "Party" | "PartyInput" | "Template" | "CreateOrSaveTemplateInput" => field == "name",
        "Address" | "AddressInput" => matches!(field, "line1" | "town" | "postcode"),
        "Answer" | "AnswerInput" => field == "value",
        "Declaration" | "DeclarationInput" => !matches!(field, "accept" | "date" | "address"),
        "Comment" | "CreateCommentInput" => {
            matches!(field, "firstName" | "lastName" | "commentText")
        }
        "ConsignmentUserMapping" => matches!(field, "email" | "firstName" | "lastName"),
        "Consignment" => matches!(field, "createdBy" | "updatedBy"),
        "UserDetails" => matches!(
            field,
            "auth0Id" | "email" | "firstName" | "lastName" | "mobilePhone"
        ),
        "Account" => matches!(field, "email" | "accountLabel"),
        "AccountProperty" => field == "propertyName",
        _ => false,
    }
}

/// Fields with a custom deserializer, by `Type.field` or `Operation.field`.
pub(crate) fn reader(coordinate: &str) -> Option<&'static str> {
    Some(match coordinate {
        // The specification has a `data` object, public queries do not.
        "operation UserDetails.userDetails" => "record_or_data",
        // An object in the specification, a list in public queries.
        "Account.properties" => "one_or_many",
        // Where they are null, the service does not say which roles there are.
        "Account.roles" | "UserDetails.roles" => "known_list",
        _ => return None,
    })
}
