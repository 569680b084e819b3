//! Selection of an account (spec 1.4, 2.8, 5.9, 5.10).

use envd_sdk::ErrorKind;
use envd_sdk::model::Role;
use envd_sdk::ops::AccountChoice;
use test_support::script::play;
use test_support::table;

use crate::calls::Calls;

const CHOICES: &str = "
A choice that matches one account selects it
  fake; choose {default|producer|pic QAZZ7777|pic QCZZ8888|label Example Downs (QBZZ2222)|id envd-100203} -> ok,
  chosen {envd-100201|envd-100201|envd-100201|envd-100203|envd-100202|envd-100203}

A choice that matches no account or several is an error
  fake; choose {pic QZZZ0000|role Receiver|role Buyer|label Example|id envd-1} -> kind AccountChoice, says userDetails: the user has 3 accounts,
  says {none of this PIC|envd-100203): choose one by its id|none|none|none}

A receiver has no producer account
  fake user=Receiver; choose producer -> kind AccountChoice

An unregistered user gets an error that explains how to register
  fake user=New; user -> value /isNewUser true; registered -> kind NotRegistered; choose default -> kind NotRegistered, says register on its website
";

#[tokio::test]
async fn an_account_is_chosen_by_what_is_known_of_it() {
    play::<Calls>(table!(const CHOICES)).await;
}

#[test]
fn a_role_is_one_of_the_account_or_of_the_user_where_the_account_has_none() {
    let user = r#"{"isNewUser": false, "roles": ["TRANSPORTER", "Receiver"], "accounts": [
        {"envdAccountId": "envd-1"}, {"envdAccountId": "envd-2", "roles": ["Receiver", "Buyer"]}]}"#;
    let user = serde_json::from_str(user).unwrap();
    for (role, id) in [
        (Role::Transporter, Some("envd-1")),
        (Role::Buyer, Some("envd-2")),
        // One role of the user, and one of the account.
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
    let station = r#""LPA", "roles": ["Producer"]"#;
    let yards = r#""PIC""#;
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

#[test]
fn a_default_account_that_is_not_in_the_list_is_an_error() {
    let user = r#"{"isNewUser": false, "defaultAccount": "envd-9",
        "accounts": [{"envdAccountId": "envd-7", "accountId": "7"}]}"#;
    let user = serde_json::from_str(user).unwrap();
    let error = AccountChoice::Default.among(&user).unwrap_err();
    assert!(error.kind() == ErrorKind::AccountChoice);
    assert_eq!(error.attempts(), 0);
}
