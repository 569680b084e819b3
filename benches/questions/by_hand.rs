//! A checker of such lists as one writes it by hand, without rows, stale answers and rings.

use std::collections::HashMap;

use envd_sdk::model::{AnswerInput, FormType, Question, QuestionId, ValidatorType};

/// How many findings there are.
pub(crate) fn check(questions: &[Question], forms: &[FormType], answers: &[AnswerInput]) -> usize {
    let answers = answers.iter().filter_map(|answer| {
        let id = answer.question_id.value()?.as_str();
        Some((id, answer.value.value()?.as_str()))
    });
    let answers = answers.collect::<HashMap<_, _>>();
    questions
        .iter()
        .map(|question| check_one(question, forms, &answers))
        .sum()
}

fn check_one(question: &Question, forms: &[FormType], answers: &HashMap<&str, &str>) -> usize {
    let is_on_forms = question.forms.iter().any(|form| forms.contains(form));
    let is_met = question.triggers.iter().all(|trigger| {
        let source = trigger
            .question_id
            .as_ref()
            .and_then(|id| answers.get(id.as_str()));
        source.copied() == trigger.value.as_deref()
    });
    if !is_on_forms || !is_met {
        return 0;
    }
    let id = question.id.as_ref().map_or("", |id| id.as_str());
    let mut choices = question.acceptable_answers.iter();
    let mut validators = question.validators.iter();
    let is_wrong = if let Some(answer) = answers.get(id) {
        !question.acceptable_answers.is_empty()
            && !choices.any(|choice| choice.value.as_deref() == Some(answer))
    } else {
        validators.any(|validator| validator.validator_type == Some(ValidatorType::Required))
    };
    let children = question.child_questions.iter();
    usize::from(is_wrong)
        + children
            .map(|child| check_one(child, forms, answers))
            .sum::<usize>()
}

/// A list in the order of its walk, with the ids as numbers.
pub(crate) struct Prepared<'a> {
    places: HashMap<&'a str, usize>,
    questions: Vec<PreparedQuestion<'a>>,
}

struct PreparedQuestion<'a> {
    forms: &'a [FormType],
    /// The question and the answer of each trigger.
    triggers: Vec<(Option<usize>, Option<&'a str>)>,
    choices: Vec<&'a str>,
    is_required: bool,
    /// The place after its last child.
    end: usize,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(list: &'a [Question]) -> Self {
        let mut prepared = Self {
            places: HashMap::new(),
            questions: Vec::new(),
        };
        let mut walk = Vec::new();
        collect(list, &mut walk);
        let ids = walk.iter().enumerate();
        let ids =
            ids.filter_map(|(place, (question, _))| Some((question.id.as_ref()?.as_str(), place)));
        prepared.places = ids.collect();
        let places = &prepared.places;
        let prepare = |(question, end): (&'a Question, usize)| PreparedQuestion {
            forms: &question.forms,
            triggers: question
                .triggers
                .iter()
                .map(|trigger| {
                    let id = trigger.question_id.as_ref();
                    let place = id.and_then(|id| places.get(id.as_str()).copied());
                    (place, trigger.value.as_deref())
                })
                .collect(),
            choices: question
                .acceptable_answers
                .iter()
                .filter_map(|choice| choice.value.as_deref())
                .collect(),
            is_required: question
                .validators
                .iter()
                .any(|validator| validator.validator_type == Some(ValidatorType::Required)),
            end,
        };
        prepared.questions = walk.into_iter().map(prepare).collect();
        prepared
    }

    /// How many findings there are.
    pub(crate) fn check(&self, forms: &[FormType], answers: &[AnswerInput]) -> usize {
        let mut given = vec![None; self.questions.len()];
        for answer in answers {
            let id = answer.question_id.value().map(QuestionId::as_str);
            if let Some(place) = id.and_then(|id| self.places.get(id)) {
                given[*place] = answer.value.value().map(String::as_str);
            }
        }
        let mut at = 0;
        let mut findings = 0;
        while let Some(question) = self.questions.get(at) {
            let is_met = |(source, value): &(Option<usize>, Option<&str>)| {
                source.and_then(|source| given[source]) == *value
            };
            let is_on_forms = question.forms.iter().any(|form| forms.contains(form));
            if !is_on_forms || !question.triggers.iter().all(is_met) {
                at = question.end;
                continue;
            }
            let is_wrong = match given[at] {
                Some(answer) => !question.choices.is_empty() && !question.choices.contains(&answer),
                None => question.is_required,
            };
            findings += usize::from(is_wrong);
            at += 1;
        }
        findings
    }
}

/// Each question before its children, with the place after its last child.
fn collect<'a>(list: &'a [Question], walk: &mut Vec<(&'a Question, usize)>) {
    for question in list {
        let place = walk.len();
        walk.push((question, 0));
        collect(&question.child_questions, walk);
        walk[place].1 = walk.len();
    }
}
