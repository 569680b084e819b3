//! The queries of the interface, one by one, with the fields and arguments that are assumed.

use std::collections::BTreeSet;

use envd_sdk::model::{Consignment, ConsignmentSummary, FormType, Question, Role};
use envd_sdk::ops::TemplateFilter;
use envd_sdk::profile::{FurtherForm, Sourced};

use super::cli::Failure;
use super::contact::Contact;
use super::finding::Verdict;
use super::settings::Settings;

/// Checks the user, the spelling of roles, and finds the account for all further queries.
pub(crate) async fn user(contact: &mut Contact<'_>) -> Result<(), Failure> {
    let user = contact
        .ask("userDetails", |client, _| client.user_details())
        .await?;
    let Some(user) = user else {
        let chosen = Settings::chosen_account();
        contact.account = chosen.map(|id| contact.client.account(id));
        return Ok(());
    };
    let of_accounts = user
        .accounts
        .iter()
        .flat_map(|account| account.roles.iter().flatten());
    let roles: BTreeSet<&Role> = user.roles.iter().flatten().chain(of_accounts).collect();
    let (known, unknown): (Vec<&Role>, Vec<&Role>) = roles.iter().partition(|role| role.is_known());
    let texts = |roles: &[&Role]| roles.iter().map(ToString::to_string).collect::<Vec<_>>();
    let what = ("roles", "roles");
    if unknown.is_empty() {
        let found = texts(&known).join(", ");
        contact.tell(what, "Producer, ..", found, Verdict::AsAssumed);
    } else {
        let unknown = texts(&unknown);
        let listed = contact.words.codes(&unknown);
        let found = format!("{listed}: name it with --role TEXT=ROLE");
        contact.tell(what, "Producer, ..", found, Verdict::Look);
        contact.quote(unknown.join(", "));
    }
    let first = user
        .accounts
        .iter()
        .find_map(|account| account.envd_account_id.clone());
    let id = Settings::account_id(&user).ok().or(first);
    contact.account = id.map(|id| contact.client.account(id));
    Ok(())
}

/// The forms and the levels of the questions.
pub(crate) async fn questions(contact: &mut Contact<'_>) -> Result<(), Failure> {
    let list = contact
        .ask("questions", |client, _| client.questions())
        .await?;
    let Some(list) = list else {
        return Ok(());
    };
    let mut forms = BTreeSet::new();
    let levels = list
        .items
        .iter()
        .map(|question| levels(question, &mut forms))
        .max();
    forms.retain(|form| !form.is_known());
    let said = contact.profile().forms.value;
    let mut new: Vec<FurtherForm> = forms
        .iter()
        .filter(|form| !said.iter().any(|said| said.id == form.as_str()))
        .map(|form| FurtherForm::new(form.as_str()))
        .collect();
    let names: Vec<&str> = forms.iter().map(FormType::as_str).collect();
    let what = ("forms of the questions", "forms");
    let ours = "those of the crate";
    let found = contact.words.codes(&names);
    if names.is_empty() {
        contact.tell(what, ours, ours, Verdict::AsAssumed);
    } else if new.is_empty() {
        contact.tell(what, ours, found, Verdict::AsAssumed);
    } else {
        contact.settle(what, ours, found, |profile| {
            profile.forms.value.append(&mut new);
            profile.forms = Sourced::seen(std::mem::take(&mut profile.forms.value));
        })?;
        contact.quote(names.join(", "));
    }
    let levels = levels.unwrap_or_default();
    let what = ("levels of the questions", "");
    contact.tell(what, "at most 8", levels.to_string(), Verdict::AsAssumed);
    Ok(())
}

fn levels(question: &Question, forms: &mut BTreeSet<FormType>) -> usize {
    forms.extend(question.forms.iter().cloned());
    let below = question
        .child_questions
        .iter()
        .map(|child| levels(child, forms));
    1 + below.max().unwrap_or_default()
}

/// Reads a full record by its id and by its number, and compares it with the list.
pub(crate) async fn record(
    contact: &mut Contact<'_>,
    records: &[ConsignmentSummary],
) -> Result<(), Failure> {
    let first = records
        .iter()
        .find_map(|record| Some((record.id.clone()?, record.number.clone()?)));
    let Some((id, number)) = first else {
        contact.tell(
            ("consignment", ""),
            "our document",
            "no record to read",
            Verdict::Open,
        );
        return Ok(());
    };
    let read = contact.ask("consignment", |_, account| account.consignment(id.clone()));
    let read: Option<Consignment> = read.await?;
    if let (Some(read), Some(listed)) = (
        &read,
        records.iter().find(|listed| listed.id == Some(id.clone())),
    ) {
        let is_same = read.number == listed.number && read.status == listed.status;
        let (found, verdict) = if is_same {
            ("the same", Verdict::AsAssumed)
        } else {
            ("another number or status", Verdict::Look)
        };
        contact.tell(("a record and its list", ""), "the same", found, verdict);
    }
    let Some(account) = contact.account.clone() else {
        return Ok(());
    };
    let what = ("a record by its number", "");
    match account.consignment(number.as_str()).await {
        Ok(read) if read.value.id == Some(id) => {
            contact.tell(what, "found", "found", Verdict::AsAssumed);
        }
        Ok(_) => contact.tell(what, "found", "another record", Verdict::Look),
        Err(error) => contact.fail(what, "found", error)?,
    }
    contact
        .ask("comments", |_, account| account.comments(number.clone()))
        .await?;
    let viewer = Role::AuthenticatedViewer;
    contact
        .ask("consignmentUserMapping", |_, account| {
            account.user_mappings(number.clone(), viewer.clone())
        })
        .await?;
    Ok(())
}

/// The other queries.
pub(crate) async fn others(contact: &mut Contact<'_>) -> Result<(), Failure> {
    let filter = TemplateFilter::default();
    let page = contact.ask("templates", |_, account| {
        account.templates_page(&filter, None)
    });
    let page = page.await?;
    let template = page.and_then(|page| {
        let mut nodes = page.edges.iter().filter_map(|edge| edge.node.as_ref());
        nodes.find_map(|template| template.id.clone())
    });
    match template {
        Some(id) => {
            let read = contact.ask("template", |_, account| account.template(id.clone()));
            read.await?;
        }
        None => contact.tell(
            ("template", ""),
            "our document",
            "no template to read",
            Verdict::Open,
        ),
    }
    contact.ask("edecs", |_, account| account.edecs()).await?;
    Ok(())
}
