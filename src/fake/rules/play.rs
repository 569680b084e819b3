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
    /// The same, whatever the row.
    anywhere: HashMap<&'a str, Vec<&'a str>>,
    /// Where the nodes of an id stand, for triggers that point elsewhere.
    places: HashMap<&'a str, Vec<Place<'a>>>,
}

impl<'a> Play<'a> {
    pub(super) fn new(input: &'a Value, questions: &'a [Value]) -> Self {
        let mut answers: HashMap<_, Vec<_>> = HashMap::new();
        let mut anywhere: HashMap<_, Vec<_>> = HashMap::new();
        for answer in list(&input["answers"]) {
            if let Some(id) = answer["questionId"].as_str() {
                let value = answer["value"].as_str().unwrap_or_default();
                let row = answer["index"].as_i64();
                answers.entry((id, row)).or_default().push(value);
                anywhere.entry(id).or_default().push(value);
            }
        }
        let mut play = Self {
            forms: &input["forms"],
            answers,
            anywhere,
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

    /// Calls back for each question that applies, in the order of the tree, with its row and its answers.
    pub(super) fn walk(
        &self,
        questions: &'a [Value],
        judge: &mut impl FnMut(&'a Value, Option<i64>, &[&'a str]),
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
        judge: &mut impl FnMut(&'a Value, Option<i64>, &[&'a str]),
    ) {
        let place: Place<'_> = above.iter().copied().chain([question]).collect();
        if !on_forms(question, self.forms) || !self.applies(&place, row, &mut Vec::new()) {
            return;
        }
        judge(question, row, self.values(&place, row));
        let rows = if is_rows(question) && group(above).is_none() {
            self.rows_under(question)
        } else {
            BTreeSet::from([row])
        };
        for row in rows {
            for child in children(question) {
                self.visit(child, &place, row, judge);
            }
        }
    }

    /// The rows that some answer below this question names. The samples show answers without an index (2.4): those
    /// make a row too. assumed
    fn rows_under(&self, question: &Value) -> BTreeSet<Option<i64>> {
        let mut rows = BTreeSet::new();
        for child in children(question)
            .iter()
            .filter(|q| on_forms(q, self.forms))
        {
            let id = child["id"].as_str();
            let answers = self.answers.keys();
            let named = answers.filter(|(answered, _)| Some(*answered) == id);
            rows.extend(named.map(|(_, row)| *row));
            rows.extend(self.rows_under(child));
        }
        rows
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
        let row = row.filter(|_| group(above).is_some());
        let yes = self.applies(above, row, asking) && self.has_row(above, row) && {
            let triggers = list(&question["triggers"]);
            if triggers.is_empty() {
                above.is_empty() || self.opens(above, row)
            } else {
                // Several values for one question are alternatives; several questions must all agree. assumed
                triggers.iter().all(|trigger| {
                    let source = &trigger["questionId"];
                    let given = self.answers_in_play(source, place, row, asking);
                    triggers
                        .iter()
                        .filter(|other| other["questionId"] == *source)
                        .filter_map(|other| other["value"].as_str())
                        // An empty text is no answer.
                        .any(|wanted| !wanted.is_empty() && given.contains(&wanted))
                })
            }
        };
        asking.pop();
        yes
    }

    /// Whether the row is there below the last question of a place: rows inside rows are where something is answered.
    fn has_row(&self, place: &[&'a Value], row: Option<i64>) -> bool {
        match place.split_last() {
            Some((inner, above)) if is_rows(inner) && group(above).is_some() => {
                self.rows_under(inner).contains(&row)
            }
            _ => true,
        }
    }

    /// Whether children without triggers show: the parent, last of its place, has an answer, or cannot have one of its own.
    fn opens(&self, parent: &[&'a Value], row: Option<i64>) -> bool {
        let values = self.values(parent, row);
        match parent.last().and_then(|parent| parent["type"].as_str()) {
            Some("DISPLAY" | "REPEATABLE") => true,
            // Answered with an empty text (public).
            Some("MULTIPLE_CHOICE") => !values.is_empty(),
            _ => values.iter().any(|v| !v.is_empty()),
        }
    }

    /// The answers to a question as one in a place sees them: those of its row if there are any, else all outside of its
    /// rows. Those of a question that does not apply are none. assumed
    fn answers_in_play(
        &self,
        id: &Value,
        seen_from: &[&'a Value],
        row: Option<i64>,
        asking: &mut Vec<&'a Value>,
    ) -> Vec<&'a str> {
        let places = id.as_str().and_then(|id| self.places.get(id));
        let here = group(&seen_from[..seen_from.len() - 1]);
        let (mut in_row, mut elsewhere) = (Vec::new(), Vec::new());
        for place in places.into_iter().flatten() {
            let there = group(&place[..place.len() - 1]);
            let is_same = |group: &Value| here.is_some_and(|here| std::ptr::eq(here, group));
            let (found, rows) = match there {
                Some(group) if is_same(group) => (&mut in_row, BTreeSet::from([row])),
                Some(group) => (&mut elsewhere, self.rows_under(group)),
                None => (&mut elsewhere, BTreeSet::from([None])),
            };
            for row in rows {
                if self.applies(place, row, asking) {
                    let several = place.last().is_some_and(|q| q["type"] == "MULTIPLE_CHOICE");
                    let values = self.values(place, row).iter();
                    found.extend(values.flat_map(|value| parts(value, several)));
                }
            }
        }
        if in_row.is_empty() { elsewhere } else { in_row }
    }

    /// The answers to the last question of a place: in a row, or, outside of rows, whatever their index.
    fn values(&self, place: &[&'a Value], row: Option<i64>) -> &[&'a str] {
        let Some((question, above)) = place.split_last() else {
            return &[];
        };
        let id = question["id"].as_str().unwrap_or_default();
        let values = match group(above) {
            Some(_) => self.answers.get(&(id, row)),
            None => self.anywhere.get(id),
        };
        values.map_or(&[], Vec::as_slice)
    }
}

/// The question whose rows those below these questions belong to.
fn group<'a>(above: &[&'a Value]) -> Option<&'a Value> {
    above.iter().copied().find(|question| is_rows(question))
}

/// An answer as a whole, and what a list of several choices holds.
fn parts(answer: &str, several: bool) -> impl Iterator<Item = &str> {
    let listed = answer.split(',').map(str::trim);
    let listed = listed.take(if several { usize::MAX } else { 0 });
    std::iter::once(answer).chain(listed)
}

#[cfg(test)]
mod tests;
