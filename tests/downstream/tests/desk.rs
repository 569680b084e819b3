//! The application against the fake.

use downstream::{Addresses, Desk, LoginService, SaveResult};
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::graphql::generated::CreateOrSaveConsignment;
use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, Day, FormType, PartyInput, Pic};

type Test = Result<(), Box<dyn std::error::Error>>;

/// With a folder for the tokens and their locks, which the test removes.
fn addresses(fake: &Fake, test: &str) -> Result<Addresses, std::io::Error> {
    let folder = format!("envd-sdk-downstream-{}-{test}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir(&folder)?;
    // Closed to others whatever the umask is, or the store refuses it.
    #[cfg(unix)]
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(Addresses {
        client_id: fake.client_id().to_owned(),
        authorize: fake.authorize_url().into(),
        token: fake.token_url().into(),
        audience: fake.audience().to_owned(),
        redirect: fake.redirect_uri().into(),
        declarations: fake.graphql_url().into(),
        register: fake.register_url().into(),
        tokens: folder.join("tokens.json"),
    })
}

fn remove_folder(addresses: &Addresses) -> std::io::Result<()> {
    std::fs::remove_dir_all(addresses.tokens.with_file_name(""))
}

async fn open(fake: &Fake, test: &str) -> Result<Desk, Box<dyn std::error::Error>> {
    let addresses = addresses(fake, test)?;
    let gate = LoginService::new(&addresses)?;
    let login = gate.start()?;
    let callback = fake.consent(login.url())?;
    gate.finish(login, callback.as_str()).await?;
    let desk = gate.open().await?;
    remove_folder(&addresses)?;
    Ok(desk.ok_or("no login is stored")?)
}

fn draft(origin: &str) -> ConsignmentInput {
    let (from, to) = (PartyInput::new(origin), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([FormType::Lpac1], from, to).status(ConsignmentStatus::Draft)
}

#[tokio::test]
async fn a_login_survives_a_restart() -> Test {
    let fake = Fake::start().await;
    let addresses = addresses(&fake, "restart")?;
    let gate = LoginService::new(&addresses)?;
    assert!(gate.open().await?.is_none());
    let login = gate.start()?;
    let callback = fake.consent(login.url())?;
    gate.finish(login, callback.as_str()).await?;
    gate.close().await;

    assert!(LoginService::new(&addresses)?.open().await?.is_some());
    remove_folder(&addresses)?;
    Ok(())
}

#[tokio::test]
async fn a_declaration_is_saved_and_listed() -> Test {
    let fake = Fake::start().await;
    let desk = open(&fake, "save").await?;
    let SaveResult::Saved { number, warnings } = desk.declare(draft("QAZZ7777")).await? else {
        return Err("the declaration was not saved".into());
    };
    assert!(warnings > 0); // Unanswered questions.
    assert_eq!(desk.since(Day::parse("2020-01-01")?).await?[0], number);
    Ok(())
}

#[tokio::test]
async fn a_refusal_names_the_field() -> Test {
    let fake = Fake::start().await;
    let result = open(&fake, "refused")
        .await?
        .declare(draft("QAZZ777"))
        .await?;
    let reason = (
        "origin.pic".to_owned(),
        "QAZZ777 is not a valid value for PIC".to_owned(),
    );
    assert_eq!(result, SaveResult::Refused(vec![reason]));
    Ok(())
}

#[tokio::test]
async fn after_a_lost_reply_the_record_is_found() -> Test {
    let fake = Fake::start().await;
    let desk = open(&fake, "lost").await?;
    fake.on::<CreateOrSaveConsignment>()
        .fault(Fault::dropped_after());
    let result = desk.declare(draft("QAZZ7777")).await?;
    assert!(
        matches!(&result, SaveResult::Unconfirmed(numbers) if numbers.len() == 1),
        "{result:?}"
    );
    Ok(())
}

#[tokio::test]
async fn after_a_server_error_that_follows_the_save_the_record_is_found() -> Test {
    let fake = Fake::start().await;
    let desk = open(&fake, "failed").await?;
    let errors = r#"{"errors": [{"message": "Internal server error"}]}"#;
    fake.on::<CreateOrSaveConsignment>().fault(
        Fault::status(500)
            .body("application/json", errors)
            .processed(),
    );
    let result = desk.declare(draft("QAZZ7777")).await?;
    assert!(
        matches!(&result, SaveResult::Unconfirmed(numbers) if numbers.len() == 1),
        "{result:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_custom_query_is_answered() -> Test {
    let fake = Fake::start().await;
    let heads = open(&fake, "heads")
        .await?
        .heads(Day::parse("2020-01-01")?)
        .await?;
    assert!(
        heads.len() > 1
            && heads
                .iter()
                .all(|(day, heads)| day.len() == 10 && *heads > 0)
    );
    Ok(())
}

#[tokio::test]
async fn the_register_is_queried() -> Test {
    let fake = Fake::start().await;
    let desk = open(&fake, "register").await?;
    assert!(desk.town(&Pic::parse("QAZZ7777")?).await?.is_some());
    assert_eq!(
        desk.not_in_use(&["QAZZ7777", "QZZZ0000", "🐑"]).await,
        ["QZZZ0000", "🐑"]
    );
    Ok(())
}
