//! The answers of a consignment as received, by question and in display order.

use std::collections::HashMap;

use super::{Answer, Consignment, Question, QuestionId, QuestionType};

/// An answer of a [`Consignment`] with its question, from [`answered_questions`](Consignment::answered_questions).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AnsweredQuestion<'a> {
    /// The question; `None` if the record does not list it.
    pub question: Option<&'a Question>,
    /// The parent question, such as the section of its row.
    pub above: Option<&'a Question>,
    answer: &'a Answer,
}

impl<'a> AnsweredQuestion<'a> {
    /// The id of the question.
    pub fn id(&self) -> Option<&'a QuestionId> {
        self.answer.question_id.as_ref()
    }

    /// The text of the question; empty if it has none.
    pub fn text(&self) -> &'a str {
        let text = self.question.and_then(|question| question.text.as_deref());
        text.unwrap_or_default()
    }

    /// The row inside a REPEATABLE question, from 0.
    pub fn row(&self) -> Option<i64> {
        self.answer.index
    }

    /// The answer as received; for a choice, its wire value.
    pub fn value(&self) -> &'a str {
        self.answer.value.as_deref().unwrap_or_default()
    }

    /// The answer as shown to the user: the display name of a choice, otherwise the value.
    pub fn name(&self) -> &'a str {
        let choices = self.question.map(|question| &question.acceptable_answers);
        let chosen = choices
            .into_iter()
            .flatten()
            .find(|choice| choice.value.as_deref() == Some(self.value()));
        let name = chosen.and_then(|choice| choice.display_name.as_deref());
        name.unwrap_or(self.value())
    }
}

impl Consignment {
    /// The answer to a question, by question id. For a question in rows, returns the answer of the first row.
    ///
    /// Ids mean the same in all consignments: 88 asks about growth hormones. `guide::sources` lists where they were seen.
    ///
    /// ```
    /// use envd_sdk::model::Consignment;
    ///
    /// let record: Consignment = serde_json::from_str(
    ///     r#"{"answers": [{"questionId": "88", "value": "No"},
    ///                     {"questionId": "3", "index": 1, "value": "7"},
    ///                     {"questionId": "3", "index": 0, "value": "18"}]}"#,
    /// )?;
    /// assert_eq!(record.answer("88"), Some("No"));
    /// assert_eq!(record.answer("3"), Some("18"));
    /// assert_eq!(record.answer_in("3", 1), Some("7"));
    /// assert_eq!(record.answer("17"), None);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn answer(&self, question: impl AsRef<str>) -> Option<&str> {
        let answers = self.answers_to(question.as_ref());
        answers.min_by_key(|(row, _)| *row).map(|(_, value)| value)
    }

    /// The answer to a question in a row of a REPEATABLE question, counted from 0. See [`answer`](Self::answer).
    pub fn answer_in(&self, question: impl AsRef<str>, row: i64) -> Option<&str> {
        let mut answers = self.answers_to(question.as_ref());
        let found = answers.find(|(index, _)| *index == Some(row));
        found.map(|(_, value)| value)
    }

    fn answers_to(&self, question: &str) -> impl Iterator<Item = (Option<i64>, &str)> {
        let to =
            move |answer: &&Answer| answer.question_id.as_ref().is_some_and(|id| id == question);
        let answers = self.answers.iter().filter(to);
        answers.filter_map(|answer| Some((answer.index, answer.value.as_deref()?)))
    }

    /// All answers with their questions, in the order in which the service would show them: by question, and row by row within
    /// a REPEATABLE question. Answers to questions that the record does not list follow at the end, in the order received.
    ///
    /// Null answers are omitted. This does not check whether a question applies: a record may contain answers to questions that
    /// no longer apply ([`Questionnaire`](crate::validate::Questionnaire)).
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let record = account.consignment("C-900000101").await?.value;
    /// let mut lines = record.answered_questions().into_iter().map(|answer| {
    ///     let row = answer.row().map_or_else(String::new, |row| format!(" ({})", row + 1));
    ///     format!("{}{row}: {}", answer.text(), answer.name())
    /// });
    /// assert_eq!(lines.next().expect("a line"), "Number of head (1): 24");
    /// # Ok(()) });
    /// ```
    pub fn answered_questions(&self) -> Vec<AnsweredQuestion<'_>> {
        let mut listing = AnswerWalk::default();
        for answer in self.answers.iter().filter(|answer| answer.value.is_some()) {
            let id = answer.question_id.as_ref();
            listing.open.entry(id).or_default().push(answer);
        }
        listing.list(&self.questions, None, false);
        let rest = self.answers.iter().filter(|answer| {
            let open = listing.open.get(&answer.question_id.as_ref());
            open.is_some() && answer.value.is_some()
        });
        let unlisted = rest.map(|answer| AnsweredQuestion {
            question: None,
            above: None,
            answer,
        });
        listing.listed.into_iter().chain(unlisted).collect()
    }
}

/// A traversal of the questions that collects the answers to each.
#[derive(Default)]
struct AnswerWalk<'a> {
    open: HashMap<Option<&'a QuestionId>, Vec<&'a Answer>>,
    listed: Vec<AnsweredQuestion<'a>>,
}

impl<'a> AnswerWalk<'a> {
    /// Collects the answers to these questions and their descendants.
    fn list(&mut self, questions: &'a [Question], above: Option<&'a Question>, in_rows: bool) {
        let mut questions: Vec<&Question> = questions.iter().collect();
        questions.sort_by_key(|question| question.order.unwrap_or(i64::MAX));
        for question in questions {
            // An id that occurs in several places is listed at the first one.
            let answers = question
                .id
                .as_ref()
                .and_then(|id| self.open.remove(&Some(id)));
            let answered = answers
                .into_iter()
                .flatten()
                .map(|answer| AnsweredQuestion {
                    question: Some(question),
                    above,
                    answer,
                });
            self.listed.extend(answered);
            let start = self.listed.len();
            let has_rows = question.question_type == Some(QuestionType::Repeatable);
            self.list(
                &question.child_questions,
                Some(question),
                in_rows || has_rows,
            );
            if let Some(below) = self
                .listed
                .get_mut(start..)
                .filter(|_| has_rows && !in_rows)
            {
                below.sort_by_key(AnsweredQuestion::row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_in_the_order_of_their_questions_and_rows() {
        let record: Consignment = serde_json::from_str(
            r#"{
            "questions": [
                {"id": "17", "order": 30, "text": "Bred?", "acceptableAnswers": [{"displayName": "Ja", "value": "Yes"}], "childQuestions": [
                    {"id": "20", "text": "Held"}]},
                {"id": "9", "text": "Last"},
                {"id": "1", "order": 10, "type": "REPEATABLE", "childQuestions": [
                    {"id": "4", "order": 12, "text": "Breed", "childQuestions": [{"id": "41", "text": "Why"}]},
                    {"id": "3", "order": 11, "text": "Heads"}, {"id": "17"}]}],
            "answers": [
                {"questionId": "99", "value": "unlisted"}, {"questionId": "9", "value": ""}, {"value": "without an id"},
                {"questionId": "20", "value": "less"}, {"questionId": "17", "value": "Yes"}, {"questionId": "8", "value": null},
                {"questionId": "4", "index": 10, "value": "Angus"}, {"questionId": "4", "index": 2, "value": "Mixed"},
                {"questionId": "41", "index": 2, "value": "so"}, {"questionId": "3", "index": 10, "value": "7"},
                {"questionId": "3", "index": 2, "value": "18"}]}"#,
        )
        .unwrap();
        let answered = record.answered_questions();
        let lines = answered.iter().map(|one| {
            let above = one.above.and_then(|above| above.id.as_ref());
            let above = above.map_or("-", QuestionId::as_str);
            format!("{above} {} {:?} {}", one.text(), one.row(), one.name())
        });
        // Question 17 is listed at its first place, outside the rows there.
        let wanted = "1  None Yes|1 Heads Some(2) 18|1 Breed Some(2) Mixed|4 Why Some(2) so|1 Heads Some(10) 7|\
            1 Breed Some(10) Angus|17 Held None less|- Last None |-  None unlisted|-  None without an id";
        assert_eq!(lines.collect::<Vec<_>>().join("|"), wanted);
        assert_eq!(record.answer("3"), Some("18"));
        assert_eq!(record.answer_in("3", 10), Some("7"));
        assert_eq!(record.answer_in("17", 0), None);
        assert_eq!((record.answer("8"), record.answer("9")), (None, Some("")));
        let shown = format!("{answered:?}");
        assert!(!shown.contains("Angus") && !shown.contains("unlisted"));
    }
}
