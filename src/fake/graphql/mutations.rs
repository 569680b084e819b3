//! The write operations.

use serde_json::{Value, json};

use super::Scene;
use super::execute::{Answer, Given, Outcome};
use crate::fake::library::{Account, Library};
use crate::fake::problem::Problem;
use crate::fake::user::User;
use crate::fake::{instant, record, rules};

/// Resolves a root field of `Mutation`.
pub(super) fn resolve(
    field: &str,
    arguments: &Value,
    user: User,
    scene: &mut Scene<'_>,
) -> Outcome {
    let library: &Library = scene.library;
    let id = arguments["envdAccountId"].as_str().unwrap_or_default();
    let account = library.account(user, id)?;
    let call = Call {
        id,
        account,
        input: &arguments["input"],
        name: arguments["id"].as_str().unwrap_or_default(),
    };
    match field {
        "createOrSaveConsignment" => save(&call, scene),
        "copyConsignment" => copy(&call, scene),
        "deleteConsignment" => Ok(done(scene.ledger.delete(id, call.name, scene.now)?)),
        "createOrSaveTemplate" => save_template(&call, scene),
        "deleteTemplate" => Ok(done(scene.ledger.delete_template(id, call.name)?)),
        "createComment" => comment(&call, scene),
        // As for queries: the schema has no other.
        _ => Ok(Answer::Json(Value::Null).into()),
    }
}

struct Call<'a> {
    id: &'a str,
    account: Account<'a>,
    input: &'a Value,
    /// The id or number of the record, where the operation takes one.
    name: &'a str,
}

impl From<Problem> for Vec<Problem> {
    fn from(problem: Problem) -> Self {
        vec![problem]
    }
}

/// Results of mutations stand under `data` (2.5).
fn done(record: Value) -> Given {
    Given::from(Answer::Json(json!({"data": record})))
}

/// The record that an input names, by id or number.
fn named(input: &Value) -> Option<&str> {
    [&input["id"], &input["number"]]
        .into_iter()
        .find_map(Value::as_str)
}

fn save(call: &Call<'_>, scene: &mut Scene<'_>) -> Outcome {
    call.account.may_create()?;
    let existing = named(call.input)
        .map(|name| scene.ledger.changeable(call.id, name))
        .transpose()?;
    let (input, kept_forms) = match &existing {
        Some(record) => (
            record::updated_input(record, call.input),
            record::form_names(record),
        ),
        None => (call.input.clone(), json!([])),
    };
    let problems = rules::consignment(
        &input,
        &rules::Setting {
            today: instant::day(scene.now),
            account_pic: call.account.origin_pic(),
            accreditations: call.account.accreditations(),
            questions: scene.library.questions(),
            kept_forms: kept_forms.as_array().map_or(&[], Vec::as_slice),
        },
    );
    if !problems.iter().all(Problem::is_warning) {
        return Err(problems);
    }
    let author = call.account.holder("email").into();
    let saved = match existing.as_ref().and_then(|record| record["id"].as_str()) {
        Some(id) => scene
            .ledger
            .update(call.id, id, &input, &author, scene.now)?,
        None => scene
            .ledger
            .create(call.id, &input, &author, &scene.library.base, scene.now),
    };
    Ok(Given {
        warnings: problems,
        ..done(saved)
    })
}

fn copy(call: &Call<'_>, scene: &mut Scene<'_>) -> Outcome {
    call.account.may_create()?;
    let original = scene.ledger.consignment(call.id, call.name)?;
    if original["status"] == "DELETED" {
        return Err(Problem::not_found().into());
    }
    let input = record::updated_input(original, &json!({"status": "DRAFT"}));
    let today = instant::day(scene.now);
    let problems = rules::forms_of_copy(&input, today, call.account.accreditations());
    if !problems.is_empty() {
        return Err(problems);
    }
    let author = call.account.holder("email").into();
    let copied = scene
        .ledger
        .create(call.id, &input, &author, &scene.library.base, scene.now);
    Ok(done(copied))
}

fn save_template(call: &Call<'_>, scene: &mut Scene<'_>) -> Outcome {
    let existing = named(call.input)
        .map(|name| {
            scene
                .ledger
                .template(call.id, name)
                .map(|one| Value::clone(one))
        })
        .transpose()?;
    let input = match &existing {
        Some(record) => record::updated_input(record, call.input),
        None => call.input.clone(),
    };
    let problems = rules::template(&input);
    if !problems.is_empty() {
        return Err(problems);
    }
    let saved = match existing.as_ref().and_then(|record| record["id"].as_str()) {
        Some(id) => scene.ledger.update_template(call.id, id, &input)?,
        None => scene.ledger.create_template(call.id, &input),
    };
    Ok(done(saved))
}

fn comment(call: &Call<'_>, scene: &mut Scene<'_>) -> Outcome {
    let number = call.input["consignmentNumber"].as_str().unwrap_or_default();
    let number = scene.ledger.consignment(call.id, number)?["number"].clone();
    let written = json!({
        "consignmentNumber": number,
        "role": call.account.roles().next(),
        "firstName": call.account.holder("firstName"),
        "lastName": call.account.holder("lastName"),
        "commentText": call.input["commentText"],
        "createdAt": instant::wire(scene.now),
    });
    Ok(done(scene.ledger.comment(call.id, written)))
}
