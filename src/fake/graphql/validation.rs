//! What the compiler finds wrong with a document, in the words of GraphQL.NET.
//!
//! The compiler's messages are read by their backticked names: its own structured form is not public. A message that
//! matches no line of the table is passed on as it is, so that a new version of the compiler changes words at worst.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::executable::{Field, Selection, SelectionSet};
use apollo_compiler::parser::LineColumn;
use apollo_compiler::validation::WithErrors;

use super::refusal::Refusal;

/// Every problem of a document.
pub(super) fn refusals(failed: &WithErrors<ExecutableDocument>, text: &str) -> Vec<Refusal> {
    let (document, errors) = (&failed.partial, &failed.errors);
    let located: Vec<(String, Option<LineColumn>)> = errors
        .iter()
        .map(|error| {
            let range = error.line_column_range();
            (error.error.to_string(), range.map(|range| range.start))
        })
        .collect();
    if document.operations.is_empty()
        && !located.iter().any(|(message, _)| is_syntax(message))
        && !located
            .iter()
            .any(|(message, _)| message.contains("root operation type is not defined"))
    {
        return Refusal::new("NO_OPERATION", "Document does not contain any operations.").into();
    }
    // After a syntax error the rest is noise.
    if let Some((message, place)) = located.iter().find(|(message, _)| is_syntax(message)) {
        let message = message.trim_start_matches("syntax error: ");
        let message = format!("Error parsing query: {message}");
        return Refusal::new("SYNTAX_ERROR", message)
            .at(place.or_else(|| end(text)))
            .into();
    }
    located
        .into_iter()
        .zip(errors.iter())
        .map(|((message, place), error)| {
            let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
            let field = error.error.location().and_then(|span| {
                fields(document)
                    .find(|field| field.name.location().map(|s| s.offset()) == Some(span.offset()))
            });
            let (words, code, number) = translated(&message, &names, field, document);
            let refusal = Refusal::new(code, words).number(number).at(place);
            if code == "NO_UNDEFINED_VARIABLES" {
                let operation = document.operations.iter().next();
                return refusal.at_span(operation.and_then(|op| op.location()), &document.sources);
            }
            refusal
        })
        .collect()
}

fn is_syntax(message: &str) -> bool {
    message.starts_with("syntax error") || message.contains("limit reached")
}

type Words = (String, &'static str, Option<&'static str>);

fn translated(
    message: &str,
    names: &[&str],
    field: Option<&Field>,
    document: &ExecutableDocument,
) -> Words {
    let has = |part: &str| message.contains(part);
    let (a, b) = (
        names.first().copied().unwrap_or_default(),
        names.get(1).copied().unwrap_or_default(),
    );
    let same = || message.to_owned();
    if has("does not have a field") {
        return (
            format!("Cannot query field '{b}' on type '{a}'."),
            "FIELDS_ON_CORRECT_TYPE",
            Some("5.3.1"),
        );
    }
    if has("is not supported by")
        && let Some((owner, field)) = coordinate(b)
    {
        let words = format!("Unknown argument '{a}' on field '{field}' of type '{owner}'.");
        return (words, "KNOWN_ARGUMENT_NAMES", Some("5.4.1"));
    }
    if has("the required argument")
        && let Some((_, name)) = coordinate(a)
    {
        let argument = a
            .split_once('(')
            .map_or("", |(_, rest)| rest.trim_end_matches(":)"));
        let wanted = field
            .and_then(|f| f.definition.argument_by_name(argument))
            .map(|arg| arg.ty.to_string());
        let wanted = wanted.unwrap_or_else(|| "String!".to_owned());
        let words = format!(
            "Argument '{argument}' of type '{wanted}' is required for field '{name}' but not provided."
        );
        return (words, "PROVIDED_NON_NULL_ARGUMENTS", Some("5.4.2.1"));
    }
    if has("must have a subselection set") {
        let words = field.map_or_else(same, |field| {
            format!(
                "Field {} of type {} must have a sub selection",
                field.name, field.definition.ty
            )
        });
        return (words, "SCALAR_LEAFS", Some("5.3.3"));
    }
    if has("variable `$") && has("is not defined") {
        let operation = document
            .operations
            .iter()
            .next()
            .and_then(|op| op.name.clone());
        let operation = operation.map(|name| name.to_string()).unwrap_or_default();
        let words = format!("Variable '{a}' is not defined by operation '{operation}'.");
        return (words, "NO_UNDEFINED_VARIABLES", Some("5.8.3"));
    }
    if has("root operation type is not defined") {
        return (
            format!("Schema is not configured for {a}s"),
            "INVALID_OPERATION",
            None,
        );
    }
    let (code, number) = CODES
        .iter()
        .find(|(part, _, _)| has(part))
        .map_or(("VALIDATION_ERROR", None), |(_, code, number)| {
            (*code, Some(*number))
        });
    (same(), code, number)
}

/// Part of a message, class of the rule in GraphQL.NET, section of the GraphQL specification.
const CODES: [(&str, &str, &str); 24] = [
    ("the operation `", "UNIQUE_OPERATION_NAMES", "5.2.1.1"),
    ("anonymous operation", "LONE_ANONYMOUS_OPERATION", "5.2.2.1"),
    ("conflict", "OVERLAPPING_FIELDS_CAN_BE_MERGED", "5.3.2"),
    ("different", "OVERLAPPING_FIELDS_CAN_BE_MERGED", "5.3.2"),
    ("must not have subselections", "SCALAR_LEAFS", "5.3.3"),
    ("argument `", "UNIQUE_ARGUMENT_NAMES", "5.4.2"),
    ("the fragment `", "UNIQUE_FRAGMENT_NAMES", "5.5.1.1"),
    ("type condition", "KNOWN_TYPE_NAMES", "5.5.1.2"),
    ("cannot find type", "KNOWN_TYPE_NAMES", "5.5.1.2"),
    ("composite type", "FRAGMENTS_ON_COMPOSITE_TYPES", "5.5.1.3"),
    (
        "must be used in an operation",
        "NO_UNUSED_FRAGMENTS",
        "5.5.1.4",
    ),
    ("cannot find fragment", "KNOWN_FRAGMENT_NAMES", "5.5.2.1"),
    ("cannot reference itself", "NO_FRAGMENT_CYCLES", "5.5.2.2"),
    (
        "cannot be applied to",
        "POSSIBLE_FRAGMENT_SPREADS",
        "5.5.2.3",
    ),
    (
        "expected value of type",
        "ARGUMENTS_OF_CORRECT_TYPE",
        "5.6.1",
    ),
    ("does not exist on", "ARGUMENTS_OF_CORRECT_TYPE", "5.6.1"),
    ("the required field", "ARGUMENTS_OF_CORRECT_TYPE", "5.6.1"),
    ("cannot represent", "ARGUMENTS_OF_CORRECT_TYPE", "5.6.1"),
    ("directive", "KNOWN_DIRECTIVES", "5.7.1"),
    (
        "is declared multiple times",
        "UNIQUE_VARIABLE_NAMES",
        "5.8.1",
    ),
    (
        "must be of an input type",
        "VARIABLES_ARE_INPUT_TYPES",
        "5.8.2",
    ),
    ("unused variable", "NO_UNUSED_VARIABLES", "5.8.4"),
    (
        "cannot be used for argument",
        "VARIABLES_IN_ALLOWED_POSITION",
        "5.8.5",
    ),
    (
        "is defined multiple times",
        "UNIQUE_INPUT_FIELD_NAMES",
        "5.6.3",
    ),
];

/// `Type.field(argument:)` to type and field.
fn coordinate(text: &str) -> Option<(&str, &str)> {
    let (owner, rest) = text.split_once('.')?;
    Some((owner, rest.split('(').next().unwrap_or(rest)))
}

/// Every field that the document selects, fragments included.
fn fields(document: &ExecutableDocument) -> impl Iterator<Item = &Field> {
    let mut found = Vec::new();
    let operations = document.operations.iter().map(|op| &op.selection_set);
    let fragments = document
        .fragments
        .values()
        .map(|fragment| &fragment.selection_set);
    for set in operations.chain(fragments) {
        collect(set, &mut found);
    }
    found.into_iter()
}

fn collect<'a>(set: &'a SelectionSet, found: &mut Vec<&'a Field>) {
    for selection in &set.selections {
        match selection {
            Selection::Field(field) => {
                found.push(field);
                collect(&field.selection_set, found);
            }
            Selection::InlineFragment(inline) => collect(&inline.selection_set, found),
            Selection::FragmentSpread(_) => {}
        }
    }
}

/// The place behind the last character, where a parser notices that something is missing.
fn end(text: &str) -> Option<LineColumn> {
    let line = text.lines().count().max(1);
    let column = text.lines().last().map_or(0, |last| last.chars().count()) + 1;
    Some(LineColumn { line, column })
}
