//! Random changes to a consignment.

use envd_sdk::model::Jurisdiction;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop, prop_oneof};
use serde_json::{Value, json};

/// A change to a consignment.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Remove(usize),
    Repeat(usize),
    Value(usize, String),
    Index(usize, Option<i64>),
    Add(usize, Option<i64>, String),
    Field(String, Value),
    Forms(Vec<&'static str>),
}

const PARTIES: [&str; 4] = ["origin", "destination", "owner", "consignee"];

const ADDRESSES: [&str; 5] = [
    "origin.address",
    "destination.address",
    "owner.address",
    "consignee.address",
    "declaration.address",
];

const DECLARATION: [&str; 1] = ["declaration"];

/// Likely answers and trigger values.
const WORDS: &str = "|Yes|No|Maybe|1999|2000|2026-11-20|2041-01-01|2199-01-01|soon|12|True|2026-02-30|Yes, No|\
    Steer : M|Cow : F|2020-05|2020-05-06T07:08:09";

const FORMS: &str = "LPAC1 EUC1 LPABC1 LPASL1 LPAG2 LPAG3 LPAHRG0 NFASC0 NFASDDC1 NFASEUC1 MSAC1 HSSL1 HSG0 HSC2 LPAC9 lpac1";

/// One of the words.
pub(super) fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(WORDS.split('|').collect::<Vec<_>>())
}

pub(super) fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => word().prop_map(str::to_owned),
        1 => "[a-zA-Z0-9 ,:-]{0,12}",
        1 => "[ \tYesNoü.,é-]{0,9}",
        1 => date(),
    ]
}

/// Days and times, with and without fractions and zones, possible and impossible.
fn date() -> impl Strategy<Value = String> {
    prop_oneof![
        "(19|20|21)[0-9]{2}(-(0[0-9]|1[0-3])(-[0-3][0-9])?)?",
        "2026-(0[0-9]|1[0-3])-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]",
        "2026-1[0-2]-[0-3][0-9][T ][0-2][0-9]:[0-5][0-9](:[0-6]0)?(Z|[.]0|[+]10:00)?",
    ]
}

/// Every state, to detect a rule that combines a state with another field in only one implementation.
fn states() -> BoxedStrategy<Value> {
    let known = Jurisdiction::KNOWN.iter().map(|state| state.as_str());
    let known = prop::sample::select(known.collect::<Vec<_>>());
    let known = known.prop_map(Value::from);
    prop_oneof![3 => known, 1 => "qld|X[A-Z]|VIC |".prop_map(Value::from)].boxed()
}

/// A text for one field; most are almost valid.
fn field() -> impl Strategy<Value = Edit> {
    let of = |places: &[&str], name: &str, text: BoxedStrategy<Value>| {
        let paths = places.iter().map(|place| format!("{place}.{name}"));
        let paths = prop::sample::select(paths.collect::<Vec<_>>());
        (paths, text).prop_map(|(path, value)| Edit::Field(path, value))
    };
    let top = |name: &'static str, text: BoxedStrategy<Value>| {
        text.prop_map(move |value| Edit::Field(name.to_owned(), value))
    };
    let text = |pattern: &'static str| pattern.prop_map(Value::from).boxed();
    let long = |max: usize| {
        let character = prop::sample::select(vec!["a", "ü", "𝄞"]);
        let texts = (character, max - 1..=max + 1).prop_map(|(c, n)| Value::from(c.repeat(n)));
        texts.boxed()
    };
    // The specification does not define an email address, so use only texts on which both must agree.
    let emails = "sam@example.com|sam|@example.com|sam@|a b@example.com|".split('|');
    let emails = prop::sample::select(emails.collect::<Vec<_>>());
    let email = emails.prop_map(Value::from).boxed();
    let day = || date().prop_map(Value::from).boxed();
    prop_oneof![
        4 => of(&PARTIES, "pic", text("QAZZ7777|qazz7777|QBZZ2222|[A-Z0-9-]{7,9}|[A-Zü0-9]{8}|")),
        1 => of(&PARTIES, "pic", Just(Value::Null).boxed()),
        1 => of(&PARTIES, "name", long(300)),
        2 => of(&ADDRESSES, "postcode", text("[0-9]{3,5}|[0-9 ]{4}|٤٤٤٤|")),
        4 => of(&ADDRESSES, "state", states()),
        1 => of(&ADDRESSES, "town", long(100)),
        1 => of(&ADDRESSES, "line1", long(300)),
        3 => of(&DECLARATION, "date", day()),
        3 => of(&DECLARATION, "phone", text("[+]?[0-9() .-]{3,18}|[+]?[0-9a-z ]{6,12}|")),
        2 => of(&DECLARATION, "signature", text("[A-Za-z0-9+/=]{0,9}|data:image/png;base64,[A-Za]{0,5}| |[a-z]{4}\n?")),
        1 => of(&DECLARATION, "certificateNumber", long(7)),
        1 => of(&DECLARATION, "fullName", long(300)),
        1 => of(&DECLARATION, "email", email),
        2 => top("movementDate", day()),
        2 => top("movementTime", text("[0-2][0-9]:[0-6][0-9]|[0-9]:[0-9]{2}|[0-2][0-9]:[0-5][0-9]:00|")),
        1 => top("status", text("DRAFT|SUBMITTED")),
    ]
}

/// A change of any kind.
pub(super) fn edit() -> impl Strategy<Value = Edit> {
    let row = || prop_oneof![Just(None), (0..3_i64).prop_map(Some)];
    let forms = prop::sample::subsequence(FORMS.split(' ').collect::<Vec<_>>(), 0..4);
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

impl Edit {
    /// Applies the change. Refers to answers by position, and to questions by the position of their id.
    pub(super) fn apply(self, input: &mut Value, ids: &[String]) {
        match self {
            Self::Field(path, value) => {
                let mut place = input;
                for name in path.split('.') {
                    place = &mut place[name];
                }
                *place = value;
            }
            Self::Forms(forms) => input["forms"] = json!(forms),
            Self::Add(id, row, value) => {
                let id = &ids[id % ids.len()];
                answers(input).push(json!({"questionId": id, "index": row, "value": value}));
            }
            Self::Remove(at) => drop(answer(input, at).map(|at| answers(input).remove(at))),
            Self::Repeat(at) => {
                if let Some(at) = answer(input, at) {
                    let again = answers(input)[at].clone();
                    answers(input).push(again);
                }
            }
            Self::Value(at, value) => {
                if let Some(at) = answer(input, at) {
                    answers(input)[at]["value"] = value.into();
                }
            }
            Self::Index(at, row) => {
                if let Some(at) = answer(input, at) {
                    answers(input)[at]["index"] = json!(row);
                }
            }
        }
    }
}

fn answers(input: &mut Value) -> &mut Vec<Value> {
    input["answers"].as_array_mut().unwrap()
}

fn answer(input: &mut Value, at: usize) -> Option<usize> {
    at.checked_rem(answers(input).len())
}
