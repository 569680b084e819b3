//! Two readings of the specification, the validator's and the fake's, on the same consignments.

use std::path::Path;
use std::sync::OnceLock;

use envd_sdk::Account;
use envd_sdk::fake::Fake;
use envd_sdk::model::{ConsignmentInput, Day, ServerError};
use envd_sdk::validate::{Context, Questionnaire, Report, Rule, compare};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The settings of a property test with so many cases: the same in each run, unless `ENVD_SDK_EXPLORE` names a seed.
fn cases(cases: u32) -> Config {
    let seed = std::env::var("ENVD_SDK_EXPLORE").map_or(4711, |seed| seed.parse().unwrap());
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    }
}

/// A fake, the list that it serves, and what is known of its user. The port outlives each test's own runtime.
struct Setting {
    runtime: Runtime,
    _fake: Fake,
    account: Account,
    questionnaire: Questionnaire,
    context: Context,
    ids: Vec<String>,
}

fn setting() -> &'static Setting {
    static SETTING: OnceLock<Setting> = OnceLock::new();
    SETTING.get_or_init(|| {
        let runtime = Runtime::new().unwrap();
        let (fake, account, questionnaire, context, ids) = runtime.block_on(async {
            let fake = Fake::start().await;
            let client = fake.client().build().unwrap();
            let user = client.user_details().await.unwrap().value;
            let list = client.questions().await.unwrap().value;
            let context = Context::on(Day::of(fake.clock().now()))
                .account_pic("QAZZ7777")
                .accreditations(&user.accreditations.unwrap());
            let account = client.account(fake.account_id());
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/consignments");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    let read = |path: &Path| {
        serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let inputs = files
        .iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    inputs
        .map(|path| read(path)["input"].take())
        .filter(Value::is_object)
        .collect()
}

/// A change to a consignment.
#[derive(Clone, Debug)]
enum Edit {
    Remove(usize),
    Repeat(usize),
    Value(usize, String),
    Index(usize, Option<i64>),
    Add(usize, Option<i64>, String),
    Field(&'static str, String),
    Forms(Vec<&'static str>),
}

fn value() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "",
        "Yes",
        "No",
        "Maybe",
        "1999",
        "2000",
        "2026-11-20",
        "2041-01-01",
        "2199-01-01",
        "soon",
        "12",
        "True",
        "2026-02-30",
        "Yes, No",
        "Steer : M",
        "Cow : F",
        "2020-05",
        "2020-05-06T07:08:09",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[a-zA-Z0-9 ,:-]{0,12}"]
}

fn field() -> impl Strategy<Value = Edit> {
    let of =
        |path: &'static str, text: &'static str| text.prop_map(move |text| Edit::Field(path, text));
    let length = |path: &'static str, max: usize| {
        (max - 1..=max + 1).prop_map(move |n| Edit::Field(path, "ü".repeat(n)))
    };
    // The specification does not say what an email address is: only what both must agree on.
    let email = prop::sample::select(vec![
        "sam@example.com",
        "sam",
        "@example.com",
        "sam@",
        "a b@example.com",
        "",
    ]);
    prop_oneof![
        of("origin.pic", "QAZZ7777|qazz7777|QBZZ2222|[A-Z0-9-]{7,9}"),
        of("destination.pic", "[A-Z0-9]{7,9}"),
        of("owner.pic", "[A-Zü0-9]{8}"),
        of("owner.address.postcode", "[0-9]{3,5}"),
        of("declaration.address.state", "NSW|QLD|qld|X[A-Z]"),
        of(
            "declaration.date",
            "2026-(0[0-9]|1[0-3])-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]"
        ),
        of(
            "declaration.date",
            "2026-11-20|2026-11-20T10:00|2026-11-20T10:00:00Z|"
        ),
        of("declaration.phone", "[+]?[0-9() .-]{5,18}"),
        of(
            "declaration.signature",
            "[A-Za-z0-9+/=]{0,9}|data:image/png;base64,[A-Za]{2,5}"
        ),
        of("movementDate", "20[0-9]{2}-(0[0-9]|1[0-3])-[0-3][0-9]"),
        of("movementTime", "[0-2][0-9]:[0-6][0-9]|[0-9]:[0-9]{2}"),
        length("consignee.name", 300),
        length("declaration.certificateNumber", 7),
        length("destination.address.town", 100),
        length("origin.address.line1", 300),
        email.prop_map(|text| Edit::Field("declaration.email", text.to_owned())),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let row = || prop_oneof![Just(None), (0..3_i64).prop_map(Some)];
    let forms = prop::sample::subsequence(
        vec![
            "LPAC1", "EUC1", "LPASL1", "LPAG2", "LPAG3", "LPAHRG0", "HSC2", "LPAC9",
        ],
        0..3,
    );
    prop_oneof![
        4 => any::<usize>().prop_map(Edit::Remove),
        1 => any::<usize>().prop_map(Edit::Repeat),
        6 => (any::<usize>(), value()).prop_map(|(at, value)| Edit::Value(at, value)),
        2 => (any::<usize>(), row()).prop_map(|(at, row)| Edit::Index(at, row)),
        3 => (any::<usize>(), row(), value()).prop_map(|(id, row, value)| Edit::Add(id, row, value)),
        4 => field(),
        1 => forms.prop_map(Edit::Forms),
    ]
}

fn apply(input: &mut Value, edit: Edit, ids: &[String]) {
    match edit {
        Edit::Field(path, text) => {
            let mut place = input;
            for name in path.split('.') {
                place = &mut place[name];
            }
            *place = text.into();
            return;
        }
        Edit::Forms(forms) => {
            input["forms"] = json!(forms);
            return;
        }
        _ => {}
    }
    let answers = input["answers"].as_array_mut().unwrap();
    let count = answers.len().max(1);
    match edit {
        Edit::Add(id, row, value) => {
            answers.push(json!({"questionId": ids[id % ids.len()], "index": row, "value": value}));
        }
        _ if answers.is_empty() => {}
        Edit::Remove(at) => drop(answers.remove(at % count)),
        Edit::Repeat(at) => answers.push(answers[at % count].clone()),
        Edit::Value(at, value) => answers[at % count]["value"] = value.into(),
        Edit::Index(at, row) => answers[at % count]["index"] = json!(row),
        Edit::Field(..) | Edit::Forms(..) => {}
    }
}

/// What the fake says to a consignment, as the client decodes it.
fn ask(setting: &Setting, input: &ConsignmentInput) -> Vec<ServerError> {
    let reply = setting.account.save_consignment(input.clone());
    match setting.runtime.block_on(reply) {
        Ok(outcome) => outcome.problems,
        Err(error) => {
            assert!(!error.server_errors().is_empty(), "{error}");
            error.server_errors().to_vec()
        }
    }
}

proptest! {
    #![proptest_config(cases(160))]

    #[test]
    fn both_readings_find_the_same(input in prop::sample::select(valid()), edits in prop::collection::vec(edit(), 1..7)) {
        let setting = setting();
        let mut input = input;
        for edit in edits {
            apply(&mut input, edit, &setting.ids);
        }
        let consignment: ConsignmentInput = serde_json::from_value(input.clone()).unwrap();
        let mirror = setting.questionnaire.validate(&consignment, &setting.context);
        let server = Report::from_server_errors(&ask(setting, &consignment));
        let drift = compare(&mirror, &server);
        // GraphQL.NET names only the first value of a variable that it cannot take.
        if mirror.findings().iter().any(|f| f.rule == Rule::FormKnown) {
            assert!(drift.only_server.is_empty() && server.findings().len() == 1, "{drift}\n{input}");
        } else {
            assert!(drift.is_none(), "{drift}\n{input:#}");
        }
    }
}

#[test]
fn both_readings_agree_on_what_the_random_ones_seldom_hit() {
    let setting = setting();
    let base = valid()
        .into_iter()
        .find(|input| input["forms"] == json!(["LPAC1"]))
        .unwrap();
    let cases: [Vec<Edit>; 3] = [
        // Answers without an index inside rows, and with an index outside of them.
        setting
            .ids
            .iter()
            .enumerate()
            .map(|(id, _)| Edit::Add(id, Some(1), "Maybe".to_owned()))
            .collect(),
        setting
            .ids
            .iter()
            .enumerate()
            .map(|(id, _)| Edit::Add(id, None, "2199-01-01".to_owned()))
            .collect(),
        (0..200).map(|_| Edit::Remove(0)).collect(),
    ];
    for edits in cases {
        let mut input = base.clone();
        for edit in edits {
            apply(&mut input, edit, &setting.ids);
        }
        let input: ConsignmentInput = serde_json::from_value(input).unwrap();
        let mirror = setting.questionnaire.validate(&input, &setting.context);
        assert!(!mirror.findings().is_empty());
        let server = Report::from_server_errors(&ask(setting, &input));
        let drift = compare(&mirror, &server);
        assert!(drift.is_none(), "{drift}");
        for said in server.findings() {
            let mirrored = mirror
                .findings()
                .iter()
                .find(|f| f.code == said.code && f.message == said.message);
            assert_eq!(
                mirrored.map(|f| (&f.path, f.rule)),
                Some((&said.path, said.rule))
            );
        }
    }
}
