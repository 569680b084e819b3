//! Compares two implementations of the specification, the validator's and the fake's, on the same consignments.

mod edits;
mod lists;

use std::sync::OnceLock;

use envd_sdk::fake::{Fake, World};
use envd_sdk::model::{ConsignmentInput, Day, ServerError, TimeZone};
use envd_sdk::validate::{Context, Finding, Questionnaire, Report, Rule, compare};
use envd_sdk::{AccountClient, Clock};
use proptest::prelude::{prop, proptest};
use serde_json::{Value, json};
use test_support::seeded::cases;
use tokio::runtime::Runtime;

use edits::{Edit, edit};
use lists::{answers, list};

use crate::fixed_date::{fake_builder, fixtures, noon};

/// A fake, its list of questions, and its user's details. The port outlives each test's own runtime.
struct Setting {
    runtime: Runtime,
    _fake: Fake,
    account: AccountClient,
    questionnaire: Questionnaire,
    context: Context,
    ids: Vec<String>,
}

fn setting() -> &'static Setting {
    static SETTING: OnceLock<Setting> = OnceLock::new();
    SETTING.get_or_init(|| {
        let runtime = Runtime::new().unwrap();
        let (fake, account, questionnaire, context, ids) = runtime.block_on(async {
            let fake = fake_builder()
                .clock(Clock::manual(noon()))
                .start()
                .await
                .unwrap();
            let client = fake.client().build().unwrap();
            let user = client.user_details().await.unwrap().value;
            let list = client.questions().await.unwrap().value;
            // The fake's current day.
            let zone = TimeZone::fixed(11 * 60).unwrap();
            let account = client.account(fake.account_id());
            let today = Day::today_in(zone, fake.clock().now());
            let context = Context::of(&user, &account, today).account_pic("QAZZ7777");
            let mut ids = Vec::new();
            let mut open: Vec<_> = list.items.iter().collect();
            while let Some(question) = open.pop() {
                ids.push(question.id.as_ref().unwrap().to_string());
                open.extend(question.child_questions.iter());
            }
            (
                fake,
                account,
                Questionnaire::prepare(&list.items),
                context,
                ids,
            )
        });
        Setting {
            runtime,
            _fake: fake,
            account,
            questionnaire,
            context,
            ids,
        }
    })
}

fn valid() -> Vec<Value> {
    let files = fixtures("consignments").into_iter();
    let inputs = files.map(|(_, mut seed)| seed["input"].take());
    inputs.filter(Value::is_object).collect()
}

/// The fake's errors for a consignment, as the client decodes them.
fn ask(runtime: &Runtime, account: &AccountClient, input: &ConsignmentInput) -> Vec<ServerError> {
    let reply = account.save_consignment(input.clone());
    match runtime.block_on(reply.into_future()) {
        Ok(outcome) => outcome.problems,
        Err(error) => {
            assert!(!error.server_errors().is_empty(), "{error}");
            error.server_errors().to_vec()
        }
    }
}

/// Compares the validator's findings with the fake's errors.
fn agree(mirror: &Report, said: &[ServerError], input: &Value) {
    let server = Report::from_server_errors(said);
    let comparison = compare(mirror, &server);
    // The validator leaves an unknown form to the server, which then checks nothing else.
    if server.findings().iter().any(|f| f.rule == Rule::FormKnown) {
        assert_eq!(server.findings().len(), 1, "{comparison}\n{input}");
    } else {
        assert!(comparison.is_equal(), "{comparison}\n{input:#}");
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn both_readings_find_the_same(mut input in prop::sample::select(valid()), edits in prop::collection::vec(edit(), 1..9)) {
        let Setting { runtime, account, questionnaire, context, ids, .. } = setting();
        for edit in edits {
            edit.apply(&mut input, ids);
        }
        let consignment: ConsignmentInput = serde_json::from_value(input.clone()).unwrap();
        let mirror = questionnaire.validate(&consignment, context);
        agree(&mirror, &ask(runtime, account, &consignment), &input);
    }

    #[test]
    fn both_readings_find_the_same_in_any_list_of_questions(
        list in list(),
        answers in answers(),
        forms in prop::sample::select(vec![json!(["LPAC1"]), json!(["LPAC1", "EUC1"]), json!(["LPAG3"]), json!(["LPAHRG0"])]),
    ) {
        let Setting { runtime, context, .. } = setting();
        let input = json!({"forms": forms, "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"},
            "answers": answers});
        let consignment: ConsignmentInput = serde_json::from_value(input.clone()).unwrap();
        let (said, questions) = runtime.block_on(async {
            let world = World::sample().questions(json!(list));
            let fake = fake_builder().clock(Clock::manual(noon())).world(world).start().await.unwrap();
            let client = fake.client().build().unwrap();
            let questions = client.questions().await.unwrap().value;
            let saved = client.account(fake.account_id()).save_consignment(consignment.clone()).await;
            (saved.map_or_else(|error| error.server_errors().to_vec(), |saved| saved.problems), questions)
        });
        let mirror = Questionnaire::prepare(&questions.items).validate(&consignment, context);
        agree(&mirror, &said, &json!([input, list]));
    }
}

#[test]
fn both_readings_agree_on_what_the_random_ones_seldom_hit() {
    let setting = setting();
    let base = valid()
        .into_iter()
        .find(|input| input["forms"] == json!(["LPAC1"]))
        .unwrap();
    // Answers without an index inside rows, and with an index outside rows.
    let all = |row: Option<i64>, value: &str| -> Vec<Edit> {
        let ids = 0..setting.ids.len();
        ids.map(|id| Edit::Add(id, row, value.to_owned())).collect()
    };
    let nothing = (0..200).map(|_| Edit::Remove(0)).collect();
    let cases = [all(Some(1), "Maybe"), all(None, "2199-01-01"), nothing];
    for edits in cases {
        let mut input = base.clone();
        for edit in edits {
            edit.apply(&mut input, &setting.ids);
        }
        let input: ConsignmentInput = serde_json::from_value(input).unwrap();
        let mirror = setting.questionnaire.validate(&input, &setting.context);
        assert!(!mirror.findings().is_empty());
        let server = Report::from_server_errors(&ask(&setting.runtime, &setting.account, &input));
        let comparison = compare(&mirror, &server);
        assert!(comparison.is_equal(), "{comparison}");
        for said in server.findings() {
            let is_same = |f: &&Finding| f.code == said.code && f.message == said.message;
            let mirrored = mirror.findings().iter().map(|f| &**f).find(is_same);
            let mirrored = mirrored.map(|f| (&f.path, f.rule));
            assert_eq!(mirrored, Some((&said.path, said.rule)));
        }
    }
}
