//! Which values a scalar takes.

use serde_json::Value;

use crate::fake::instant;

/// Whether a value that is not null fits a scalar of the schema.
pub(super) fn fits(scalar: &str, value: &Value) -> bool {
    match scalar {
        "String" | "ID" => value.is_string(),
        "Boolean" => value.is_boolean(),
        "Int" => value.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
        "Float" => value.is_number(),
        "DateTime" => value
            .as_str()
            .is_some_and(|text| instant::parse(text).is_some()),
        _ => true,
    }
}
