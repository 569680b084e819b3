//! `first_contact`: the profile that it writes makes programs work with a service that is not as assumed, and what it keeps shows
//! nothing of the records.

use std::fs;

use envd_codegen::Generator;
use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::graphql::SCHEMA;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput, PropertyStatus, Role};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{
    ComparedDate, FurtherForm, ListOrder, OperationProfile, RecordNames, RecordShape,
    RegisterAuthentication, ServiceProfile, Sourced,
};
use envd_sdk::register::{PropertySearch, Register};
use envd_sync::outbox::DeclarationState;
use envd_sync::store::MemorySync;
use envd_sync::{Outbox, Replica};
use processes::Folder;
use serde_json::{Value, json};

use super::app;

type Change = fn(&mut ServiceProfile);

fn operation(profile: &mut ServiceProfile, name: &str, at: Option<&str>, left_out: &[&str]) {
    let mut operation = OperationProfile::default();
    operation.record_at = at.map(str::to_owned);
    operation.left_out = left_out.iter().map(|field| (*field).to_owned()).collect();
    let operations = &mut profile.operations;
    operations.insert(name.to_owned(), Sourced::seen(operation));
}

fn updates(profile: &mut ServiceProfile, id: Option<&str>, number: Option<&str>) {
    profile.updates = Sourced::seen(RecordNames {
        id: id.map(str::to_owned),
        number: number.map(str::to_owned),
    });
}

/// Each guess turned around.
const CHANGES: [(&str, Change); 20] = [
    ("user details elsewhere", |it| {
        operation(it, "userDetails", Some("/userDetailsQuery/data"), &[]);
    }),
    ("user details deeper", |it| {
        operation(it, "userDetails", Some("/viewer/me/0/details"), &[]);
    }),
    ("lists elsewhere", |it| {
        operation(it, "consignments", Some("/account/consignments"), &[]);
    }),
    ("saves elsewhere", |it| {
        operation(
            it,
            "createOrSaveConsignment",
            Some("/saveConsignment/consignment"),
            &[],
        );
    }),
    ("no accreditations", |it| {
        operation(it, "userDetails", None, &["accreditations"]);
    }),
    ("no comments' authors", |it| {
        operation(it, "comments", None, &["firstName", "lastName"]);
    }),
    ("no eDECs' dates", |it| {
        operation(it, "edecs", None, &["createdAt"]);
    }),
    ("updates by number", |it| updates(it, None, Some("number"))),
    ("updates by another name", |it| {
        updates(it, Some("consignmentId"), None);
    }),
    ("updates by both", |it| {
        updates(it, Some("id"), Some("number"));
    }),
    ("roles spelled", |it| {
        it.roles = Sourced::seen([("VENDOR".to_owned(), Role::Producer)].into());
    }),
    ("a further form", |it| {
        it.forms = Sourced::seen(vec![FurtherForm::new("LPAC2")]);
    }),
    ("dates of creation", |it| {
        it.lists = it.lists.clone().comparing(ComparedDate::Creation);
    }),
    ("dates of movement", |it| {
        it.lists = it.lists.clone().comparing(ComparedDate::Movement);
    }),
    ("oldest first", |it| {
        it.lists = it.lists.clone().ordered(ListOrder::OldestFirst);
    }),
    ("small pages", |it| {
        it.lists.largest_page = Sourced::seen(Some(10));
    }),
    ("pages from zero", |it| {
        it.register.first_page_index = Sourced::seen(Some(0));
    }),
    ("a record under Value", |it| {
        it.register.record_shape = Sourced::seen(RecordShape::Value);
    }),
    ("a bare record", |it| {
        it.register.record_shape = Sourced::seen(RecordShape::Bare);
    }),
    ("a bearer token", |it| {
        it.register.authentication = Sourced::seen(RegisterAuthentication::Bearer);
    }),
];

/// What programs do, with the profile that was written.
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
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
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

/// All texts of a value but those of codes.
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
    let (file, record) = (folder.path("envd.json"), folder.path("record"));
    let ask = || {
        let program = app("first_contact").at(&fake).arg("--profile").arg(&file);
        program
            .arg("--record")
            .arg(&record)
            .args(["--role", "VENDOR=Producer"])
            .run()
            .well()
    };
    ask();
    let requests = fake.requests().len();
    assert!(requests <= 60, "{name}: {requests}");
    assert!(
        fake.requests().iter().all(|request| {
            let body = String::from_utf8_lossy(request.body()).into_owned();
            !body.contains("\"mutation ")
        }),
        "{name}"
    );
    let written = fs::read_to_string(&file).unwrap();
    // Safe to repeat, and then nothing is new.
    let again = ask().stdout;
    assert!(
        again.contains("The service is as this profile says."),
        "{name}: {again}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), written, "{name}");
    let learned = ServiceProfile::from_json(&written).unwrap();
    // What was kept is read as it was.
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
    let (user, account) = (client.user_details().await.unwrap(), client.account("any"));
    assert!(user.value.accounts.len() > 1, "{name}");
    let page = account
        .consignments_page(&ConsignmentFilter::default(), None)
        .await;
    assert!(page.unwrap().value.edges.len() > 7, "{name}");
    // Our operations, against the schema that the service shows.
    let operations = Generator::default()
        .schema(record.join("schema.graphql"))
        .sdk_operations();
    // Where they do not fit, their documents are named, never the schema.
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
    // Short answers are everywhere, and so are samples of a date.
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
    for (name, change) in CHANGES {
        let mut profile = ServiceProfile::default();
        change(&mut profile);
        Box::pin(contact(name, &profile)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_work_where_all_guesses_are_wrong() {
    let mut profile = ServiceProfile::default();
    for (_, change) in CHANGES {
        change(&mut profile);
    }
    operation(
        &mut profile,
        "userDetails",
        Some("/viewer/me/0/details"),
        &["accreditations"],
    );
    updates(
        &mut profile,
        Some("consignmentId"),
        Some("consignmentNumber"),
    );
    Box::pin(contact("all at once", &profile)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_schema_leaves_the_operations_to_be_asked_one_by_one() {
    let mut profile = ServiceProfile::default();
    operation(&mut profile, "comments", None, &["firstName"]);
    operation(
        &mut profile,
        "userDetails",
        Some("/userDetailsQuery/data"),
        &[],
    );
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

fn on_graphql(fake: &Fake, fault: Fault) {
    fake.on_every_request(move |request| {
        request.path().ends_with("graphql").then(|| fault.clone())
    });
}

fn replaces(fake: &Fake, pointer: &str, value: &Value) {
    let user = fake.on_operation("UserDetails");
    user.fault(Fault::replaced(pointer, value)).forever();
}

fn first_pic_is_unknown(fake: &Fake) {
    let seen = std::sync::Mutex::new(None);
    fake.on_every_request(move |request| {
        let (_, pic) = request.path().split_once("PIC=")?;
        let mut seen = seen.lock().unwrap();
        let first = seen.get_or_insert_with(|| pic.to_owned());
        (first == pic).then(|| Fault::status(404).json(json!({"Message": "No such PIC"})))
    });
}

/// A failure: what it is, what the service does, the exit code, and what the program shows.
type FailedContact = (&'static str, fn(&Fake), i32, &'static [&'static str]);

const FAILURES: [FailedContact; 6] = [
    (
        "a token of another audience",
        |fake| {
            let refusal = json!({"errors": [{"message": "the audience is not ours, Kim Example"}]});
            on_graphql(fake, Fault::status(401).json(refusal));
        },
        1,
        &[
            "the schema",
            "userDetails",
            "look at it",
            "HTTP 401",
            "the audience is not ours",
        ],
    ),
    (
        "a gateway in front",
        |fake| {
            let refusal = Fault::status(403).body("text/plain", "no route, Kim Example");
            on_graphql(fake, refusal);
        },
        1,
        &["userDetails", "HTTP 403", "no route, Kim Example"],
    ),
    (
        "roles as objects",
        |fake| {
            let roles = json!([{"name": "Kim Example"}]);
            replaces(fake, "/data/userDetails/roles", &roles);
        },
        1,
        &[
            "userDetails",
            "HTTP 200",
            "data.userDetails",
            "levels of the questions",
        ],
    ),
    (
        "roles that are no codes",
        |fake| {
            let roles = json!(["Kim Example, 0400 000 000", "\u{1b}[2J", "VENDOR"]);
            replaces(fake, "/data/userDetails/roles", &roles);
        },
        0,
        &[
            "2 of another form",
            "Kim Example, 0400 000 000",
            "VENDOR",
            "one record",
        ],
    ),
    (
        "lists that fail",
        |fake| {
            let failed = json!({"errors": [{"message": "no index, Kim Example"}]});
            let lists = fake.on_operation("Consignments");
            lists.fault(Fault::status(500).json(failed)).forever();
        },
        0,
        &[
            "consignments",
            "HTTP 500",
            "no index, Kim Example",
            "templates",
        ],
    ),
    (
        "a PIC that the register does not know",
        first_pic_is_unknown,
        0,
        &[
            "one record                as assumed",
            "a status in a search      as assumed",
        ],
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_learnt_until_a_failure_is_shown_and_written_without_the_records() {
    for (name, script, code, shown) in FAILURES {
        let fake = Fake::start().await;
        script(&fake);
        let folder = Folder::new();
        let (file, record) = (folder.path("envd.json"), folder.path("record"));
        let program = app("first_contact").at(&fake).arg("--profile").arg(&file);
        let ended = program.arg("--record").arg(&record).run().with(code);
        for text in shown {
            assert!(ended.stdout.contains(text), "{name}, {text}: {ended:?}");
        }
        assert_eq!(ended.stderr.starts_with("error: "), code == 1, "{name}");
        assert!(!ended.stdout.contains('\u{1b}'), "{name}");
        let written = fs::read_to_string(&file).unwrap();
        assert!(ServiceProfile::from_json(&written).is_ok(), "{name}");
        let report = fs::read_to_string(record.join("report.txt")).unwrap();
        assert!(!report.is_empty(), "{name}");
        for private in ["Kim", "0400", "\u{1b}"] {
            assert!(!report.contains(private), "{name}: {report}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_of_the_environment_is_asked_about_without_the_user_details() {
    let fake = Fake::start().await;
    let user = fake.on_operation("UserDetails");
    user.fault(Fault::status(500).json(json!({"errors": [{"message": "down"}]})))
        .forever();
    let account = fake.account_id();
    let program = app("first_contact")
        .at(&fake)
        .env("ENVD_ACCOUNT_ID", account);
    program.run().well().shows("a record by its number");
}
