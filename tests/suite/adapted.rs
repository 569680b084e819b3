//! Adapted documents: servers whose schema lacks fields that our documents select, or uses other names.

mod nested_questions;
mod other_servers;

use envd_sdk::fake::Fake;
use envd_sdk::graphql::SCHEMA;
use envd_sdk::model::{FormType, Role, TemplateInput};
use envd_sdk::ops::{AccountChoice, ConsignmentFilter, TemplateFilter};
use envd_sdk::{Client, Error, RetryPolicy};
use test_support::script::play;
use test_support::table;

use crate::calls::Calls;
use crate::fixed_date::fake_builder;
use crate::pages::collect_up_to;
use crate::profiles::main_job;

/// The ids of the records that the queries read.
const NUMBER: &str = "C-900000101";
const TEMPLATE: &str = "T-900000017";

/// Object types of replies with the fields that a server may lack: the specification does not mention them, or has them in
/// a different place from the public queries.
#[rustfmt::skip]
const OPTIONAL: [(&str, &[&str]); 12] = [
    ("ConsignmentConnection", &["totalCount"]),
    ("Consignment", &["species", "movementDate", "movementTime", "heads", "pdfUrl", "createdBy", "updatedAt",
        "updatedBy", "submittedAt", "owner", "origin", "destination", "consignee", "forms", "answers", "questions",
        "declaration"]),
    ("ConsignmentForm", &["type", "serialNumber"]),
    ("Question", &["help", "tip", "forms"]),
    ("Template", &["id", "number", "name", "species", "owner", "origin", "destination", "consignee", "forms"]),
    ("TemplateConnection", &["totalCount"]),
    ("Comment", &["commentId", "consignmentNumber", "role", "firstName", "lastName", "commentText", "createdAt"]),
    ("ConsignmentUserMapping", &["mappingId", "email", "firstName", "lastName", "role", "pic", "numOfHeads"]),
    ("Edec", &["id", "number", "status", "createdAt"]),
    ("UserDetails", &["auth0Id", "mobilePhone", "accreditations", "roles"]),
    ("Account", &["email", "roles", "properties"]),
    ("AccountProperty", &["propertyName", "accreditations"]),
];

/// The bundled schema without these fields. A type keeps one field, since a type must not be empty.
pub(crate) fn without(fields: &[(&str, &str)]) -> String {
    let mut schema = String::new();
    let mut owner = "";
    let mut lines = SCHEMA.lines().peekable();
    // Descriptions are removed together with their elements.
    let mut description = String::new();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("type ") {
            owner = name.trim_end_matches(" {");
        }
        if line.trim() == "\"\"\"" {
            description = format!("{line}\n");
            for line in lines.by_ref() {
                description.push_str(line);
                description.push('\n');
                if line.trim() == "\"\"\"" {
                    break;
                }
            }
            continue;
        }
        let field = line.trim().split([':', '(']).next().unwrap_or_default();
        if !(line.starts_with("  ") && fields.contains(&(owner, field))) {
            schema.push_str(&description);
            schema.push_str(line);
            schema.push('\n');
            if line.starts_with("type ") && fields.iter().any(|(of, _)| *of == owner) {
                schema.push_str("  other: String\n");
            }
        }
        description.clear();
    }
    schema
}

async fn client_of(schema: &str) -> (Fake, Client) {
    let fake = fake_builder().schema(schema).start().await.unwrap();
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    (fake, client)
}

/// Every typed query.
async fn every_query(fake: &Fake, client: &Client) -> Result<(), Error> {
    let account = client.account(fake.account_id());
    let _ = client.registered_user().await?;
    assert!(!client.questions().await?.value.items.is_empty());
    let filter = ConsignmentFilter::default().page_size(3);
    let page = account.consignments_page(&filter, None).await?.value;
    assert_eq!(page.edges.len(), 3);
    let mut records = Vec::new();
    let mut items = account.consignments(&filter).items();
    collect_up_to(&mut items, 100, &mut records).await?;
    assert_eq!(records.len(), 8);
    let record = account.consignment(NUMBER).await?.value;
    assert_eq!(record.number.unwrap(), NUMBER);
    assert_eq!(
        account
            .templates_page(&TemplateFilter::default(), None)
            .await?
            .value
            .edges
            .len(),
        1
    );
    let _ = account.template(TEMPLATE).await?;
    assert_eq!(account.comments(NUMBER).await?.value.len(), 1);
    let _ = account.user_mappings(NUMBER, "AUTHVIEWER").await?;
    let _ = account.edecs().await?;
    Ok(())
}

#[tokio::test]
async fn every_query_works_without_each_of_the_uncertain_fields() {
    let most = OPTIONAL.iter().map(|(_, fields)| fields.len()).max();
    // Remove one field of each type at a time, so that no type hides the effect on another.
    for number in 0..most.unwrap() {
        let field = |(owner, fields): &(&'static str, &[&'static str])| {
            fields.get(number).map(|field| (*owner, *field))
        };
        let missing: Vec<_> = OPTIONAL.iter().filter_map(field).collect();
        let (fake, client) = client_of(&without(&missing)).await;
        if let Err(error) = every_query(&fake, &client).await {
            panic!("{missing:?}: {error} {:?}", error.server_errors());
        }
        let adapted = client.profile().operations;
        let left_out: Vec<_> = adapted
            .values()
            .flat_map(|one| &one.value.left_out)
            .collect();
        // True for the field and for its selected subfields.
        let is_in = |path: &str, field: &str| path.split('.').any(|name| name == field);
        for (_, field) in &missing {
            assert!(left_out.iter().any(|path| is_in(path, field)), "{field}");
        }
        for path in left_out {
            assert!(
                missing.iter().any(|(_, field)| is_in(path, field)),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn every_query_without_any_uncertain_field_takes_one_more_request() {
    let all: Vec<_> = OPTIONAL
        .iter()
        .flat_map(|(owner, fields)| fields.iter().map(move |field| (*owner, *field)))
        .collect();
    let (fake, client) = client_of(&without(&all)).await;
    every_query(&fake, &client).await.unwrap();
    let first = fake.requests().len();
    every_query(&fake, &client).await.unwrap();
    let second = fake.requests().len() - first;
    let adapted = client.profile();
    let names: Vec<_> = adapted.operations.keys().collect();
    assert_eq!(names.len(), 9, "the nine queries: {names:?}");
    // One additional request for each, only the first time; clones of the client share the adapted documents.
    assert_eq!(first, second + 9);
    assert_eq!(client.clone().profile(), adapted);
    // A client that starts with this profile sends no more than a client that has learned it.
    let begun = fake.client().profile(&adapted).build().unwrap();
    every_query(&fake, &begun).await.unwrap();
    assert_eq!(fake.requests().len(), first + 2 * second);
    assert_eq!(begun.profile(), adapted);
    // Fields that the specification states are still read.
    let user = client.user_details().await.unwrap().value;
    assert_eq!(user.accounts.len(), 3);
    assert!(user.first_name.is_some() && user.roles.is_none() && user.accreditations.is_none());
}

#[tokio::test]
async fn roles_that_are_left_out_are_not_known() {
    // Omitted because the fields do not exist, or because they are not strings.
    let absent = without(&[("UserDetails", "roles"), ("Account", "roles")]);
    let objects = SCHEMA.replace("  roles: [String]", "  roles: [RoleRecord]");
    let objects = objects + "\ntype RoleRecord {\n  name: String\n}\n";
    for schema in [absent, objects] {
        let (fake, client) = client_of(&schema).await;
        let user = client.user_details().await.unwrap().value;
        let left_out = &client.profile().operations["userDetails"].value.left_out;
        assert_eq!(left_out, &["accounts.roles", "roles"]);
        assert!(
            user.roles.is_none() && user.accounts.iter().all(|account| account.roles.is_none())
        );
        assert_eq!(user.producer_accounts().count(), 2);
        let by_role = AccountChoice::Role(Role::Receiver);
        let error = client.choose_account(&by_role).await.unwrap_err();
        assert!(
            error.to_string().contains("does not say which roles"),
            "{error}"
        );
        drop(fake);
    }
}

const LEFT_OUT: &str = "
A field whose name begins with that of another is left out as well
  fake Accreditations.eU Accreditations.eUGFHQB; user -> ok x2, left_out accounts.properties.accreditations.eU + accounts.properties.accreditations.eUGFHQB + accreditations.eU + accreditations.eUGFHQB
When no place of the user details fits the first error is returned
  fake Query.userDetails Query.userDetailsQuery; user -> SchemaMismatch, reports 'userDetails'
A field that paging needs is never left out
  fake PageInfo.hasNextPage; list -> SchemaMismatch, sent 1, left_out nothing
Children of questions are optional in a consignment, whose public queries lack them, and required in the tree
  fake Question.childQuestions; consignment C-900000101 -> ok x2, value /questions/0/childQuestions []; questions -> SchemaMismatch
A mutation is never adapted
  fake Comment.role; comment The truck comes at five. -> SchemaMismatch, sent 1
An override is sent as it is
  fake UserDetails.roles; with document userDetails { userDetails { roles } }; user -> SchemaMismatch, sent 1
A renamed argument refuses only the calls that use it
  fake Consignment.createdBy Query.searchText; list -> ok x2, value . 8, left_out edges.node.createdBy;
  list status:DRAFT -> ok, value . 5; list search:yards -> SchemaMismatch
";

#[tokio::test]
async fn what_a_server_lacks_is_left_out_where_a_caller_can_do_without() {
    play::<Calls>(table!(const LEFT_OUT)).await;
}

/// The names of the object types are not published, so no document may depend on them.
#[tokio::test]
async fn no_operation_depends_on_names_of_object_types() {
    let mut names: Vec<_> = SCHEMA
        .lines()
        .filter_map(|line| line.strip_prefix("type ")?.strip_suffix(" {"))
        .filter(|name| !["Query", "Mutation"].contains(name))
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut schema = String::new();
    for line in SCHEMA.lines() {
        let renamed = names.iter().find_map(|name| {
            let declared = line
                .strip_prefix("type ")
                .filter(|rest| *rest == format!("{name} {{"));
            let (before, ty) = line.split_once(": ").unwrap_or((line, ""));
            let bare = ty.trim_matches(['[', ']', '!']);
            match declared {
                Some(_) => Some(format!("type {name}GraphType {{")),
                None if bare == *name => Some(format!(
                    "{before}: {}",
                    ty.replace(name, &format!("{name}GraphType"))
                )),
                None => None,
            }
        });
        schema.push_str(renamed.as_deref().unwrap_or(line));
        schema.push('\n');
    }
    let (fake, client) = client_of(&schema).await;
    every_query(&fake, &client).await.unwrap();
    let account = client.account(fake.account_id());
    main_job(&account).await.unwrap();
    let _ = account.copy_consignment(NUMBER).await.unwrap();
    let template = TemplateInput::new("Again", [FormType::Lpac1]);
    let template = account.save_template(template).await.unwrap().value;
    let _ = account.delete_template(template.id.unwrap()).await.unwrap();
    assert!(client.profile().operations.is_empty());
}
