//! The context of a declaration.

use envd_sdk::model::{Accreditations, Day};
use envd_sdk::validate::{Context, Operation};
use serde_json::Value;

use super::wire::{self, Unreadable};

/// The day, the operation, the PIC of the account, and the accreditations of the user.
pub(crate) fn read(document: &Value) -> Result<Context, Unreadable> {
    let expected = "expected a day such as 2026-01-31";
    let Some(today) = document.get("today") else {
        return Err(Unreadable::new(
            &[],
            format!("it has no `today`: {expected}"),
        ));
    };
    let today = today.as_str().and_then(|day| Day::parse(day).ok());
    let today = today.ok_or_else(|| Unreadable::new(&["today"], expected))?;
    let given = &document["context"];
    let operation = match given["operation"].as_str() {
        None if given["operation"].is_null() => Operation::Create,
        Some("create") => Operation::Create,
        Some("update") => Operation::Update,
        _ => {
            let at = ["context", "operation"];
            return Err(Unreadable::new(&at, "expected create or update"));
        }
    };
    let mut context = Context::on(today).operation(operation);
    if let Some(pic) =
        wire::read::<Option<String>>(&given["account_pic"], &["context", "account_pic"])?
    {
        context = context.account_pic(pic);
    }
    let at = ["context", "accreditations"];
    if let Some(known) = wire::read::<Option<Accreditations>>(&given["accreditations"], &at)? {
        context = context.accreditations(&known);
    }
    Ok(context)
}
