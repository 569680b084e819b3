//! A service in other profiles: a client that has the profile works with it as with the assumed one.

use envd_sdk::auth::StaticToken;
use envd_sdk::fake::Fake;
use envd_sdk::model::{
    CommentInput, ConsignmentInput, ConsignmentStatus, Day, FormType, PartyInput, PropertyStatus,
    Role, Species,
};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{
    ComparedDate, FurtherForm, ListOrder, OperationProfile, RecordNames, RecordShape,
    RegisterAuthentication, ServiceProfile, Sourced,
};
use envd_sdk::register::{PropertySearch, Register};
use envd_sdk::{Account, Client, ErrorKind, Result};

use crate::fixed_date::fake_builder;
use crate::pages::collect_up_to;

/// A profile in which the record of an operation stands elsewhere in the reply to another document.
pub(crate) fn moved(name: &str, document: &str, pointer: &str) -> ServiceProfile {
    let mut operation = OperationProfile::of_document(document);
    operation.record_at = Some(pointer.to_owned());
    with_operation(name, operation)
}

/// A profile of a register whose first page has this index.
pub(crate) fn paged_from(index: u32) -> ServiceProfile {
    let mut profile = ServiceProfile::default();
    profile.register.first_page_index = Sourced::seen(Some(index));
    profile
}

fn with_operation(name: &str, operation: OperationProfile) -> ServiceProfile {
    let mut profile = ServiceProfile::default();
    let operations = &mut profile.operations;
    operations.insert(name.to_owned(), Sourced::seen(operation));
    profile
}

fn at(name: &str, pointer: &str) -> ServiceProfile {
    let mut operation = OperationProfile::default();
    operation.record_at = Some(pointer.to_owned());
    with_operation(name, operation)
}

fn without(name: &str, fields: &[&str]) -> ServiceProfile {
    let mut operation = OperationProfile::default();
    operation.left_out = fields.iter().map(|field| (*field).to_owned()).collect();
    with_operation(name, operation)
}

/// The summaries of a list and full records are one type of the service.
fn without_authors() -> ServiceProfile {
    let mut profile = without("consignment", &["createdBy", "updatedBy"]);
    let of_lists = without("consignments", &["edges.node.createdBy"]);
    profile.operations.extend(of_lists.operations);
    profile
}

fn updates(id: Option<&str>, number: Option<&str>) -> ServiceProfile {
    let mut profile = ServiceProfile::default();
    profile.updates = Sourced::seen(RecordNames {
        id: id.map(str::to_owned),
        number: number.map(str::to_owned),
    });
    profile
}

fn changed(change: impl FnOnce(&mut ServiceProfile)) -> ServiceProfile {
    let mut profile = ServiceProfile::default();
    change(&mut profile);
    profile
}

/// Each entry turned around, alone.
fn profiles() -> impl Iterator<Item = (&'static str, ServiceProfile)> {
    of_the_interface().into_iter().chain(of_the_register())
}

fn of_the_interface() -> Vec<(&'static str, ServiceProfile)> {
    vec![
        ("the assumed one", ServiceProfile::default()),
        (
            "user details elsewhere",
            at("userDetails", "/userDetailsQuery/data"),
        ),
        (
            "user details deeper",
            at("userDetails", "/viewer/me/0/details"),
        ),
        (
            "saved record elsewhere",
            at("createOrSaveConsignment", "/saveConsignment/consignment"),
        ),
        (
            "lists elsewhere",
            at("consignments", "/account/consignments"),
        ),
        ("no roles", without("userDetails", &["accounts.roles"])),
        ("no author", without_authors()),
        ("updates by number", updates(None, Some("number"))),
        ("updates by both", updates(Some("id"), Some("number"))),
        (
            "updates by another name",
            updates(Some("consignmentId"), None),
        ),
        (
            "roles spelled",
            changed(|it| {
                it.roles = Sourced::seen([("VENDOR".to_owned(), Role::Producer)].into());
            }),
        ),
        (
            "a further form",
            changed(|it| {
                it.forms = Sourced::seen(vec![FurtherForm::new("LPAC2")]);
            }),
        ),
        (
            "dates of creation",
            changed(|it| {
                it.lists = it.lists.clone().comparing(ComparedDate::Creation);
            }),
        ),
        (
            "dates of movement",
            changed(|it| {
                it.lists = it.lists.clone().comparing(ComparedDate::Movement);
            }),
        ),
        (
            "oldest first",
            changed(|it| {
                it.lists = it.lists.clone().ordered(ListOrder::OldestFirst);
            }),
        ),
        (
            "small pages",
            changed(|it| it.lists.largest_page = Sourced::seen(Some(3))),
        ),
        (
            "filled in",
            changed(|it| {
                it.filled_in = Sourced::seen(["consignee.name".to_owned()].into());
            }),
        ),
    ]
}

fn of_the_register() -> Vec<(&'static str, ServiceProfile)> {
    vec![
        ("pages from zero", paged_from(0)),
        (
            "codes",
            changed(|it| {
                let codes = [("Blocked".to_owned(), "X".to_owned())];
                it.register.status_codes = Sourced::seen(codes.into());
            }),
        ),
        (
            "a record under Value",
            changed(|it| {
                it.register.record_shape = Sourced::seen(RecordShape::Value);
            }),
        ),
        (
            "a bare record",
            changed(|it| {
                it.register.record_shape = Sourced::seen(RecordShape::Bare);
            }),
        ),
        (
            "a bearer token",
            changed(|it| {
                it.register.authentication = Sourced::seen(RegisterAuthentication::Bearer);
            }),
        ),
        (
            "a key",
            changed(|it| {
                it.register.authentication =
                    Sourced::seen(RegisterAuthentication::Header("x-api-key".to_owned()));
            }),
        ),
    ]
}

fn token_of(fake: &Fake) -> StaticToken {
    StaticToken::new(fake.access_token().expose()).unwrap()
}

fn input(forms: [FormType; 1]) -> ConsignmentInput {
    ConsignmentInput::new(
        forms,
        PartyInput::new("QAZZ7777"),
        PartyInput::new("QDZZ3333"),
    )
}

/// What most programs do.
async fn main_job(account: &Account) -> Result<()> {
    let filter = ConsignmentFilter::default().page_size(50);
    let mut records = Vec::new();
    let mut items = account.consignments(&filter).items();
    collect_up_to(&mut items, 100, &mut records).await?;
    assert_eq!(records.len(), 8);
    let saved = account
        .save_consignment(input([FormType::Lpac1]))
        .await?
        .value;
    let (id, number) = (saved.id.unwrap(), saved.number.unwrap());
    let update = input([FormType::Lpac1])
        .id(id.clone())
        .number(number.clone());
    let update = update.movement("2099-01-15", "05:15");
    let updated = account.save_consignment(update).await?.value;
    assert_eq!(updated.id.as_ref(), Some(&id));
    let read = account.consignment(id.clone()).await?.value;
    assert_eq!(read.movement_time.as_deref(), Some("05:15"));
    let _ = account
        .create_comment(CommentInput::new(number, "Gate 4."))
        .await?;
    let deleted = account.delete_consignment(id).await?.value;
    assert_eq!(deleted.status, Some(ConsignmentStatus::Deleted));
    Ok(())
}

#[tokio::test]
async fn a_client_with_the_profile_of_the_service_does_the_main_job() {
    for (name, profile) in profiles() {
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let client = fake.client().profile(&profile).build().unwrap();
        let user = client.user_details().await;
        let user = user.unwrap_or_else(|error| panic!("{name}: {error}")).value;
        assert!(
            user.roles
                .iter()
                .flatten()
                .any(|role| *role == Role::Producer),
            "{name}: {:?}",
            user.roles
        );
        let done = main_job(&client.account(fake.account_id())).await;
        done.unwrap_or_else(|error| panic!("{name}: {error} {:?}", error.server_errors()));
        // What was told is not learned again.
        assert_eq!(client.profile(), profile, "{name}");
    }
}

#[tokio::test]
async fn a_register_with_the_profile_answers() {
    for (name, profile) in profiles() {
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let register = Register::builder(fake.register_url()).profile(&profile);
        let register = match &profile.register.authentication.value {
            RegisterAuthentication::Bearer => register.token_source(token_of(&fake)),
            RegisterAuthentication::Header(header) => register.header(header, "a key"),
            _ => register,
        };
        let register = register.build().unwrap();
        let pic = "QAZZ7777".parse().unwrap();
        let found = register.property(&pic).await;
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(found.unwrap().pic.as_deref(), Some("QAZZ7777"), "{name}");
        let blocked = PropertySearch::new().status(PropertyStatus::Blocked);
        let blocked = register.search(&blocked).next_page().await.unwrap();
        assert!(!blocked.unwrap().records.is_empty(), "{name}");
    }
}

#[tokio::test]
async fn without_the_profile_something_fails() {
    for (name, profile) in [
        ("lists", at("consignments", "/account/consignments")),
        (
            "saved",
            at("createOrSaveConsignment", "/saveConsignment/consignment"),
        ),
        ("number", updates(None, Some("number"))),
        ("other", updates(Some("consignmentId"), None)),
    ] {
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let client = fake.client().build().unwrap();
        let error = match client.user_details().await {
            Ok(_) => main_job(&client.account(fake.account_id()))
                .await
                .expect_err(name),
            Err(error) => error,
        };
        assert!(error.is_rejected(), "{name}: {error}");
    }
}

#[test]
fn a_profile_that_fits_no_operation_is_refused() {
    for (profile, said) in [
        (
            without("userDetails", &["roles.none"]),
            "no field roles.none",
        ),
        (
            without("questions", &["items.triggers"]),
            "cannot be left out",
        ),
        (without("nothing", &["a"]), "no operation nothing"),
        (at("comments", "comments"), "starts with a slash"),
        (at("comments", "/a b"), "no name of a field"),
    ] {
        let client = Client::builder("http://127.0.0.1/").profile(&profile);
        let token = StaticToken::new("token").unwrap();
        let error = client.token_source(token).build().unwrap_err();
        assert!(
            error.kind() == ErrorKind::Config && error.to_string().contains(said),
            "{said}: {error}"
        );
    }
}

#[tokio::test]
async fn a_further_form_has_its_species_and_days_at_the_fake() {
    for (from, species, said) in [
        (None, None, None),
        (Day::new(2027, 7, 1), None, Some("cannot be created today")),
        (None, Some(Species::Goat), Some("more than one species")),
    ] {
        let mut form = FurtherForm::new("LPAC2");
        (form.from, form.species) = (from, species);
        let profile = changed(|it| it.forms = Sourced::seen(vec![form]));
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let account = fake.client().build().unwrap().account(fake.account_id());
        let forms = [FormType::Lpac1, FormType::from("LPAC2")];
        let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
        let saved = account.save_consignment(ConsignmentInput::new(forms, from, to));
        let refused = saved.await.err().map(|error| error.report());
        match (said, &refused) {
            (Some(said), Some(report)) => assert!(report.contains(said), "{report}"),
            (said, refused) => assert_eq!(said, refused.as_deref()),
        }
    }
}
