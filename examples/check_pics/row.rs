//! The row of a PIC.

use envd_sdk::register::{Lookup, LookupResult};

/// PIC, name, town, state and status.
pub(crate) fn cells(look_up: &LookupResult) -> [String; 5] {
    let text = |field: Option<&String>| field.cloned().unwrap_or_default();
    let found = look_up.property();
    [
        look_up.input.clone(),
        text(found.and_then(|property| property.name.as_ref())),
        text(found.and_then(|property| property.town.as_ref())),
        text(found.and_then(|property| property.registered_state.as_ref())),
        status(look_up),
    ]
}

fn status(look_up: &LookupResult) -> String {
    // If nothing was found, the advice may point to a typing mistake.
    let advice = look_up.pic().and_then(|pic| pic.advice());
    match (&look_up.result, advice) {
        (Err(error), _) => error.to_string(),
        (Ok(_), Some(advice)) if look_up.property().is_none() => {
            format!("{} ({advice})", kind(look_up))
        }
        _ => kind(look_up),
    }
}

/// The kind of result, for the counts.
pub(crate) fn kind(look_up: &LookupResult) -> String {
    match &look_up.result {
        Ok(Lookup::Found(property)) => match &property.admin_status {
            Some(status) => status.to_string(),
            None => "no status".to_owned(),
        },
        Ok(Lookup::Several(_)) => "found more than once".to_owned(),
        Ok(_) => "not in the register".to_owned(),
        Err(error) if error.is_config() => "not a PIC".to_owned(),
        Err(_) => "failed".to_owned(),
    }
}
