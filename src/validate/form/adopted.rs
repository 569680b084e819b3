//! A form with another list of questions.

use std::collections::HashSet;

use super::change::differences;
use super::{Change, Form, FormState, Item};
use crate::model::ConsignmentInput;
use crate::validate::question_tree::ItemKind;
use crate::validate::{QuestionRef, Questionnaire};

impl Questionnaire {
    /// A form with this list of questions in place of its own, such as a newer list of the service.
    ///
    /// `input` is the consignment that the form is to have: that of the form, or without the answers that this list has no question
    /// for ([`explain_answers`](Self::explain_answers)), which would be sent as answers to unknown questions. Rows and
    /// [skipped](Form::skip) questions stay as far as this list has them, also rows in which the input has no answer left. Edits
    /// before it cannot be undone.
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
    /// use envd_sdk::validate::{Context, Explanation, Questionnaire};
    ///
    /// let list = |questions: &str| -> Result<Questionnaire, serde_json::Error> {
    ///     let questions: Vec<Question> = serde_json::from_str(questions)?;
    ///     Ok(Questionnaire::prepare(&questions))
    /// };
    /// let older = list(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"},
    ///                      {"id": "23", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
    /// let newer = list(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
    /// # let context = Context::on(Day::parse("2026-11-20")?);
    /// # let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let mut form = older.form(&input, &context);
    /// form.answer("17", "Yes")?;
    /// form.answer("23", "No")?;
    /// let saved = form.save();
    ///
    /// // Later, with the newer list.
    /// let form = older.open(saved, &context)?;
    /// let mut input = form.save().into_input();
    /// let explained = newer.explain_answers(&input);
    /// let mut known = explained.iter().map(|answer| answer.explanation != Explanation::Unknown);
    /// if let Some(answers) = input.answers.value_mut() {
    ///     answers.retain(|_| known.next() == Some(true));
    /// }
    /// let form = newer.adopt(&form, input);
    /// assert_eq!(form.save().content_hash(), newer.content_hash());
    /// assert_eq!(form.to_input().answers().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias("migrate", "upgrade"))]
    pub fn adopt(&self, form: &Form, input: ConsignmentInput) -> Form {
        let state = FormState {
            input,
            ..form.state.clone()
        };
        let adopted = Form::new(self.clone(), state, form.context.clone());
        let (before, after) = (form.items(), adopted.items());
        let mut sections = HashSet::new();
        let mut rows = HashSet::new();
        for item in after.iter().flat_map(Item::descendants) {
            if item.kind == ItemKind::Rows {
                sections.insert(&item.question);
                rows.extend(item.rows.iter().map(|row| (&item.question, row.index)));
            }
        }
        let mut state = adopted.state.clone();
        for item in before.iter().flat_map(Item::descendants) {
            let lost = item.rows.iter().map(|row| (&item.question, row.index));
            let lost = lost.filter(|row| sections.contains(row.0) && !rows.contains(row));
            state
                .opened
                .extend(lost.map(|(section, row)| (section.id.clone(), row)));
        }
        Form::new(adopted.questionnaire, state, adopted.context)
    }
}

impl Form {
    /// What differs from another form, such as the one that this one was [adopted](Questionnaire::adopt) from, as an edit would
    /// return it.
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
    /// use envd_sdk::validate::{Context, Questionnaire};
    ///
    /// let json = r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#;
    /// let newer: Vec<Question> = serde_json::from_str(json)?;
    /// # let context = Context::on(Day::parse("2026-11-20")?);
    /// # let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let before = Questionnaire::prepare(&[]).form(&input, &context);
    /// let after = Questionnaire::prepare(&newer).adopt(&before, input);
    /// assert_eq!(after.changes_since(&before).appeared[0].id, "17");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn changes_since(&self, before: &Self) -> Change {
        let applied = |form: &Self| -> Vec<QuestionRef> {
            let tree = &form.questionnaire.tree;
            let instances = form.judged.applied.instances.iter();
            instances
                .map(|one| QuestionRef::new(&tree[one.question].id, one.row))
                .collect()
        };
        let (vanished, appeared) = differences(&applied(before), &applied(self));
        let (removed, added) = differences(&before.report().findings, &self.report().findings);
        Change {
            appeared,
            vanished,
            added,
            removed,
        }
    }
}
