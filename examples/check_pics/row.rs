//! What is said about a PIC.

use envd_sdk::register::{Answer, Lookup};

/// PIC, name, town, state and status.
pub(crate) fn cells(answer: &Answer) -> [String; 5] {
    let text = |field: Option<&String>| field.cloned().unwrap_or_default();
    let found = answer.property();
    [
        answer.asked.clone(),
        text(found.and_then(|property| property.name.as_ref())),
        text(found.and_then(|property| property.town.as_ref())),
        text(found.and_then(|property| property.registered_state.as_ref())),
        status(answer),
    ]
}

fn status(answer: &Answer) -> String {
    // What looks mistyped is worth a word where nothing was found.
    let advice = answer.pic().and_then(|pic| pic.advice());
    match (&answer.result, advice) {
        (Err(error), _) => error.to_string(),
        (Ok(_), Some(advice)) if answer.property().is_none() => {
            format!("{} ({advice})", kind(answer))
        }
        _ => kind(answer),
    }
}

/// What is counted.
pub(crate) fn kind(answer: &Answer) -> String {
    match &answer.result {
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
