//! Translates the errors of the compiler into those of GraphQL.NET.
//!
//! The structured form of the compiler's errors is not public, so names are read from its messages, where they stand in
//! backticks. A message that matches no row of the table is passed on unchanged.

use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::executable::{Field, Operation};
use apollo_compiler::parser::{LineColumn, SourceSpan};
use apollo_compiler::validation::WithErrors;
use apollo_compiler::{ExecutableDocument, Node};

use super::request::RequestError;

/// All errors of a document.
pub(super) fn errors(failed: &WithErrors<ExecutableDocument>, text: &str) -> Vec<RequestError> {
    let document = &failed.partial;
    let diagnostics: Vec<Diagnostic> = failed
        .errors
        .iter()
        .map(|error| Diagnostic {
            message: error.error.to_string(),
            span: error.error.location(),
            location: error.line_column_range().map(|range| range.start),
        })
        .collect();
    // The other errors only follow from a syntax error.
    if let Some(syntax) = diagnostics.iter().find(|diagnostic| diagnostic.is_syntax()) {
        let message = syntax.message.trim_start_matches("syntax error: ");
        let message = format!("Error parsing query: {message}");
        let location = syntax.location.or(Some(end(text)));
        return RequestError::new("SYNTAX_ERROR", message)
            .at(location)
            .into();
    }
    if document.operations.is_empty() && !diagnostics.iter().any(Diagnostic::is_missing_root) {
        return RequestError::new("NO_OPERATION", "Document does not contain any operations.")
            .into();
    }
    diagnostics
        .iter()
        .filter_map(|diagnostic| diagnostic.translated(document, text))
        .collect()
}

/// An error of the compiler.
struct Diagnostic {
    message: String,
    span: Option<SourceSpan>,
    location: Option<LineColumn>,
}

impl Diagnostic {
    fn has(&self, part: &str) -> bool {
        self.message.contains(part)
    }

    fn is_syntax(&self) -> bool {
        self.message.starts_with("syntax error") || self.has("limit reached")
    }

    fn is_missing_root(&self) -> bool {
        self.has("root operation type is not defined")
    }

    /// The n-th backticked name.
    fn name(&self, n: usize) -> &str {
        self.message.split('`').nth(2 * n + 1).unwrap_or_default()
    }

    /// The error of GraphQL.NET; none for one that only follows from another.
    fn translated(&self, document: &ExecutableDocument, text: &str) -> Option<RequestError> {
        let error = |code, rule, words| RequestError::new(code, words).rule(rule).at(self.location);
        let (a, b) = (self.name(0), self.name(1));
        if self.has("does not have a field") {
            let words = format!("Cannot query field '{b}' on type '{a}'.");
            return Some(error("FIELDS_ON_CORRECT_TYPE", Some("5.3.1"), words));
        }
        if self.has("is not supported by")
            && let Some((owner, field)) = coordinate(b)
        {
            let words = format!("Unknown argument '{a}' on field '{field}' of type '{owner}'.");
            return Some(error("KNOWN_ARGUMENT_NAMES", Some("5.4.1"), words));
        }
        if self.has("the required argument")
            && let Some(field) = self.field(document)
        {
            let wanted = a
                .split_once('(')
                .map_or("", |(_, rest)| rest.trim_end_matches(":)"));
            let ty = &field.definition.argument_by_name(wanted)?.ty;
            let words = format!(
                "Argument '{wanted}' of type '{ty}' is required for field '{}' but not provided.",
                field.name
            );
            return Some(error("PROVIDED_NON_NULL_ARGUMENTS", Some("5.4.2.1"), words));
        }
        if self.has("must have a subselection set")
            && let Some(field) = self.field(document)
        {
            // It has one, but all of its fields are unknown.
            if field
                .location()
                .and_then(|span| text.get(..span.end_offset()))
                .is_some_and(|field| field.ends_with('}'))
            {
                return None;
            }
            let (name, ty) = (&field.name, &field.definition.ty);
            let words = format!("Field {name} of type {ty} must have a sub selection");
            return Some(error("SCALAR_LEAFS", Some("5.3.3"), words));
        }
        if self.has("variable `$") && self.has("is not defined") {
            let operation = self.operation(document);
            let name = operation
                .and_then(|op| op.name.as_ref())
                .map_or("", |name| name.as_str());
            let words = format!("Variable '{a}' is not defined by operation '{name}'.");
            let at = operation.and_then(Node::location);
            let error = error("NO_UNDEFINED_VARIABLES", Some("5.8.3"), words);
            return Some(error.at_span(at, &document.sources));
        }
        if self.is_missing_root() {
            let words = format!("Schema is not configured for {a}s");
            return Some(error("INVALID_OPERATION", None, words));
        }
        let (code, rule) = code(&self.message).unzip();
        let code = code.unwrap_or("VALIDATION_ERROR");
        Some(error(code, rule, self.message.clone()))
    }

    /// The field that the error points to, by its name or by its start.
    fn field<'a>(&self, document: &'a ExecutableDocument) -> Option<&'a Node<Field>> {
        let offset = self.span?.offset();
        fields(document).find(|field| {
            [field.name.location(), field.location()]
                .into_iter()
                .flatten()
                .any(|span| span.offset() == offset)
        })
    }

    /// The operation that contains the error; the first one if it is in a fragment.
    fn operation<'a>(&self, document: &'a ExecutableDocument) -> Option<&'a Node<Operation>> {
        let offset = self.span.map(|span| span.offset());
        let around = document.operations.iter().find(|op| {
            let span = op.location().zip(offset);
            span.is_some_and(|(span, at)| (span.offset()..span.end_offset()).contains(&at))
        });
        around.or_else(|| document.operations.iter().next())
    }
}

/// Part of the compiler's message | code in GraphQL.NET | section of the GraphQL specification. The first match counts.
const CODES: &str = "\
the operation `              | UNIQUE_OPERATION_NAMES           | 5.2.1.1
anonymous operation          | LONE_ANONYMOUS_OPERATION         | 5.2.2.1
conflict                     | OVERLAPPING_FIELDS_CAN_BE_MERGED | 5.3.2
different                    | OVERLAPPING_FIELDS_CAN_BE_MERGED | 5.3.2
must not have subselections  | SCALAR_LEAFS                     | 5.3.3
argument `                   | UNIQUE_ARGUMENT_NAMES            | 5.4.2
the fragment `               | UNIQUE_FRAGMENT_NAMES            | 5.5.1.1
type condition               | KNOWN_TYPE_NAMES                 | 5.5.1.2
cannot find type             | KNOWN_TYPE_NAMES                 | 5.5.1.2
composite type               | FRAGMENTS_ON_COMPOSITE_TYPES     | 5.5.1.3
must be used in an operation | NO_UNUSED_FRAGMENTS              | 5.5.1.4
cannot find fragment         | KNOWN_FRAGMENT_NAMES             | 5.5.2.1
cannot reference itself      | NO_FRAGMENT_CYCLES               | 5.5.2.2
cannot be applied to         | POSSIBLE_FRAGMENT_SPREADS        | 5.5.2.3
expected value of type       | ARGUMENTS_OF_CORRECT_TYPE        | 5.6.1
does not exist on            | ARGUMENTS_OF_CORRECT_TYPE        | 5.6.1
the required field           | ARGUMENTS_OF_CORRECT_TYPE        | 5.6.1
cannot represent             | ARGUMENTS_OF_CORRECT_TYPE        | 5.6.1
directive                    | KNOWN_DIRECTIVES                 | 5.7.1
is declared multiple times   | UNIQUE_VARIABLE_NAMES            | 5.8.1
must be of an input type     | VARIABLES_ARE_INPUT_TYPES        | 5.8.2
unused variable              | NO_UNUSED_VARIABLES              | 5.8.4
cannot be used for argument  | VARIABLES_IN_ALLOWED_POSITION    | 5.8.5
is defined multiple times    | UNIQUE_INPUT_FIELD_NAMES         | 5.6.3";

/// The code and the section for a message of the compiler.
fn code(message: &str) -> Option<(&'static str, &'static str)> {
    let mut rows = CODES.lines().map(|row| row.split('|').map(str::trim));
    rows.find_map(|mut row| {
        message.contains(row.next()?).then_some(())?;
        Some((row.next()?, row.next()?))
    })
}

/// `Type.field(argument:)` to type and field.
fn coordinate(text: &str) -> Option<(&str, &str)> {
    let (owner, rest) = text.split_once('.')?;
    Some((owner, rest.split('(').next().unwrap_or(rest)))
}

/// All fields of the document, including those in fragments.
fn fields(document: &ExecutableDocument) -> impl Iterator<Item = &Node<Field>> {
    let operations = document.operations.iter().map(|op| &op.selection_set);
    let fragments = document.fragments.values().map(|f| &f.selection_set);
    let sets = operations.chain(fragments);
    sets.flat_map(|set| set.all_fields(document))
}

/// The position after the last character, where a parser notices that something is missing.
fn end(text: &str) -> LineColumn {
    let line = text.lines().count().max(1);
    let column = text.lines().last().map_or(0, |last| last.chars().count()) + 1;
    LineColumn { line, column }
}
