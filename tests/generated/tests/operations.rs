//! Compiles the generated code and runs it against a fake.

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::graphql::TypedOperation;
use envd_sdk::model::{
    Answer, ConsignmentInput, ConsignmentSummary, FormType, Maybe, Party, PartyInput,
    SavedConsignment,
};
use serde_json::{Value, json};

use self::generated::{
    Herd, Kind, Move, MoveInput, Note, Page, Row, Rows, Save, Two, herd, move_, note, page, rows,
    save, two,
};

/// Generated code gives no warnings, even for deprecated elements.
#[deny(warnings)]
mod generated {
    envd_sdk::include_operations!();
}

fn sent<Q: TypedOperation>(variables: Q::Variables) -> Value {
    serde_json::to_value(Q::body(variables).variables).unwrap()
}

#[tokio::test]
async fn records_of_the_sdk_come_where_a_document_selects_its_fragments() {
    let fake = Fake::start().await;
    let client = fake.client().build().unwrap();
    let variables = page::Variables {
        account: fake.account_id().into(),
        first: None,
        after: None,
    };
    let page = client.execute::<Page>(variables).await.unwrap();
    let page = page.value.consignments.unwrap();
    assert_eq!((page.total_count, page.edges.len()), (Some(8), 8));
    let summary: &ConsignmentSummary = page.edges[0].node.as_ref().unwrap();

    let id = summary.id.clone().unwrap();
    let variables = two::Variables {
        id,
        account: fake.account_id().into(),
    };
    let two = client.execute::<Two>(variables).await.unwrap().value;
    let row: Row = two.one.unwrap();
    assert_eq!(row.number, summary.number);
    // If a fragment is selected together with other fields, its fields are in a separate record, never flattened.
    let both = two.consignment.unwrap();
    assert_eq!((both.number, both.heads), (row.number, summary.heads));
    let _: Vec<Answer> = both.answers;

    let variables = rows::Variables {
        account: fake.account_id().into(),
    };
    let rows = client.execute::<Rows>(variables).await.unwrap();
    let mut edges = rows.value.consignments.unwrap().edges.into_iter();
    let owner = edges.find_map(|edge| edge.node?.owner).unwrap();
    // Personal data does not appear in `Debug`.
    let shown = format!("{owner:?}");
    assert!(shown.contains("pic") && !shown.contains(&owner.name.unwrap()));
}

#[tokio::test]
async fn a_change_sends_what_is_set_and_wipes_nothing_else() {
    let fake = Fake::start().await;
    let client = fake.client().build().unwrap();
    let account = client.account(fake.account_id());
    let origin = PartyInput::new("QAZZ7777");
    let destination = PartyInput::new("QDZZ3333");
    let input = ConsignmentInput::new([FormType::Lpac1], origin.clone(), destination.clone())
        .owner(PartyInput::new("QAZZ7777"));
    let saved = account.save_consignment(input).await.unwrap().value;
    let id = saved.id.unwrap();

    // The SDK's input in our own document.
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination).id(id.clone());
    let variables = save::Variables {
        account: fake.account_id().into(),
        input,
    };
    let reply = client.execute::<Save>(variables).await.unwrap().value;
    let saved: SavedConsignment = reply.create_or_save_consignment.unwrap().data.unwrap();
    assert_eq!(saved.id, Some(id.clone()));
    let record = account.consignment(id).await.unwrap().value;
    assert!(record.owner.is_some());
}

/// An input with only the required fields; an enum has no default.
#[expect(deprecated)]
fn movement(kind: Kind) -> MoveInput {
    MoveInput {
        note: Maybe::Absent,
        kind,
        party: Maybe::Absent,
        within: Maybe::Absent,
        all: Maybe::Absent,
        result: Maybe::Absent,
        old: Maybe::Absent,
        price: Maybe::Absent,
    }
}

#[test]
fn a_field_of_an_input_is_absent_null_or_a_value() {
    let within = movement(Kind::AB);
    let input = MoveInput {
        note: Maybe::Null,
        within: Box::new(within).into(),
        ..movement(Kind::Err_)
    };
    let expected = json!({"input": {"note": null, "kind": "ERR", "within": {"kind": "A_B"}}});
    assert_eq!(sent::<Move>(move_::Variables { input }), expected);
    // A variable of a mutation has the same three states; an absent one is omitted.
    let variables = note::Variables {
        note: Maybe::Absent,
        kind: Kind::AB,
    };
    assert_eq!(sent::<Note>(variables), json!({"kind": "A_B"}));
    let variables = note::Variables {
        note: Maybe::Null,
        kind: Kind::Self_,
    };
    let expected = json!({"note": null, "kind": "SELF"});
    assert_eq!(sent::<Note>(variables), expected);
    // A variable of a query is omitted if it is not set.
    assert_eq!(sent::<Herd>(herd::Variables::default()), json!({}));
}

#[test]
fn replies_are_read_leniently_whatever_their_names() {
    let reply = json!({
        "herd": {
            "__typename": "Herd", "type": "stud", "self": 3.0, "price": "1.5", "fooBar": 1, "foo_bar": 2, "kind": "LATER",
            "animals": [{"tag": "a"}, null], "party": {"pic": "QAZZ7777"}, "more": true,
        },
        "grid": [[1, 2], null, []],
        "thing": {"__typename": "Cow"},
    });
    let reply: herd::ResponseData = serde_json::from_value(reply).unwrap();
    let herd = reply.herd.unwrap();
    assert_eq!((herd.type_.as_deref(), herd.self_), (Some("stud"), Some(3)));
    assert_eq!((herd.foo_bar, herd.foo_bar_), (Some(1), Some(2)));
    assert_eq!(herd.kind, Some(Kind::Unrecognized("LATER".to_owned())));
    assert_eq!(herd.animals.len(), 1);
    let _: Option<Party> = herd.party;
    assert_eq!(reply.grid, [vec![1, 2], vec![]]);
    assert_eq!(reply.thing.unwrap().typename.as_deref(), Some("Cow"));
    let empty: herd::ResponseData = serde_json::from_value(json!({})).unwrap();
    assert_eq!(empty, herd::ResponseData::default());
    // Values that differ in GraphQL have different names in Rust.
    let names = ["A_B", "AB", "UNRECOGNIZED", "SELF", "_1", "ERR", "OLD"];
    let kinds = names.map(Kind::from);
    assert_eq!(kinds.each_ref().map(Kind::as_str), names);
    assert!(kinds.iter().all(Kind::is_known));
}

#[tokio::test]
async fn a_query_is_retried_a_change_is_not_and_both_are_scripted() {
    let fake = Fake::start().await;
    let client = fake.client().build().unwrap();
    fake.on::<Herd>().fault(Fault::status(503));
    fake.on::<Herd>().respond(json!({"herd": {"type": "stud"}}));
    let herd = client.execute::<Herd>(herd::Variables::default());
    let reply = herd.header("x-office", "Roma").await.unwrap().value;
    assert_eq!(reply.herd.unwrap().type_.as_deref(), Some("stud"));
    assert_eq!(fake.request_count("Herd"), 2);

    // Its variables have no default, so script it by name.
    fake.on_own_operation("Move").fault(Fault::status(503));
    let input = movement(Kind::AB);
    let change = client.execute::<Move>(move_::Variables { input });
    assert!(change.await.unwrap_err().may_have_applied());
    assert_eq!(fake.request_count("Move"), 1);
}
