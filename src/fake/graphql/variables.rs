//! Variables: the errors of section 5.8 of GraphQL.NET, one for each variable that does not fit.

use apollo_compiler::Schema;
use apollo_compiler::ast::Type;
use apollo_compiler::executable;
use apollo_compiler::parser::SourceMap;
use apollo_compiler::schema::ExtendedType;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use super::scalars;

/// Checks the values against the declared types.
pub(super) fn check(
    schema: &Schema,
    operation: &executable::Operation,
    values: &Map<String, Value>,
    sources: &SourceMap,
) -> Result<(), Vec<Refusal>> {
    let refusals: Vec<Refusal> = operation
        .variables
        .iter()
        .filter_map(|variable| {
            let name = variable.name.as_str();
            let misfit = match values.get(name) {
                Some(value) => value_problem(schema, &variable.ty, value, &format!("${name}")),
                None if variable.ty.is_non_null() && variable.default_value.is_none() => {
                    Some(Misfit::new(&format!("${name}"), MISSING))
                }
                None => None,
            }?;
            let mut refusal = Refusal::new("INVALID_VALUE", misfit.message).number(Some("5.8"));
            if misfit.of_conversion {
                refusal = refusal.and_code("INVALID_OPERATION");
            }
            Some(refusal.at_span(variable.location(), sources))
        })
        .collect();
    if refusals.is_empty() {
        Ok(())
    } else {
        Err(refusals)
    }
}

const MISSING: &str = "No value provided for a non-null variable.";
const NULL: &str = "Received a null input for a non-null variable.";

struct Misfit {
    message: String,
    /// Whether an exception of the conversion is inside, which adds a code.
    of_conversion: bool,
}

impl Misfit {
    fn new(at: &str, what: &str) -> Self {
        Self {
            message: format!("Variable '{at}' is invalid. {what}"),
            of_conversion: false,
        }
    }

    fn conversion(at: &str, value: &Value, wanted: &str) -> Self {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        Self {
            of_conversion: true,
            ..Self::new(at, &format!("Unable to convert '{value}' to '{wanted}'"))
        }
    }
}

fn value_problem(schema: &Schema, ty: &Type, value: &Value, at: &str) -> Option<Misfit> {
    if value.is_null() {
        return ty.is_non_null().then(|| Misfit::new(at, NULL));
    }
    if let Type::List(inner) | Type::NonNullList(inner) = ty {
        return match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find_map(|(i, item)| value_problem(schema, inner, item, &format!("{at}[{i}]"))),
            // A single value stands for a list of one.
            single => value_problem(schema, inner, single, at),
        };
    }
    let name = ty.inner_named_type().as_str();
    match schema.types.get(name)? {
        ExtendedType::Enum(known) => {
            let fits = value
                .as_str()
                .is_some_and(|value| known.values.contains_key(value));
            (!fits).then(|| Misfit::conversion(at, value, name))
        }
        ExtendedType::InputObject(known) => {
            let Some(fields) = value.as_object() else {
                return Some(Misfit::new(
                    at,
                    &format!(
                        "Unable to parse input as a '{name}' type. Did you provide a List or Scalar value accidentally?"
                    ),
                ));
            };
            let inside = known.fields.iter().find_map(|(field, definition)| {
                let at = format!("{at}.{field}");
                match fields.get(field.as_str()) {
                    Some(value) => value_problem(schema, &definition.ty, value, &at),
                    None => definition.is_required().then(|| Misfit::new(&at, MISSING)),
                }
            });
            inside.or_else(|| {
                let unknown: Vec<String> = fields
                    .keys()
                    .filter(|field| !known.fields.contains_key(field.as_str()))
                    .map(|field| format!("'{field}'"))
                    .collect();
                (!unknown.is_empty()).then(|| {
                    let unknown = unknown.join(", ");
                    Misfit::new(
                        at,
                        &format!("Unrecognized input fields {unknown} for type '{name}'."),
                    )
                })
            })
        }
        _ => (!scalars::fits(name, value)).then(|| Misfit::conversion(at, value, name)),
    }
}
