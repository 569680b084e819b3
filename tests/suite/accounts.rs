//! Selection of an account (spec 1.4, 2.8, 5.9, 5.10), and saving consignments with it.

use envd_sdk::fake::{Fake, User};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput, Pic, Role};
use envd_sdk::ops::AccountChoice;
use envd_sdk::{ErrorKind, Result};

use crate::fixed_date::{fake_builder, start_fake};

async fn choose(fake: &Fake, choice: &AccountChoice) -> Result<String> {
    let client = fake.client().build()?;
    let account = client.choose_account(choice).await?;
    Ok(account.id().to_string())
}

fn pic(text: &str) -> AccountChoice {
    AccountChoice::Pic(Pic::parse(text).unwrap())
}

#[tokio::test]
async fn a_choice_that_matches_one_account_selects_it() {
    let fake = start_fake().await;
    for (choice, id) in [
        (AccountChoice::Default, "envd-100201"),
        (AccountChoice::Producer, "envd-100201"),
        (pic("QAZZ7777"), "envd-100201"),
        (pic("QCZZ8888"), "envd-100203"),
        (
            AccountChoice::Label("Example Downs (QBZZ2222)".into()),
            "envd-100202",
        ),
        (AccountChoice::Id("envd-100203".into()), "envd-100203"),
    ] {
        assert_eq!(choose(&fake, &choice).await.unwrap(), id, "{choice:?}");
    }
}

#[tokio::test]
async fn a_choice_that_matches_no_account_or_several_is_an_error() {
    let fake = start_fake().await;
    for (choice, reason) in [
        (
            AccountChoice::Role(Role::Receiver),
            "the user has 3 accounts with this role (envd-100201, envd-100202, envd-100203): choose one by its id",
        ),
        (
            AccountChoice::Role(Role::Buyer),
            "the user has 3 accounts, none ",
        ),
        (pic("QZZZ0000"), "the user has 3 accounts, none of this PIC"),
        (
            AccountChoice::Label("Example".into()),
            "the user has 3 accounts, none ",
        ),
        (
            AccountChoice::Id("envd-1".into()),
            "the user has 3 accounts, none ",
        ),
    ] {
        let error = choose(&fake, &choice).await.unwrap_err();
        assert!(error.kind() == ErrorKind::AccountChoice, "{choice:?}");
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("userDetails: {reason}")),
            "{message}"
        );
    }
}

#[test]
fn a_role_is_one_of_the_account_or_of_the_user_where_the_account_has_none() {
    let user = r#"{"isNewUser": false, "roles": ["TRANSPORTER", "Receiver"], "accounts": [
        {"envdAccountId": "envd-1"}, {"envdAccountId": "envd-2", "roles": ["Receiver", "Buyer"]}]}"#;
    let user = serde_json::from_str(user).unwrap();
    for (role, id) in [
        (Role::Transporter, Some("envd-1")),
        (Role::Buyer, Some("envd-2")),
        // One by the user, and one by the account.
        (Role::Receiver, None),
        (Role::Producer, None),
    ] {
        let chosen = AccountChoice::Role(role.clone()).among(&user);
        let chosen = chosen.ok().map(|id| id.to_string());
        assert_eq!(chosen.as_deref(), id, "{role}");
    }
}

#[test]
fn of_several_accounts_of_a_producer_the_default_one_is_chosen() {
    let (station, yards) = (r#""LPA", "roles": ["Producer"]"#, r#""PIC""#);
    for (default, third, chosen) in [
        ("envd-2", station, Some("envd-2")),
        ("envd-3", station, Some("envd-3")),
        ("envd-3", yards, None),
        ("envd-9", yards, None),
        ("", yards, None),
    ] {
        let accounts = [station, station, third];
        let accounts = std::iter::zip(1.., accounts).map(|(id, what)| {
            format!(r#"{{"envdAccountId": "envd-{id}", "accountType": {what}}}"#)
        });
        let accounts: Vec<_> = accounts.collect();
        let user = format!(
            r#"{{"isNewUser": false, "roles": ["Producer"], "defaultAccount": "{default}", "accounts": [{}]}}"#,
            accounts.join(", ")
        );
        let user = serde_json::from_str(&user).unwrap();
        let found = AccountChoice::Producer.among(&user).ok();
        assert_eq!(
            found.map(|id| id.to_string()).as_deref(),
            chosen,
            "{default}"
        );
    }
}

#[tokio::test]
async fn a_receiver_has_no_producer_account() {
    let fake = fake_builder().user(User::Receiver).start().await.unwrap();
    let error = choose(&fake, &AccountChoice::Producer).await.unwrap_err();
    assert!(error.kind() == ErrorKind::AccountChoice);
}

#[tokio::test]
async fn an_unregistered_user_gets_an_error_that_explains_how_to_register() {
    let fake = fake_builder().user(User::New).start().await.unwrap();
    let client = fake.client().build().unwrap();
    let user = client.user_details().await.unwrap().value;
    assert_eq!(user.is_new_user, Some(true));
    assert!(client.registered_user().await.unwrap_err().kind() == ErrorKind::NotRegistered);
    let error = choose(&fake, &AccountChoice::Default).await.unwrap_err();
    assert!(error.kind() == ErrorKind::NotRegistered && error.kind() != ErrorKind::AccountChoice);
    assert!(
        error.to_string().contains("register on its website"),
        "{error}"
    );
}

#[test]
fn a_default_account_that_is_not_in_the_list_is_an_error() {
    let user = r#"{"isNewUser": false, "defaultAccount": "envd-9",
        "accounts": [{"envdAccountId": "envd-7", "accountId": "7"}]}"#;
    let user = serde_json::from_str(user).unwrap();
    let error = AccountChoice::Default.among(&user).unwrap_err();
    assert!(error.kind() == ErrorKind::AccountChoice);
    assert_eq!(error.attempts(), 0);
}

#[tokio::test]
async fn a_consignment_is_made_from_a_template() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let mut input = envd_sdk::model::TemplateInput::new("To the works", [FormType::Lpac1]);
    input.origin = PartyInput::new("QAZZ7777").into();
    input.destination = PartyInput::new("QDZZ3333").into();
    // An unknown field is sent; the schema of the fake lacks it, so the error names it.
    let unknown = input.clone().extra("movementTime", "05:15");
    let error = account.save_template(unknown).await.unwrap_err();
    let message = error.server_errors()[0].message();
    assert!(message.contains("movementTime"), "{message}");
    let template = account.save_template(input).await.unwrap().value;
    let template = account.template(template.id.unwrap()).await.unwrap().value;
    let saved = account
        .save_consignment(ConsignmentInput::from(&template))
        .await
        .unwrap()
        .value;
    let created = account.consignment(saved.id.unwrap()).await.unwrap().value;
    assert_eq!(
        created.destination.unwrap().pic.as_deref(),
        Some("QDZZ3333")
    );
}
