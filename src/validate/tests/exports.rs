//! Exports: a JSON Schema accepts what the validator has no finding about, as far as a schema can say it.

use std::collections::{BTreeMap, BTreeSet};

use boon::{Compiler, SchemaIndex, Schemas};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use serde_json::{Map, Value, json};

use super::bodies::{fixture, input, questions};
use super::questions::{ask, prepare, today};
use crate::model::{AnswerInput, ConsignmentInput, FormType, Maybe, PartyInput, Question};
use crate::seeded::cases;
use crate::validate::{Questionnaire, Report, answers_from_json};

/// What the validator says to an object of answers.
fn judge(tree: &Questionnaire, forms: &[FormType], answers: &Value) -> Report {
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let mut input = ConsignmentInput::new(forms.to_vec(), origin, destination);
    input.answers = Maybe::Value(answers_from_json(answers));
    tree.validate(&input, &today())
}

/// A schema that the metaschema of its dialect accepts.
fn compile(schema: &Value) -> (Schemas, SchemaIndex) {
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    let place = "file:///answers.json";
    compiler.add_resource(place, schema.clone()).unwrap();
    let index = compiler.compile(place, &mut schemas).unwrap();
    (schemas, index)
}

/// The questions of which a schema says in a comment what it leaves out.
fn commented(schema: &Value, found: &mut BTreeSet<String>) {
    for (id, property) in schema["properties"].as_object().into_iter().flatten() {
        if !property["$comment"].is_null() {
            found.insert(id.clone());
        }
    }
    match schema {
        Value::Object(fields) => fields.values().for_each(|field| commented(field, found)),
        Value::Array(items) => items.iter().for_each(|item| commented(item, found)),
        _ => {}
    }
}

/// Compares both, and returns what the schema says.
fn agree(list: &Value, tree: &Questionnaire, forms: &[FormType], answers: &Value) -> bool {
    let schema = tree.json_schema(forms);
    let (schemas, index) = compile(&schema);
    let accepts = schemas.validate(answers, index).is_ok();
    let mut unsaid = BTreeSet::new();
    commented(&schema, &mut unsaid);
    // Below rows whose rules are left out, all rules are.
    let mut open: Vec<(&Value, bool)> = vec![(list, false)];
    while let Some((questions, is_below)) = open.pop() {
        for question in questions.as_array().into_iter().flatten() {
            let id = question["id"].as_str().unwrap();
            let is_unsaid = is_below || unsaid.contains(id);
            if is_unsaid {
                unsaid.insert(id.to_owned());
            }
            let is_rows = question["type"] == "REPEATABLE";
            open.push((
                &question["childQuestions"],
                is_below || is_unsaid && is_rows,
            ));
        }
    }
    let report = judge(tree, forms, answers);
    let about = report.findings().iter().filter_map(|f| f.question.as_ref());
    let about: Vec<&str> = about.map(|question| question.id.as_str()).collect();
    let said = about.iter().any(|id| !unsaid.contains(*id));
    assert!(!said || !accepts, "accepts {answers}\n{report}\n{schema:#}");
    assert!(
        accepts || !about.is_empty(),
        "rejects {answers}\n{schema:#}"
    );
    accepts
}

/// Answers as the schema has them: rows by the REPEATABLE question above.
fn object(list: &[Question], answers: &[AnswerInput]) -> Value {
    let mut places: BTreeMap<String, (Option<String>, bool)> = BTreeMap::new();
    let mut open: Vec<(&Question, Option<String>)> = list.iter().map(|q| (q, None)).collect();
    while let Some((question, rows)) = open.pop() {
        let kind = serde_json::to_value(&question.question_type).unwrap();
        let id = question.id.as_ref().unwrap().to_string();
        let opened = rows.clone().or((kind == "REPEATABLE").then(|| id.clone()));
        places.insert(id, (rows, kind == "MULTIPLE_CHOICE"));
        open.extend(question.child_questions.iter().map(|q| (q, opened.clone())));
    }
    let mut object = Map::new();
    let mut rows: BTreeMap<(String, Option<i64>), Map<String, Value>> = BTreeMap::new();
    for answer in answers {
        let id = answer.question_id.value().unwrap().to_string();
        let text = answer.value.value().unwrap().clone();
        let (above, several) = places.get(&id).cloned().unwrap_or_default();
        let at = match above {
            Some(above) => rows
                .entry((above, answer.index.value().copied()))
                .or_default(),
            None => &mut object,
        };
        let value = if several {
            text.split(',').map(str::trim).collect()
        } else {
            text.into()
        };
        at.insert(id, value);
    }
    for ((above, _), row) in rows {
        let list = object.entry(above).or_insert_with(|| json!([]));
        list.as_array_mut().unwrap().push(row.into());
    }
    object.into()
}

#[test]
fn the_consignments_of_the_data_set_are_accepted_exactly_if_their_answers_are_right() {
    let list = questions();
    let tree = Questionnaire::prepare(&list);
    let raw = fixture("questions.json")["data"]["questions"]["items"].take();
    let index = fixture("consignments/index.json");
    let cases = |key: &str| index[key].as_array().unwrap().clone();
    let mut accepted = [0, 0];
    for case in [cases("valid"), cases("invalid")].concat() {
        let input = input(case["file"].as_str().unwrap());
        if input.forms.is_empty() {
            continue;
        }
        let answers = object(&list, input.answers());
        let accepts = agree(&raw, &tree, &input.forms, &answers);
        accepted[usize::from(accepts)] += 1;
    }
    assert!(accepted[0] > 5 && accepted[1] > 20, "{accepted:?}");
}

/// A question; ids and triggers are filled in later.
fn question() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "STRING",
        "SINGLE_CHOICE",
        "SINGLE_CHOICE",
        "MULTIPLE_CHOICE",
        "DATE",
        "DISPLAY",
        "COLOUR",
    ]);
    let trigger = (
        0..12_usize,
        prop::sample::select(vec!["A", "B", "C", "2005"]),
    );
    let triggers = prop::collection::vec(trigger, 0..3);
    let years = prop::sample::select(vec![
        json!([]),
        json!(["minYear", "2000"]),
        json!(["maxYear", "2006"]),
        json!(["maxYear", "now"]),
    ]);
    let forms = prop::sample::select(vec![json!(["LPAC1"]), json!(["LPAC1", "EUC1"]), json!([])]);
    let leaf = (kind, triggers, years, any::<bool>(), forms);
    let leaf = leaf.prop_map(|(kind, triggers, years, required, forms)| {
        let mut validators = Vec::new();
        if required {
            validators.push(json!({"type": "required", "parameter": ""}));
        }
        if kind == "DATE" && years != json!([]) {
            validators.push(json!({"type": years[0], "parameter": years[1]}));
        }
        let choices = kind
            .ends_with("CHOICE")
            .then(|| json!([{"value": "A"}, {"value": "B"}]));
        json!({"type": kind, "forms": forms, "triggers": triggers, "validators": validators,
            "acceptableAnswers": choices, "childQuestions": []})
    });
    leaf.prop_recursive(3, 10, 3, |inner| {
        let rows = prop_oneof![3 => Just(false), 1 => Just(true)];
        (inner.clone(), prop::collection::vec(inner, 1..4), rows).prop_map(
            |(mut question, children, rows)| {
                question["childQuestions"] = json!(children);
                if rows {
                    question["type"] = json!("REPEATABLE");
                    question["acceptableAnswers"] = json!([]);
                    question["validators"] = json!([]);
                }
                question
            },
        )
    })
}

/// Numbers the questions, and turns the positions in triggers into ids.
fn number(questions: &mut [Value], next: &mut usize) {
    for question in questions {
        question["id"] = json!(next.to_string());
        *next += 1;
        for trigger in question["triggers"].as_array_mut().unwrap() {
            *trigger = json!({"questionId": trigger[0].to_string(), "value": trigger[1]});
        }
        let mut children = question["childQuestions"].take();
        number(children.as_array_mut().unwrap(), next);
        question["childQuestions"] = children;
    }
}

/// Answers to some of the questions, from a list of random numbers.
fn fill(
    questions: &[Value],
    seeds: &mut impl Iterator<Item = usize>,
    object: &mut Map<String, Value>,
    in_row: bool,
) {
    const TEXTS: [&str; 7] = ["A", "B", "A", "C", "1999", "2005-06-07", "2027-01"];
    for question in questions {
        let id = question["id"].as_str().unwrap().to_owned();
        let children = question["childQuestions"].as_array().unwrap();
        let seed = seeds.next().unwrap();
        if question["type"] == "REPEATABLE" && !in_row {
            let rows = (0..seed % 3).map(|_| {
                let mut row = Map::new();
                fill(children, seeds, &mut row, true);
                row
            });
            let rows: Vec<Value> = rows
                .filter(|row| !row.is_empty())
                .map(Value::from)
                .collect();
            object.insert(id, rows.into());
            continue;
        }
        let text = TEXTS[seed % TEXTS.len()];
        match question["type"].as_str().unwrap() {
            "REPEATABLE" | "DISPLAY" => {}
            _ if seed.is_multiple_of(5) => {}
            "MULTIPLE_CHOICE" => {
                let chosen = [["", text, "B"][seed % 3], "B"];
                object.insert(id, json!(chosen[..=seed % 2]));
            }
            _ => drop(object.insert(id, text.into())),
        }
        fill(children, seeds, object, in_row);
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn a_schema_accepts_exactly_the_answers_without_findings(
        mut list in prop::collection::vec(question(), 1..5),
        seeds in prop::collection::vec(0..1000_usize, 40),
    ) {
        number(&mut list, &mut 1);
        let mut answers = Map::new();
        fill(&list, &mut seeds.into_iter().cycle(), &mut answers, false);
        let list = json!(list);
        agree(&list, &prepare(&list), &[FormType::Lpac1], &answers.into());
    }
}

#[test]
fn triggers_choices_years_and_rows_are_rules_of_the_schema() {
    let mut child = ask("2", "SINGLE_CHOICE", &[("1", "Yes")], &[]);
    child["acceptableAnswers"] = json!([{"value": "A"}, {"value": "B"}]);
    let mut born = ask("3", "DATE", &[], &[]);
    born["validators"] =
        json!([{"type": "minYear", "parameter": "1996"}, {"type": "maxYear", "parameter": "2040"}]);
    let head = ask(
        "5",
        "NUMBER",
        &[],
        &[ask("6", "STRING", &[("5", "1")], &[])],
    );
    let outside = ask("7", "STRING", &[("1", "Yes")], &[]);
    let list = json!([
        ask("1", "STRING", &[], &[child]),
        born,
        ask("4", "REPEATABLE", &[], &[head, outside])
    ]);
    let tree = prepare(&list);
    for (answers, accepted) in [
        (json!({"1": "No"}), true),
        (json!({}), false),
        (json!({"1": "Yes"}), false),
        (json!({"1": "Yes", "2": "A"}), true),
        (json!({"1": "Yes", "2": "C"}), false),
        (json!({"1": "No", "2": "C"}), true),
        (json!({"1": "No", "3": "1995-12-31"}), false),
        (json!({"1": "No", "3": "1996"}), true),
        (json!({"1": "No", "3": "2040-12-31T23:59"}), true),
        (json!({"1": "No", "3": "2041"}), false),
        (json!({"1": "No", "3": "soon"}), false),
        (
            json!({"1": "No", "4": [{"5": "1", "6": "x"}, {"5": "2"}]}),
            true,
        ),
        (json!({"1": "No", "4": [{"5": "1"}]}), false),
        (json!({"1": "No", "4": [{"6": "x"}]}), false),
        // Question 7 hangs on an answer outside of its row.
        (json!({"1": "Yes", "2": "A", "4": [{"5": "2"}]}), true),
    ] {
        assert_eq!(
            agree(&list, &tree, &[FormType::Lpac1], &answers),
            accepted,
            "{answers}"
        );
    }
    let schema = tree.json_schema(&[FormType::Lpac1]);
    let row = &schema["properties"]["4"]["items"]["properties"];
    let comment = row["7"]["$comment"].as_str().unwrap();
    assert!(comment.contains("outside of this object"), "{comment}");
    assert!(
        tree.json_schema(&[FormType::Euc1])["properties"]
            .as_object()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn rangeland_goats_need_the_answer_yes_with_or_without_a_list() {
    let tree = prepare(&json!([]));
    for (answers, accepted) in [
        (json!({}), false),
        (json!({"185": "No"}), false),
        (json!({"185": "Yes"}), true),
    ] {
        assert_eq!(
            agree(&json!([]), &tree, &[FormType::Lpahrg0], &answers),
            accepted
        );
        assert!(agree(&json!([]), &tree, &[FormType::Lpag3], &answers));
    }
}

#[test]
fn a_schema_of_all_forms_of_the_real_list_is_valid_and_says_nearly_all() {
    let tree = Questionnaire::prepare(&questions());
    for form in FormType::KNOWN {
        let schema = tree.json_schema(std::slice::from_ref(form));
        compile(&schema);
        let mut unsaid = BTreeSet::new();
        commented(&schema, &mut unsaid);
        let text = schema.to_string();
        let elsewhere = text.matches("outside of this object").count();
        assert!(elsewhere < 8, "{form}: {elsewhere}");
        let has_names = text.contains(r#"{"const":"2","title":"0-2"}"#);
        assert_eq!(has_names, text.contains("Dentition"), "{form}");
    }
}
