//! The names of the server's errors, as names of our inputs.
//!
//! The server finds faults in an older shape of the record (the eNVD samples of `guide::sources`), so what it calls `programs` is `forms` here.

use super::ServerError;

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
    use super::*;
    use serde_json::json;

    #[test]
    fn old_names_become_those_of_the_input_and_the_longer_of_path_and_code_counts() {
        for (given, code, wanted) in [
            ("op programs", Some("programs"), "forms"),
            ("op species", Some("species"), "forms"),
            ("op consignorPic", Some("consignorPic"), "origin.pic"),
            ("op consigneePic", None, "destination.pic"),
            ("op fromProperty originPIC", None, "origin.pic"),
            (
                "op toProperty propertyAddress town",
                None,
                "destination.address.town",
            ),
            (
                "op declaration declare",
                Some("declaration.declare"),
                "declaration.accept",
            ),
            ("op origin pic", Some("origin.pic"), "origin.pic"),
            ("op answers 17", Some("answers.17"), "answers.17"),
            ("op pic", Some("origin.pic"), "origin.pic"),
            ("op origin pic", Some("pic"), "origin.pic"),
            ("origin pic", Some("origin.pic"), "origin.pic"),
            ("", Some("programs[]"), "forms"),
            ("op", Some(""), ""),
            ("op", Some("Unauthorized"), ""),
        ] {
            let path: Vec<&str> = given.split_whitespace().collect();
            let error =
                json!({"message": "", "path": path, "extensions": {"data": {"Code": code}}});
            assert_eq!(
                of(&ServerError::from_value(error)).join("."),
                wanted,
                "{given:?}"
            );
        }
    }

    #[test]
    fn a_variable_is_named_in_the_text_only() {
        for (message, wanted) in [
            (
                "Variable '$input.forms[0]' is invalid. Unable to",
                "forms.0",
            ),
            ("Variable '$input.origin.pic' is invalid.", "origin.pic"),
            ("Variable '$input' is invalid. Unrecognized", ""),
            ("Variable '$envdAccountId' is invalid.", ""),
        ] {
            let error = json!({"message": message, "extensions": {"code": "INVALID_VALUE"}});
            assert_eq!(of(&ServerError::from_value(error)).join("."), wanted);
        }
    }
}
