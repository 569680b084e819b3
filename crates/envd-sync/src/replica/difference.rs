//! What differs between two states of a record.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

/// When the service last wrote the record. It is no content: a record whose date alone differs did not change.
const DATE: &str = "updatedAt";

/// The address of the print, whose query is a token that may be another one each time.
const PRINT: &str = "pdfUrl";

const NULL: &Value = &Value::Null;

/// The paths of the fields whose values differ, such as `status`, `origin.pic` and `forms[0].serialNumber`, in the order of
/// their names.
///
/// All fields count, unknown ones included, but for the date of the last update. A field that is null equals one that is
/// absent. A list whose length differs is one path, so is an object of which one state has nothing.
pub(crate) fn changed_fields(before: &Value, after: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    compare(&mut paths, String::new(), before, after, false);
    paths
}

/// Whether a list shows a record otherwise than the copy holds it, which may have more fields than lists show.
pub(crate) fn differs_from_summary(copy: &Value, summary: &Value) -> bool {
    let mut paths = Vec::new();
    compare(&mut paths, String::new(), copy, summary, true);
    !paths.is_empty()
}

/// `may_have_more`: fields that only `before` has do not count.
fn compare(
    paths: &mut Vec<String>,
    path: String,
    before: &Value,
    after: &Value,
    may_have_more: bool,
) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let more = before.keys().filter(|_| !may_have_more);
            for name in after.keys().chain(more).collect::<BTreeSet<_>>() {
                let [before, after] = [before, after].map(|it| it.get(name).unwrap_or(NULL));
                let path = match (path.as_str(), name.as_str()) {
                    ("", DATE) => continue,
                    ("", PRINT) if is_same_print(before, after) => continue,
                    ("", name) => name.to_owned(),
                    (path, name) => format!("{path}.{name}"),
                };
                compare(paths, path, before, after, may_have_more);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                let path = format!("{path}[{index}]");
                compare(paths, path, before, after, may_have_more);
            }
        }
        (Value::Number(before), Value::Number(after)) if is_same_number(before, after) => {}
        (before, after) if before != after => paths.push(path),
        _ => {}
    }
}

/// Whether two numbers have one value, as `1` and `1.0` have. Integers beyond 2^53 share a float with others.
fn is_same_number(before: &Number, after: &Number) -> bool {
    before == after || (before.is_f64() || after.is_f64()) && before.as_f64() == after.as_f64()
}

fn is_same_print(before: &Value, after: &Value) -> bool {
    let without_query = |address: &str| address.split(['?', '#']).next().map(str::to_owned);
    let (before, after) = (before.as_str(), after.as_str());
    before.is_some() && before.and_then(without_query) == after.and_then(without_query)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Holds: changed: its content differs, not its date.
    #[test]
    fn values_are_compared_and_not_texts_or_dates() {
        for (before, after, fields) in [
            (
                json!({"status": "DRAFT"}),
                json!({"status": "SUBMITTED"}),
                vec!["status"],
            ),
            (
                json!({"updatedAt": "1", "heads": 1}),
                json!({"updatedAt": "2", "heads": 1.0}),
                vec![],
            ),
            (json!({"heads": null}), json!({}), vec![]),
            (json!({"new": {"a": 1}}), json!({}), vec!["new"]),
            (
                json!({"origin": {"pic": "A", "name": "x"}}),
                json!({"origin": {"pic": "B", "name": "x"}}),
                vec!["origin.pic"],
            ),
            (
                json!({"origin": {"updatedAt": 1}}),
                json!({"origin": {"updatedAt": 2}}),
                vec!["origin.updatedAt"],
            ),
            (
                json!({"b": 1, "a": [1, {"c": 2}]}),
                json!({"b": 2, "a": [1, {"c": 3}]}),
                vec!["a[1].c", "b"],
            ),
            (
                json!({"forms": [1]}),
                json!({"forms": [1, 2]}),
                vec!["forms"],
            ),
            (
                json!({"n": 9_007_199_254_740_993_u64}),
                json!({"n": 9_007_199_254_740_992_u64}),
                vec!["n"],
            ),
            (
                json!({"pdfUrl": "https://a/1?t=1"}),
                json!({"pdfUrl": "https://a/1?t=2"}),
                vec![],
            ),
            (
                json!({"pdfUrl": "https://a/1?t=1"}),
                json!({"pdfUrl": "https://a/2?t=1"}),
                vec!["pdfUrl"],
            ),
        ] {
            assert_eq!(changed_fields(&before, &after), fields, "{before} {after}");
            assert_eq!(changed_fields(&after, &before), fields, "{after} {before}");
        }
    }

    #[test]
    fn a_summary_is_compared_with_what_it_shows_of_a_full_record() {
        let full =
            json!({"status": "DRAFT", "answers": [1], "forms": [{"type": "LPA", "more": 1}]});
        let same = json!({"status": "DRAFT", "forms": [{"type": "LPA"}], "owner": null});
        assert!(!differs_from_summary(&full, &same));
        for other in [
            json!({"status": "SUBMITTED"}),
            json!({"forms": [{"type": "LPB"}]}),
            json!({"forms": []}),
            json!({"forms": null}),
            json!({"owner": {}}),
        ] {
            assert!(differs_from_summary(&full, &other), "{other}");
        }
    }
}
