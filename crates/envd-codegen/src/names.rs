//! Decisions that a schema does not state: Rust names, and the types of the SDK for parts of the schema.

use heck::ToSnakeCase;

/// The Rust name of a GraphQL type or a fragment.
pub fn type_name(graphql: &str) -> &str {
    match graphql {
        "EFormType" => "FormType",
        "ConsignmentSpecies" => "Species",
        "CreateOrSaveConsignmentInput" => "ConsignmentInput",
        "CreateOrSaveTemplateInput" => "TemplateInput",
        "CreateCommentInput" => "CommentInput",
        "DateTime" => "Timestamp",
        // A tree is unrolled in GraphQL and recursive in Rust.
        name if name.starts_with("QuestionDepth") => "Question",
        name => name,
    }
}

/// Texts with their own type: the Rust type, followed by each `Type.field` and `Type.field(argument:)` that has it. An entry that
/// begins with a bracket is an argument of any field.
const TEXT_TYPES: &str = "\
    AccountId Account.envdAccountId (envdAccountId:)
    AccountType Account.accountType
    ConsignmentId Consignment.id CreateOrSaveConsignmentInput.id Query.consignment(id:) Mutation.deleteConsignment(id:) Mutation.copyConsignment(id:)
    ConsignmentNumber Consignment.number CreateOrSaveConsignmentInput.number Comment.consignmentNumber CreateCommentInput.consignmentNumber (consignmentNumber:)
    FormType Question.forms
    PdfUrl Consignment.pdfUrl
    QuestionId Question.id Answer.questionId AnswerInput.questionId Trigger.questionId
    QuestionType Question.type
    Role Account.roles UserDetails.roles
    TemplateId Template.id CreateOrSaveTemplateInput.id Query.template(id:) Mutation.deleteTemplate(id:)
    ValidatorType Validator.type";

pub(crate) fn text_type(coordinate: &str) -> Option<&'static str> {
    let argument = coordinate.find('(').map(|at| &coordinate[at..]);
    let is_for = |word: &str| word == coordinate || argument == Some(word);
    let mut rows = TEXT_TYPES.lines().map(str::split_whitespace);
    rows.find_map(|mut row| row.next().filter(|_| row.any(is_for)))
}

/// The function of `model::lenient` that deserializes a field, if the type alone does not determine it. Depends on the shape, since
/// a service may have another type there: a record or not, within this number of lists.
pub(crate) fn reader(coordinate: &str, is_record: bool, lists: usize) -> Option<&'static str> {
    Some(match (coordinate, is_record, lists) {
        // The specification has a `data` object, public queries do not.
        ("Query.userDetails", true, 0) => "record_or_data",
        // An object in the specification, a list in public queries.
        ("Account.properties", true, 0 | 1) => "one_or_many",
        // Null means that the service does not say which roles there are.
        ("Account.roles" | "UserDetails.roles", false, 1) => "known_list",
        _ => return None,
    })
}

/// Fields with personal data, answers or signatures.
const PERSONAL: &str = " accountLabel auth0Id certificateNumber commentText createdBy email firstName fullName lastName line1 \
    mobilePhone name phone postcode propertyName signature town updatedBy value ";

/// Whether `Debug` hides a field. Only the name matters, so that unknown fields with these names are hidden as well.
pub(crate) fn is_hidden(coordinate: &str) -> bool {
    let name = coordinate.trim_end_matches(":)");
    let name = name.rsplit(['.', '(', '$']).next().unwrap_or(name);
    PERSONAL.contains(&format!(" {name} "))
        && !matches!(coordinate, "Trigger.value" | "AcceptableAnswer.value")
}

/// The Rust name of a field.
pub(crate) fn field_name(coordinate: &str, wire: &str) -> String {
    let known = match coordinate {
        "Question.type" => "question_type",
        "Validator.type" => "validator_type",
        "ConsignmentForm.type" => "form_type",
        // `lPA`, `eUGFHQB`: abbreviations.
        _ if coordinate.starts_with("Accreditations.") => return identifier(wire.to_lowercase()),
        _ => return identifier(wire.to_snake_case()),
    };
    known.to_owned()
}

/// Keywords of Rust, and names that the code uses itself.
const TAKEN: &str = " Box Default Err None Option Self Some String Unrecognized Variables ResponseData Vec bool f64 i64 \
    abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let \
    loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe \
    unsized use virtual where while yield ";

/// Further names that an item must not have, since the macros of the SDK and the derives use them without a path.
const TAKEN_BY_MACROS: &str = " From Ok Result alloc char core envd_sdk f32 i8 i16 i32 i128 isize std str u8 u16 u32 u64 u128 usize ";

/// A valid Rust name for a field or a variant.
pub(crate) fn identifier(name: String) -> String {
    let is_taken = TAKEN.contains(&format!(" {name} "));
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && !is_taken => name,
        Some(first) if first.is_ascii_alphabetic() => name + "_",
        _ => format!("n{name}"),
    }
}

/// A valid Rust name for a struct, an enum or a module.
pub(crate) fn item(name: String) -> String {
    match identifier(name) {
        name if TAKEN_BY_MACROS.contains(&format!(" {name} ")) => name + "_",
        name => name,
    }
}

/// The name of the module of an operation.
pub(crate) fn module(operation: &str) -> String {
    item(operation.to_snake_case())
}

/// Whether a type can have the name unchanged. The type of an operation must, since its name is sent.
pub(crate) fn is_free(name: &str) -> bool {
    // These are only in the modules of operations.
    let is_in_modules = ["ResponseData", "Unrecognized", "Variables"].contains(&name);
    let is_name = name.starts_with('_') && name != "_";
    is_in_modules || is_name || item(name.to_owned()) == name
}

/// `envd_account_id` as `envdAccountId`, in the same way as `serde(rename_all = "camelCase")`.
pub(crate) fn camel_case(rust: &str) -> String {
    let mut words = rust.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalized(word))
}

/// Capitalizes a word and keeps its other capitals: `addViewer` becomes `AddViewer`.
pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
