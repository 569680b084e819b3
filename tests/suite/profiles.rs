//! Services with other profiles: a client with the profile works with them as with the assumed service.

use envd_sdk::auth::StaticToken;
use envd_sdk::fake::Fake;
use envd_sdk::model::{
    CommentInput, ConsignmentStatus, Day, FormType, PropertyStatus, Role, Species,
};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{
    FurtherForm, OperationProfile, RegisterAuthentication, ServiceProfile, Sourced,
};
use envd_sdk::register::PropertySearch;
use envd_sdk::{AccountClient, ErrorKind, Result};
use test_support::script::rows;

use crate::calls::input;
use crate::fixed_date::fake_builder;
use crate::pages::collect_up_to;
use crate::scripted::client_at;
use crate::scripted::register_at;

/// A profile in which an operation has another document and its record another path.
pub(crate) fn moved(name: &str, document: &str, pointer: &str) -> ServiceProfile {
    let mut operation = OperationProfile::of_document(document);
    operation.record_at = Some(pointer.to_owned());
    let mut profile = ServiceProfile::default();
    profile
        .operations
        .insert(name.to_owned(), Sourced::seen(operation));
    profile
}

/// A profile of a register whose first page has this index.
pub(crate) fn paged_from(index: u32) -> ServiceProfile {
    let mut profile = ServiceProfile::default();
    profile.register.first_page_index = Sourced::seen(Some(index));
    profile
}

/// The profiles of a table, by their names.
fn profiles(table: &'static str) -> impl Iterator<Item = (&'static str, ServiceProfile)> {
    let seen = |json: &str| json.replace("\"value\":", "\"source\": \"seen\", \"value\":");
    rows(table).map(move |row| (row[0], ServiceProfile::from_json(&seen(row[1])).unwrap()))
}

/// Each entry changed, one at a time.
const ALL: &str = r#"
the assumed one          | {}
user details elsewhere   | {"operations": {"userDetails": {"value": {"recordAt": "/userDetailsQuery/data"}}}}
user details deeper      | {"operations": {"userDetails": {"value": {"recordAt": "/viewer/me/0/details"}}}}
saved record elsewhere   | {"operations": {"createOrSaveConsignment": {"value": {"recordAt": "/saveConsignment/consignment"}}}}
lists elsewhere          | {"operations": {"consignments": {"value": {"recordAt": "/account/consignments"}}}}
no roles                 | {"operations": {"userDetails": {"value": {"leftOut": ["accounts.roles"]}}}}
# The summaries of a list and full records are one type of the service.
no author                | {"operations": {"consignment": {"value": {"leftOut": ["createdBy", "updatedBy"]}}, "consignments": {"value": {"leftOut": ["edges.node.createdBy"]}}}}
updates by number        | {"updates": {"value": {"id": null, "number": "number"}}}
updates by both          | {"updates": {"value": {"id": "id", "number": "number"}}}
updates by another name  | {"updates": {"value": {"id": "consignmentId", "number": null}}}
roles spelled            | {"roles": {"value": {"VENDOR": "Producer"}}}
a further form           | {"forms": {"value": [{"id": "LPAC2"}]}}
dates of creation        | {"lists": {"comparedDate": {"value": "creation"}}}
dates of movement        | {"lists": {"comparedDate": {"value": "movement"}}}
oldest first             | {"lists": {"order": {"value": "oldest_first"}}}
small pages              | {"lists": {"largestPage": {"value": 3}}}
filled in                | {"filledIn": {"value": ["consignee.name"]}}
register from zero       | {"register": {"firstPageIndex": {"value": 0}}}
register with codes      | {"register": {"statusCodes": {"value": {"Blocked": "X"}}}}
a record under Value     | {"register": {"recordShape": {"value": "value"}}}
an empty 404 for a PIC   | {"register": {"emptyNotFound": {"value": true}}}
a bare record            | {"register": {"recordShape": {"value": "bare"}}}
a bearer token           | {"register": {"authentication": {"value": "bearer"}}}
a key                    | {"register": {"authentication": {"value": {"header": "x-api-key"}}}}
"#;

/// Entries that fit no operation, and the error for each.
const UNFIT: &str = r#"
no field roles.none   | {"operations": {"userDetails": {"value": {"leftOut": ["roles.none"]}}}}
cannot be left out    | {"operations": {"questions": {"value": {"leftOut": ["items.triggers"]}}}}
no operation nothing  | {"operations": {"nothing": {"value": {"leftOut": ["a"]}}}}
starts with a slash   | {"operations": {"comments": {"value": {"recordAt": "comments"}}}}
no name of a field    | {"operations": {"comments": {"value": {"recordAt": "/a b"}}}}
"#;

fn token_of(fake: &Fake) -> StaticToken {
    StaticToken::new(fake.access_token().expose()).unwrap()
}

/// The calls of a typical program.
pub(crate) async fn main_job(account: &AccountClient) -> Result<()> {
    let filter = ConsignmentFilter::default().page_size(50);
    let mut records = Vec::new();
    let mut items = account.consignments(&filter).items();
    collect_up_to(&mut items, 100, &mut records).await?;
    assert_eq!(records.len(), 8);
    let saved = account.save_consignment(input()).await?.value;
    let id = saved.id.unwrap();
    let number = saved.number.unwrap();
    let update = input().id(id.clone()).number(number.clone());
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
    for (name, profile) in profiles(ALL) {
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let client = fake.client().profile(&profile).build().unwrap();
        let user = client.user_details().await;
        let user = user.unwrap_or_else(|error| panic!("{name}: {error}")).value;
        let roles = user.roles.unwrap_or_default();
        assert!(roles.contains(&Role::Producer), "{name}: {roles:?}");
        let done = main_job(&client.account(fake.account_id())).await;
        done.unwrap_or_else(|error| panic!("{name}: {error} {:?}", error.server_errors()));
        // The client does not relearn the profile.
        assert_eq!(client.profile(), profile, "{name}");
    }
}

#[tokio::test]
async fn a_register_with_the_profile_answers() {
    for (name, profile) in profiles(ALL) {
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let register = register_at(fake.register_url()).profile(&profile);
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
    let names = "lists elsewhere|saved record elsewhere|updates by number|updates by another name";
    let is_needed = |name| names.split('|').any(|it| it == name);
    for (name, profile) in profiles(ALL).filter(|(name, _)| is_needed(*name)) {
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let client = fake.client().build().unwrap();
        let error = main_job(&client.account(fake.account_id())).await;
        let error = error.expect_err(name);
        assert!(!error.server_errors().is_empty(), "{name}: {error}");
    }
}

#[test]
fn a_profile_that_fits_no_operation_is_refused() {
    for (said, profile) in profiles(UNFIT) {
        let client = client_at("http://127.0.0.1/").profile(&profile);
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
        let mut profile = ServiceProfile::default();
        profile.forms = Sourced::seen(vec![form]);
        let fake = fake_builder().profile(&profile).start().await.unwrap();
        let account = fake.client().build().unwrap().account(fake.account_id());
        let mut input = input();
        input.forms = vec![FormType::Lpac1, FormType::from("LPAC2")];
        let saved = account.save_consignment(input);
        let refused = saved.await.err().map(|error| error.report());
        match (said, &refused) {
            (Some(said), Some(report)) => assert!(report.contains(said), "{report}"),
            (said, refused) => assert_eq!(said, refused.as_deref()),
        }
    }
}
