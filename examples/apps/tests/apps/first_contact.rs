//! `first_contact`: its profile makes programs work with a service that differs from the assumptions, and its files contain no
//! data of records.

use std::fs;

use envd_codegen::Generator;
use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::fake::{Fake, Fault, Received};
use envd_sdk::graphql::SCHEMA;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput, PropertyStatus, Role};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{RegisterAuthentication, ServiceProfile};
use envd_sdk::register::{PropertySearch, Register};
use envd_sync::outbox::DeclarationState;
use envd_sync::store::MemorySync;
use envd_sync::{Outbox, Replica};
use processes::stories::{Stage, play};
use processes::table;
use processes::{Folder, rows};
use serde_json::{Value, json};

use super::app;

/// A profile with these entries of `services.txt`.
fn profile<'t>(rows: impl IntoIterator<Item = &'t Vec<&'static str>>) -> ServiceProfile {
    let mut profile = serde_json::to_value(ServiceProfile::default()).unwrap();
    for row in rows {
        let path = row[0].trim_start_matches('+').split('.');
        let entry = path.fold(&mut profile, |at, name| &mut at[name]);
        let value: Value = serde_json::from_str(row[1]).unwrap();
        // Renamed fields have no source.
        *entry = match row[0] {
            "fields" => value,
            _ => json!({"value": value, "source": "seen"}),
        };
    }
    ServiceProfile::from_json(&profile.to_string()).unwrap()
}

/// The calls of a typical program, with the written profile.
async fn work(
    name: &str,
    fake: &Fake,
    profile: &ServiceProfile,
) -> Result<(), Box<dyn std::error::Error>> {
    let token = || StaticToken::new(fake.access_token().expose()).unwrap();
    let client = Client::builder(fake.graphql_url()).profile(profile);
    let client = client.token_source(token()).build()?;
    let user = client.registered_user().await?.value;
    let of_accounts = user
        .accounts
        .iter()
        .flat_map(|account| account.roles.iter().flatten());
    let mut roles = user.roles.iter().flatten().chain(of_accounts);
    assert!(roles.any(|role| *role == Role::Producer), "{name}");

    let account = client.account(fake.account_id());
    let replica = Replica::new(&account, MemorySync::new());
    for _ in 0..2 {
        replica.sync().await?;
    }
    let outbox = Outbox::new(&replica);
    let from = PartyInput::new("QAZZ7777");
    let to = PartyInput::new("QDZZ3333");
    let input = ConsignmentInput::new([FormType::Lpac1], from, to);
    let written = outbox
        .save(input.clone().movement("2099-01-15", "03:07"))
        .await?;
    outbox.send().await?;
    let done = outbox.declaration(written.id).await?.unwrap();
    assert_eq!(done.state, DeclarationState::Confirmed, "{name}: {done:?}");
    let base = account.consignment(done.consignment.unwrap()).await?.value;
    let edit = ConsignmentInput::from(&base).movement("2099-01-15", "03:09");
    let written = outbox.update(&base, edit).await?;
    outbox.send().await?;
    let done = outbox.declaration(written.id).await?.unwrap();
    assert_eq!(done.state, DeclarationState::Confirmed, "{name}: {done:?}");
    let times = fake.consignments::<Value>(fake.account_id()).into_iter();
    let times: Vec<_> = times.map(|record| record["movementTime"].clone()).collect();
    assert!(
        times.contains(&"03:09".into()) && !times.contains(&"03:07".into()),
        "{name}: {times:?}"
    );

    let register = Register::builder(fake.register_url()).profile(profile);
    let register = match profile.register.authentication.value {
        RegisterAuthentication::Bearer => register.token_source(token()),
        _ => register,
    };
    let register = register.build()?;
    let found = register.property(&"QAZZ7777".parse().unwrap()).await?;
    assert!(found.is_some(), "{name}");
    let active = PropertySearch::new()
        .status(PropertyStatus::Active)
        .page_size(2);
    let mut pager = register.search(&active);
    let both = (
        pager.next_page().await?.unwrap(),
        pager.next_page().await?.unwrap(),
    );
    assert_ne!(both.0.records, both.1.records, "{name}");
    Ok(())
}

/// Collects all texts of a value except codes.
fn texts(name: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, value)| texts(name, value, found)),
        Value::Array(items) => items.iter().for_each(|item| texts(name, item, found)),
        Value::String(text) if !["status", "type", "species"].contains(&name) => {
            found.push(text.clone());
        }
        _ => {}
    }
}

async fn contact(name: &str, profile: &ServiceProfile) {
    let fake = Fake::builder().profile(profile).start().await.unwrap();
    let folder = Folder::new();
    let file = folder.path("envd.json");
    let record = folder.path("record");
    let ask = || {
        let program = app("first_contact").at(&fake).arg("--profile").arg(&file);
        let program = program.arg("--record").arg(&record);
        program.args(["--role", "VENDOR=Producer"]).run().well()
    };
    ask();
    let requests = fake.requests().len();
    assert!(requests <= 60, "{name}: {requests}");
    let is_change = |it: &Received| String::from_utf8_lossy(it.body()).contains("\"mutation ");
    assert!(!fake.requests().iter().any(is_change), "{name}");
    let written = fs::read_to_string(&file).unwrap();
    // It is safe to repeat: the second run finds nothing new.
    let again = ask().stdout;
    let is_known = again.contains("The service behaves as this profile says.");
    assert!(is_known, "{name}: {again}");
    assert_eq!(fs::read_to_string(&file).unwrap(), written, "{name}");
    let learned = ServiceProfile::from_json(&written).unwrap();
    // A fake can serve the recorded replies.
    let kept = Fake::builder().profile(profile).start().await.unwrap();
    let replies = record.clone();
    kept.on_every_request(move |received| {
        let file = replies.join(format!("{}.json", received.operation()?));
        let reply = fs::read(file).ok()?;
        Some(Fault::status(200).body("application/json", reply))
    });
    let client = Client::builder(kept.graphql_url()).profile(&learned);
    let token = StaticToken::new("token").unwrap();
    let client = client.token_source(token).build().unwrap();
    let user = client.user_details().await.unwrap();
    let account = client.account("any");
    assert!(user.value.accounts.len() > 1, "{name}");
    let page = account
        .consignments_page(&ConsignmentFilter::default(), None)
        .await;
    assert!(page.unwrap().value.edges.len() > 7, "{name}");
    // Generate our operations against the recorded schema.
    let operations = Generator::default()
        .schema(record.join("schema.graphql"))
        .sdk_operations();
    // Errors name our documents, never the schema.
    let problems = operations.generate().err();
    let mut files = problems
        .iter()
        .flat_map(envd_codegen::Error::problems)
        .map(|one| &one.file);
    assert!(
        files.all(|file| file.starts_with("envd-sdk/graphql/")),
        "{name}: {problems:?}"
    );
    let read = fs::read_to_string(record.join("Consignment.json")).unwrap();
    let read: Value = serde_json::from_str(&read).unwrap();
    let id = read["data"]["consignment"]["id"].as_str().unwrap();
    assert!(account.consignment(id).await.is_ok(), "{name}");
    assert!(
        !client.questions().await.unwrap().value.items.is_empty(),
        "{name}"
    );

    let worked = Box::pin(work(name, &fake, &learned)).await;
    worked.unwrap_or_else(|error| panic!("{name}: {error:?}\n{written}"));

    let mut secrets = vec![
        fake.access_token().expose().to_owned(),
        fake.issuer().to_owned(),
    ];
    for record in fake.consignments::<Value>(fake.account_id()) {
        texts("", &record, &mut secrets);
    }
    // Short answers occur everywhere, and so do sample dates.
    secrets.retain(|text| text.len() > 4 && !SCHEMA.contains(text.as_str()) && text != "False");
    assert!(secrets.len() > 50);
    for file in fs::read_dir(&record).unwrap() {
        let kept = fs::read_to_string(file.unwrap().path()).unwrap();
        let shown = secrets.iter().find(|text| kept.contains(text.as_str()));
        assert_eq!(shown, None, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_work_with_the_profile_of_each_service() {
    let all: Vec<_> = rows(include_str!("services.txt")).collect();
    for row in all.iter().filter(|row| !row[0].starts_with('+')) {
        Box::pin(contact(&row.join(" "), &profile([row]))).await;
    }
    Box::pin(contact("all at once", &profile(&all))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_schema_leaves_the_operations_to_be_asked_one_by_one() {
    let profile = profile(&[
        vec!["operations.comments", r#"{"leftOut": ["firstName"]}"#],
        vec![
            "operations.userDetails",
            r#"{"recordAt": "/userDetailsQuery/data"}"#,
        ],
    ]);
    let fake = Fake::builder().profile(&profile).start().await.unwrap();
    let hidden = Fault::status(400).json(json!({"errors": [{"message": "no introspection"}]}));
    fake.on_own_operation("FirstContact")
        .fault(hidden)
        .forever();
    let folder = Folder::new();
    let file = folder.path("envd.json");
    let shown = app("first_contact").at(&fake).arg("--profile").arg(&file);
    let shown = shown.run().well().stdout;
    assert!(shown.contains("hidden"), "{shown}");
    let learned = ServiceProfile::from_json(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(learned.operations, profile.operations);
}

#[tokio::test]
async fn stories() {
    let contact = "first_contact --profile envd.json --record record";
    let stage = Stage {
        program: app,
        names: vec![("CONTACT", contact.to_owned())],
        ..Stage::default()
    };
    play(table!("first_contact.txt"), stage).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_device_without_end_is_no_profile() {
    let fake = Fake::start().await;
    let program = app("first_contact")
        .at(&fake)
        .args(["--profile", "/dev/zero"]);
    let ended = program.run().mute(2).fails();
    ended.says("/dev/zero: is not a file that can be read");
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn a_pic_that_the_register_does_not_know_is_no_failure() {
    let fake = Fake::start().await;
    let seen = std::sync::Mutex::new(None);
    fake.on_every_request(move |request| {
        let (_, pic) = request.path().split_once("PIC=")?;
        let mut seen = seen.lock().unwrap();
        let first = seen.get_or_insert_with(|| pic.to_owned());
        (first == pic).then(|| Fault::status(404).json(json!({"Message": "No such PIC"})))
    });
    let ended = app("first_contact").at(&fake).run().well();
    let ended = ended.shows("one record                as assumed");
    ended.shows("a status in a search      as assumed");
}
