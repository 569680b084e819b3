//! Forms and species (spec 2.7, 7.2, 9).

use std::sync::Arc;

use super::excerpt::excerpt;
use super::{Context, Expected, Finding, Operation, Rule};
use crate::model::{ConsignmentInput, FormType};

/// Values that the server's schema cannot take. After one of them the server looks at nothing else (spec 7.2).
pub(super) fn of_schema(input: &ConsignmentInput, found: &mut Vec<Arc<Finding>>) {
    for (position, form) in input.forms.iter().enumerate() {
        if !form.is_known() {
            let form = excerpt(form.as_str());
            let message = format!(
                "Variable '$input.forms[{position}]' is invalid. Unable to convert '{form}' to 'EFormType'"
            );
            let path = vec!["forms".to_owned(), position.to_string()];
            found.push(Arc::new(Finding::schema(Rule::FormKnown, path, message)));
        }
    }
    if let Some(status) = input.status.value().filter(|status| !status.is_known()) {
        // assumed: as for forms.
        let status = excerpt(status.as_str());
        let message = format!(
            "Variable '$input.status' is invalid. Unable to convert '{status}' to 'ConsignmentStatus'"
        );
        let path = vec!["status".to_owned()];
        found.push(Arc::new(Finding::schema(Rule::StatusKnown, path, message)));
    }
}

pub(super) fn of_forms(input: &ConsignmentInput, context: &Context, found: &mut Vec<Arc<Finding>>) {
    let forms = &input.forms;
    if forms.is_empty() {
        // The species follows from the forms, so it is missing too.
        found.push(Arc::new(Finding::field(
            Rule::FormsNotEmpty,
            "species",
            "invalid type, expected String but got Null",
        )));
        found.push(Arc::new(Finding::field(
            Rule::FormsNotEmpty,
            "programs",
            "array item count 0 is less than minimum count of 1",
        )));
    }
    let first = forms.first().and_then(FormType::species);
    if forms.iter().any(|form| form.species() != first) {
        found.push(Arc::new(
            Finding::whole(Rule::OneSpecies, "Bad request")
                .described("The programs are linked to more than one species."),
        ));
    }
    if context.operation == Operation::Create {
        for (position, form) in forms.iter().enumerate() {
            if !forms[..position].contains(form) {
                found.extend(closed(form, context).map(Arc::new));
            }
        }
    }
}

fn closed(form: &FormType, context: &Context) -> Option<Finding> {
    let today = context.today;
    let description = if form.closed_from().is_some_and(|day| today >= day) {
        match form {
            FormType::Lpag2 => "LPAG2 can no longer be created. Use LPAG3.".to_owned(),
            _ => format!("{form} can no longer be created."),
        }
    } else {
        let first = form.first_day().filter(|day| today < *day)?;
        format!("{form} cannot be created before {first}.")
    };
    let finding = Finding::whole(Rule::FormOpen, "Bad request").described(description);
    Some(finding.expecting(Expected::Created {
        from: form.first_day(),
        before: form.closed_from(),
    }))
}
