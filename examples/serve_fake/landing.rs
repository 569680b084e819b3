//! What the start page shows: addresses, people with their tokens, calls and properties.

use std::time::Duration;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::fake::{Fake, User};
use envd_sdk::model::{Property, UserDetails};
use envd_sdk::register::{PropertySearch, Register};
use minijinja::{Value, context};

use super::cli::Failure;
use super::{addresses, by_hand};

/// The number of properties on the page.
const PROPERTIES: u32 = 100;

pub(crate) async fn values(fake: &Fake, token_lifetime: Duration) -> Result<Value, Failure> {
    let (properties, total) = properties(fake).await?;
    let addresses: Vec<_> = addresses::of(fake).collect();
    Ok(context! {
        graphql => fake.graphql_url().as_str(),
        addresses,
        people => people(fake).await?,
        lifetime => in_words(token_lifetime),
        fetch => fetch(fake),
        calls => by_hand::calls(fake),
        properties,
        total,
    })
}

/// The people of the world, in its order.
async fn people(fake: &Fake) -> Result<Vec<Value>, Failure> {
    let mut people = Vec::new();
    for user in (0..).map(User::Nth) {
        let token = fake.access_token_for(user);
        let client = Client::builder(fake.graphql_url());
        let client = client.token_source(StaticToken::new(token.expose())?);
        match client.build()?.user_details().await {
            Ok(details) => people.push(person(&details.value, token.expose())),
            // There is no further person.
            Err(_) => break,
        }
    }
    Ok(people)
}

fn person(user: &UserDetails, token: &str) -> Value {
    let names = [&user.first_name, &user.last_name];
    let names: Vec<&str> = names.into_iter().filter_map(Option::as_deref).collect();
    let name = names.join(" ");
    let accounts = user.accounts.iter().map(|account| {
        context! {
            id => account.envd_account_id.as_ref().map(ToString::to_string),
            label => account.account_label,
            type => account.account_type.as_ref().map(ToString::to_string),
        }
    });
    let roles = user.roles.iter().map(ToString::to_string);
    context! {
        name => if name.trim().is_empty() { "Without a name" } else { name.trim() },
        email => user.email,
        accounts => accounts.collect::<Vec<_>>(),
        roles => roles.collect::<Vec<_>>(),
        token,
    }
}

/// The first properties of the register, and the number of all.
async fn properties(fake: &Fake) -> Result<(Vec<Value>, Option<u64>), Failure> {
    let register = Register::builder(fake.register_url()).build()?;
    let all = PropertySearch::new().unchecked().page_size(PROPERTIES);
    let page = register.search(&all).next_page().await?;
    let Some(page) = page else {
        return Ok((Vec::new(), None));
    };
    let total = page.total.and_then(|total| u64::try_from(total).ok());
    Ok((page.records.iter().map(property).collect(), total))
}

fn property(property: &Property) -> Value {
    context! {
        pic => property.pic,
        name => property.name,
        town => property.town,
        state => property.registered_state,
        status => if property.is_active() { "Active" } else { "Not in use" },
    }
}

/// A call from a page. The button beside it copies it with a token.
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
