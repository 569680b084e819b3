//! The page of a user: the accounts, and the latest consignments of one account.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use envd_sdk::model::{ConsignmentSummary, Party, UserAccount, UserDetails};
use envd_sdk::ops::ConsignmentFilter;
use minijinja::{Value, context};

use url::form_urlencoded;

use super::App;
use super::pages::{self, Problem};
use super::server::fields::Fields;

/// The number of consignments on the page.
const LATEST: u32 = 10;

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // The key gives access to tokens, so it is used only for an existing session.
    let Some(session) = app.session(&headers).filter(|key| app.sessions.touch(key)) else {
        return Ok(pages::login_needed());
    };
    let client = app.client.with_token_source(app.manager(&session)?);
    let user = client.registered_user().await?;
    // Only the user's own accounts; the service would also refuse any other.
    let query = Fields::read(&query.unwrap_or_default()).ok_or(Problem::NoSuchAccount)?;
    let account = match query.get("account") {
        Some(id) => Some(find(&user.value, id).ok_or(Problem::NoSuchAccount)?),
        None => user.value.default_account().or(user.value.accounts.first()),
    };
    let mut has_problems = !user.problems.is_empty();
    let mut rows = Vec::new();
    let mut total = None;
    if let Some(id) = account.and_then(|account| account.envd_account_id.as_ref()) {
        let newest = ConsignmentFilter::default().page_size(LATEST);
        let mut pager = client.account(id.clone()).consignments(&newest);
        if let Some(page) = pager.next_page().await? {
            has_problems |= !page.unreadable.is_empty() || !page.problems.is_empty();
            rows = page.records.iter().map(consignment).collect();
            total = page.total;
        }
    }
    let accounts = user.value.accounts.iter();
    let accounts: Vec<Value> = accounts.map(|one| row_of(&user.value, one)).collect();
    let name = [&user.value.first_name, &user.value.last_name];
    let name: Vec<&str> = name.into_iter().filter_map(Option::as_deref).collect();
    Ok(pages::desk(context! {
        user => context! { name => name.join(" ").trim(), email => user.value.email },
        accounts, consignments => rows, total,
        current => account.map(|account| row_of(&user.value, account)),
        note => has_problems.then_some("The service could not read some of this, so the lists may be incomplete."),
    }))
}

fn find<'u>(user: &'u UserDetails, id: &str) -> Option<&'u UserAccount> {
    let is_wanted = |account: &&UserAccount| {
        account
            .envd_account_id
            .as_ref()
            .is_some_and(|own| own == id)
    };
    user.accounts.iter().find(is_wanted)
}

fn row_of(user: &UserDetails, account: &UserAccount) -> Value {
    let id = account.envd_account_id.as_ref().map(ToString::to_string);
    context! {
        label => account.account_label.as_deref().or(id.as_deref()),
        type => account.account_type.as_ref().map(ToString::to_string),
        link => id.as_deref().map(|id| form_urlencoded::byte_serialize(id.as_bytes()).collect::<String>()),
        is_default => user.default_account() == Some(account),
        id => id,
    }
}

fn consignment(record: &ConsignmentSummary) -> Value {
    let place = |party: &Option<Party>| {
        let party = party.as_ref()?;
        party.pic.as_ref().map(ToString::to_string)
    };
    // A record may have a time after the day.
    let moved_on = record.movement_date.as_deref();
    let moved_on = moved_on.map(|text| text.split_once('T').map_or(text, |(day, _)| day));
    context! {
        number => record.number.as_ref().map(ToString::to_string),
        status => record.status.as_ref().map(ToString::to_string),
        species => record.species.as_ref().map(ToString::to_string),
        origin => place(&record.origin),
        destination => place(&record.destination),
        heads => record.heads,
        moved_on,
    }
}
