//! Which questions are in play: forms, parents, triggers, rows (section 2.6).

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::tree::{children, is_rows, list, on_forms};

/// A question of the forms and the questions above it, outermost first.
pub(super) type Place<'a> = Vec<&'a Value>;

/// The questions of some forms, with the answers given to them.
pub(super) struct Play<'a> {
    forms: &'a Value,
    answers: HashMap<(&'a str, Option<i64>), Vec<&'a str>>,
    /// Where the nodes of an id stand, for triggers that point elsewhere.
    places: HashMap<&'a str, Vec<Place<'a>>>,
}

impl<'a> Play<'a> {
    pub(super) fn new(input: &'a Value, questions: &'a [Value]) -> Self {
        let mut answers: HashMap<_, Vec<_>> = HashMap::new();
        for answer in list(&input["answers"]) {
            if let Some(id) = answer["questionId"].as_str() {
                let value = answer["value"].as_str().unwrap_or_default();
                let row = answer["index"].as_i64();
                answers.entry((id, row)).or_default().push(value);
            }
        }
        let mut play = Self {
            forms: &input["forms"],
            answers,
            places: HashMap::new(),
        };
        play.note_places(questions, &[]);
        play
    }

    fn note_places(&mut self, questions: &'a [Value], above: &[&'a Value]) {
        for question in questions.iter().filter(|q| on_forms(q, self.forms)) {
            let place: Place<'_> = above.iter().copied().chain([question]).collect();
            self.note_places(children(question), &place);
            let id = question["id"].as_str().unwrap_or_default();
            self.places.entry(id).or_default().push(place);
        }
    }

    /// Calls back for each question that applies, in the order of the tree, with its row.
    pub(super) fn walk(
        &self,
        questions: &'a [Value],
        judge: &mut impl FnMut(&'a Value, Option<i64>),
    ) {
        for question in questions {
            self.visit(question, &[], None, judge);
        }
    }

    fn visit(
        &self,
        question: &'a Value,
        above: &[&'a Value],
        row: Option<i64>,
        judge: &mut impl FnMut(&'a Value, Option<i64>),
    ) {
        let place: Place<'_> = above.iter().copied().chain([question]).collect();
        if !on_forms(question, self.forms) || !self.applies(&place, row, &mut Vec::new()) {
            return;
        }
        judge(question, row);
        let rows = if is_rows(question) && row.is_none() {
            let mut rows = BTreeSet::new();
            self.rows_under(question, &mut rows);
            rows.into_iter().map(Some).collect()
        } else {
            vec![row]
        };
        for row in rows {
            for child in children(question) {
                self.visit(child, &place, row, judge);
            }
        }
    }

    /// The rows that some answer below this question names.
    fn rows_under(&self, question: &Value, rows: &mut BTreeSet<i64>) {
        for child in children(question)
            .iter()
            .filter(|q| on_forms(q, self.forms))
        {
            let id = child["id"].as_str();
            let named = self
                .answers
                .keys()
                .filter(|(answered, _)| Some(*answered) == id);
            rows.extend(named.filter_map(|(_, row)| *row));
            self.rows_under(child, rows);
        }
    }

    /// Whether the last question of a place applies: all above it do, and its triggers are met. `asking` holds the
    /// questions that wait for this one: a ring of triggers shows none of its members.
    fn applies(&self, place: &[&'a Value], row: Option<i64>, asking: &mut Vec<&'a Value>) -> bool {
        let Some((question, above)) = place.split_last() else {
            return true;
        };
        if asking
            .iter()
            .any(|waiting| std::ptr::eq(*waiting, *question))
        {
            return false;
        }
        asking.push(question);
        let row = row.filter(|_| above.iter().any(|q| is_rows(q)));
        let yes = self.applies(above, row, asking) && {
            let triggers = list(&question["triggers"]);
            if triggers.is_empty() {
                above.last().is_none_or(|parent| self.opens(parent, row))
            } else {
                // Several values for one question are alternatives; several questions must all agree. assumed
                triggers.iter().all(|trigger| {
                    let source = &trigger["questionId"];
                    let given = self.answers_in_play(source, row, asking);
                    triggers
                        .iter()
                        .filter(|other| other["questionId"] == *source)
                        .filter_map(|other| other["value"].as_str())
                        .any(|wanted| {
                            given
                                .iter()
                                .any(|given| parts(given).any(|part| part == wanted))
                        })
                })
            }
        };
        asking.pop();
        yes
    }

    /// Whether children without triggers show: the parent has an answer, or cannot have one of its own.
    fn opens(&self, parent: &'a Value, row: Option<i64>) -> bool {
        match parent["type"].as_str() {
            Some("DISPLAY" | "REPEATABLE") => true,
            // Answered with an empty text (public).
            Some("MULTIPLE_CHOICE") => !self.values(parent, row).is_empty(),
            _ => self.values(parent, row).iter().any(|v| !v.is_empty()),
        }
    }

    /// The answers to a question, in the row or else outside of all; those of a question that does not apply are none.
    fn answers_in_play(
        &self,
        id: &Value,
        row: Option<i64>,
        asking: &mut Vec<&'a Value>,
    ) -> Vec<&'a str> {
        let places = id.as_str().and_then(|id| self.places.get(id));
        let mut found = Vec::new();
        for place in places.into_iter().flatten() {
            let Some((question, above)) = place.split_last() else {
                continue;
            };
            let row = row.filter(|_| above.iter().any(|q| is_rows(q)));
            if self.applies(place, row, asking) {
                found.extend(self.values(question, row).iter().copied());
            }
        }
        found
    }

    /// The answers to a question in a row, or outside of all.
    pub(super) fn values(&self, question: &'a Value, row: Option<i64>) -> &[&'a str] {
        let id = question["id"].as_str().unwrap_or_default();
        self.answers.get(&(id, row)).map_or(&[], Vec::as_slice)
    }
}

/// An answer as a whole, and what a list of several choices holds.
fn parts(answer: &str) -> impl Iterator<Item = &str> {
    std::iter::once(answer).chain(answer.split(',').map(str::trim))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(id: &str, kind: &str, triggers: &[(&str, &str)], children: Vec<Value>) -> Value {
        let triggers: Vec<Value> = triggers
            .iter()
            .map(|(id, value)| json!({"questionId": id, "value": value}))
            .collect();
        json!({"id": id, "type": kind, "forms": ["F"], "triggers": triggers, "childQuestions": children})
    }

    /// Ids in play, with their rows, for answers `(id, row, value)`.
    fn in_play(questions: &[Value], answers: &[(&str, Option<i64>, &str)]) -> Vec<String> {
        let answers: Vec<Value> = answers
            .iter()
            .map(|(id, row, value)| json!({"questionId": id, "index": row, "value": value}))
            .collect();
        let input = json!({"forms": ["F"], "answers": answers});
        let mut seen = Vec::new();
        Play::new(&input, questions).walk(questions, &mut |question, row| {
            let id = question["id"].as_str().unwrap();
            seen.push(row.map_or(id.to_owned(), |row| format!("{id}.{row}")));
        });
        seen
    }

    #[test]
    fn what_hangs_on_something_hidden_is_hidden() {
        let tree = [question(
            "1",
            "STRING",
            &[],
            vec![question(
                "2",
                "STRING",
                &[("1", "Yes")],
                vec![question("3", "STRING", &[("2", "Yes")], vec![])],
            )],
        )];
        let stale = [("1", None, "No"), ("2", None, "Yes")];
        assert_eq!(in_play(&tree, &stale), ["1"]);
        let live = [("1", None, "Yes"), ("2", None, "Yes")];
        assert_eq!(in_play(&tree, &live), ["1", "2", "3"]);
        assert_eq!(in_play(&tree, &live[..1]), ["1", "2"]);
    }

    #[test]
    fn a_stale_answer_does_not_trigger_elsewhere() {
        let tree = [
            question(
                "1",
                "STRING",
                &[],
                vec![question("2", "STRING", &[("1", "Yes")], vec![])],
            ),
            question("3", "STRING", &[("2", "Yes")], vec![]),
        ];
        assert_eq!(
            in_play(&tree, &[("1", None, "No"), ("2", None, "Yes")]),
            ["1"]
        );
    }

    #[test]
    fn values_of_one_question_are_alternatives_and_questions_must_agree() {
        let triggers = [("1", "A"), ("1", "B"), ("2", "A")];
        let tree = [
            question("1", "STRING", &[], vec![]),
            question("2", "STRING", &[], vec![]),
            question("3", "STRING", &triggers, vec![]),
        ];
        for (first, second, shown) in [
            ("A", "A", true),
            ("B", "A", true),
            ("C", "A", false),
            ("A", "B", false),
        ] {
            let seen = in_play(&tree, &[("1", None, first), ("2", None, second)]);
            assert_eq!(seen.contains(&"3".to_owned()), shown, "{first} {second}");
        }
    }

    #[test]
    fn rows_are_kept_apart_and_look_outside_when_they_must() {
        let tree = [
            question(
                "1",
                "REPEATABLE",
                &[],
                vec![
                    question(
                        "2",
                        "STRING",
                        &[],
                        vec![question("3", "STRING", &[("2", "Yes")], vec![])],
                    ),
                    question("4", "STRING", &[("9", "Yes")], vec![]),
                ],
            ),
            question("9", "STRING", &[], vec![]),
        ];
        let answers = [
            ("2", Some(0), "Yes"),
            ("2", Some(2), "No"),
            ("9", None, "Yes"),
        ];
        assert_eq!(
            in_play(&tree, &answers),
            ["1", "2.0", "3.0", "4.0", "2.2", "4.2", "9"]
        );
        assert_eq!(in_play(&tree, &[]), ["1", "9"]);
    }

    #[test]
    fn a_ring_of_triggers_shows_none_of_its_members() {
        let tree = [
            question("1", "STRING", &[("2", "A")], vec![]),
            question("2", "STRING", &[("1", "A")], vec![]),
            question("3", "STRING", &[("3", "A")], vec![]),
        ];
        assert!(
            in_play(
                &tree,
                &[("1", None, "A"), ("2", None, "A"), ("3", None, "A")]
            )
            .is_empty()
        );
    }

    #[test]
    fn children_without_triggers_show_below_an_answered_parent() {
        let tree = |kind: &str| {
            [question(
                "1",
                kind,
                &[],
                vec![question("2", "STRING", &[], vec![])],
            )]
        };
        assert_eq!(in_play(&tree("STRING"), &[]), ["1"]);
        assert_eq!(in_play(&tree("STRING"), &[("1", None, "x")]), ["1", "2"]);
        assert_eq!(
            in_play(&tree("MULTIPLE_CHOICE"), &[("1", None, "")]),
            ["1", "2"]
        );
        assert_eq!(in_play(&tree("DISPLAY"), &[]), ["1", "2"]);
    }
}
