//! The contents of the start page: addresses, users with their tokens, calls, consignments and properties.

use std::fmt::Display;
use std::time::Duration;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::fake::{Fake, User};
use envd_sdk::model::{Consignment, Property, UserAccount, UserDetails};
use envd_sdk::register::{PropertySearch, Register};
use serde_json::Value;

use super::cli::Failure;
use super::form_title::title;
use super::html::{filled, text};
use super::{addresses, by_hand};

/// The number of properties on the page.
const PROPERTIES: u32 = 100;

/// The number of consignments shown for each account.
const CONSIGNMENTS: usize = 10;

/// The start page, except for the consignments, which change.
pub(crate) struct Landing {
    page: String,
    /// The id and label of each account of each user.
    accounts: Vec<(String, String)>,
}

impl Landing {
    /// Reads users, tokens and properties from the fake.
    pub(crate) async fn of(fake: &Fake, token_lifetime: Duration) -> Result<Self, Failure> {
        let people = people(fake).await?;
        let mut login = String::new();
        let mut with_token = fetch(fake);
        if let Some((first, token)) = people.first() {
            let name = text(name(first));
            login = format!("The fake logs {name} in; the identity provider shows no page. ");
            with_token = with_token.replace("TOKEN", token);
        }
        let (properties, total) = properties(fake).await?;
        let values = [
            ("graphql", text(fake.graphql_url())),
            ("login", login),
            ("lifetime", in_words(token_lifetime)),
            ("people", people.iter().map(person).collect()),
            ("addresses", addresses::of(fake).map(address).collect()),
            ("fetch", text(fetch(fake))),
            ("fetch_with_token", text(with_token)),
            ("calls", by_hand::calls(fake).iter().map(call).collect()),
            ("total", total),
            ("properties", properties),
        ];
        let mut accounts = Vec::new();
        for account in people.iter().flat_map(|(user, _)| &user.accounts) {
            let id = shown(account.envd_account_id.as_ref());
            if accounts.iter().all(|(known, _)| *known != id) {
                accounts.push((id, account.account_label.clone().unwrap_or_default()));
            }
        }
        let page = filled(include_str!("pages/landing.html"), values);
        Ok(Self { page, accounts })
    }

    /// Returns the page with the current consignments.
    pub(crate) fn page(&self, fake: &Fake) -> String {
        let accounts = self.accounts.iter();
        let lists = accounts
            .map(|account| consignments(fake, account))
            .collect();
        filled(&self.page, [("consignments", lists)])
    }
}

/// The newest consignments of an account.
fn consignments(fake: &Fake, (id, label): &(String, String)) -> String {
    let held: Vec<Value> = fake.consignments(id);
    if held.is_empty() {
        return String::new();
    }
    let more = match held.len() {
        all if all > CONSIGNMENTS => format!(" · the {CONSIGNMENTS} newest of {all}"),
        _ => String::new(),
    };
    let newest = held.into_iter().rev().take(CONSIGNMENTS);
    // A user's own world may hold any values.
    let newest = newest.map(|record| serde_json::from_value(record).unwrap_or_default());
    let rows: String = newest.map(|record| consignment(&record)).collect();
    let id = text(id);
    let label = text(label);
    format!(
        "<h3>{label} <small><code>{id}</code>{more}</small></h3>\n<table class=\"rows\"><thead><tr><th scope=\"col\">Number</th>\
         <th scope=\"col\">Status</th><th scope=\"col\">Declaration</th><th scope=\"col\">To</th>\
         <th scope=\"col\">Movement</th><th scope=\"col\">Changed, UTC</th></tr></thead><tbody>\n{rows}</tbody></table>\n"
    )
}

fn consignment(record: &Consignment) -> String {
    let number = text(shown(record.number.as_ref()));
    let status = shown(record.status.as_ref());
    let class = text(status.to_lowercase());
    let status = text(in_sentence_case(&status));
    let forms = record.forms.iter().map(|form| match &form.form_type {
        Some(form) if !title(form).is_empty() => title(form).to_owned(),
        form => shown(form.as_ref()),
    });
    let forms: Vec<String> = forms.collect();
    let forms = text(forms.join(", "));
    let to = record.destination.clone().unwrap_or_default();
    let to = [to.name, to.pic].map(|field| text(field.unwrap_or_default()));
    let to = format!("{} <code>{}</code>", to[0], to[1]);
    let day = text(record.movement_date.as_deref().unwrap_or_default());
    let changed = shown(record.updated_at.as_ref()).replace('T', " ");
    let changed = text(changed.get(..16).unwrap_or(&changed));
    format!(
        "<tr><th scope=\"row\"><code>{number}</code></th><td data-label=\"Status\"><span class=\"tag {class}\">{status}</span></td>\
         <td data-label=\"Declaration\">{forms}</td><td data-label=\"To\">{to}</td>\
         <td class=\"day\" data-label=\"Movement\">{day}</td><td class=\"day\" data-label=\"Changed, UTC\">{changed}</td></tr>\n"
    )
}

fn shown(field: Option<&impl Display>) -> String {
    field.map_or(String::new(), ToString::to_string)
}

/// Converts a code in capitals to words.
fn in_sentence_case(code: &str) -> String {
    let words = code.to_lowercase().replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn address((name, value): (&str, String)) -> String {
    let name = text(name);
    let value = text(value);
    format!(
        "<tr><th scope=\"row\">{name}</th><td><code>{value}</code></td><td class=\"number\"><button class=\"quiet\" hidden \
         data-copy=\"{value}\" aria-label=\"Copy {name}\">Copy</button></td></tr>\n"
    )
}

fn call(call: &by_hand::Calls) -> String {
    let heading = text(call.heading);
    let commands = text(call.commands.join("\n"));
    format!("<p>{heading}:</p>\n<pre class=\"code\">{commands}</pre>\n")
}

/// The users of the world, in order, each with a token.
async fn people(fake: &Fake) -> Result<Vec<(UserDetails, String)>, Failure> {
    let mut people = Vec::new();
    for user in (0..).map(User::Nth) {
        let token = fake.access_token_for(user);
        let client = Client::builder(fake.graphql_url());
        let client = client.token_source(StaticToken::new(token.expose())?);
        match client.build()?.user_details().await {
            Ok(details) => people.push((details.value, token.expose().to_owned())),
            // There are no further users.
            Err(_) => break,
        }
    }
    Ok(people)
}

fn name(user: &UserDetails) -> String {
    let names = [&user.first_name, &user.last_name];
    let names: Vec<&str> = names.into_iter().filter_map(Option::as_deref).collect();
    match names.join(" ").trim() {
        "" => "Without a name".to_owned(),
        name => name.to_owned(),
    }
}

fn person((user, token): &(UserDetails, String)) -> String {
    let name = text(name(user));
    let token = text(token);
    let mut contact = vec![text(user.email.as_deref().unwrap_or_default())];
    let roles = user.roles.iter().flatten();
    let roles: Vec<String> = roles.map(ToString::to_string).collect();
    if !roles.is_empty() {
        contact.push(text(roles.join(", ")));
    }
    let contact = contact.join(" · ");
    let accounts = if user.accounts.is_empty() {
        "<small>No account: not registered with the service.</small>\n".to_owned()
    } else {
        user.accounts.iter().map(account).collect()
    };
    format!(
        "<li><div>\n<b>{name}</b><small>{contact}</small>\n{accounts}\
         <details><summary>Access token</summary><code>{token}</code></details>\n\
         <button class=\"quiet\" hidden data-copy=\"{token}\" aria-label=\"Copy token of {name}\">Copy token</button>\n\
         </div></li>\n"
    )
}

fn account(account: &UserAccount) -> String {
    let id = text(shown(account.envd_account_id.as_ref()));
    let label = text(account.account_label.as_deref().unwrap_or_default());
    let kind = account.account_type.as_ref();
    let kind = kind.map_or(String::new(), |kind| text(format!(" · {kind}")));
    format!("<small><code>{id}</code> {label}{kind}</small>\n")
}

/// The first properties of the register, and the total if there are more.
async fn properties(fake: &Fake) -> Result<(String, String), Failure> {
    let register = Register::builder(fake.register_url()).build()?;
    let all = PropertySearch::new().unchecked().page_size(PROPERTIES);
    let page = register.search(&all).next_page().await?;
    let Some(page) = page else {
        return Ok((String::new(), String::new()));
    };
    let shown = page.records.len();
    let total = page.total.and_then(|total| usize::try_from(total).ok());
    let total = total.filter(|total| *total > shown);
    let total = total.map_or(String::new(), |total| {
        format!("<p class=\"soft\">The first {shown} of {total}.</p>")
    });
    Ok((page.records.iter().map(property).collect(), total))
}

fn property(property: &Property) -> String {
    let cell = |field: &Option<String>| text(field.as_deref().unwrap_or_default());
    let pic = cell(&property.pic);
    let name = cell(&property.name);
    let town = cell(&property.town);
    let state = cell(&property.registered_state);
    let status = property.admin_status.as_ref();
    let status = text(shown(status));
    format!(
        "<tr><th scope=\"row\"><code>{pic}</code></th><td data-label=\"Property\">{name}</td><td data-label=\"Town\">{town}</td>\
         <td data-label=\"State\">{state}</td><td data-label=\"Status\">{status}</td></tr>\n"
    )
}

/// A call from a page. The button next to it copies the call with a token.
fn fetch(fake: &Fake) -> String {
    format!(
        "const reply = await fetch('{}', {{\n  method: 'POST',\n  headers: {{\n    authorization: 'Bearer TOKEN',\n    'content-type': 'application/json',\n  }},\n  body: JSON.stringify({{ query: '{{ userDetails {{ email }} }}' }}),\n}});\nconsole.log(await reply.json());",
        fake.graphql_url()
    )
}

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        1 => "a second".to_owned(),
        hours if hours > 0 && hours % 3_600 == 0 => format!("{} hours", hours / 3_600),
        seconds => format!("{seconds} seconds"),
    }
}
