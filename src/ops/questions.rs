//! The questions of all forms, with their child questions. GraphQL has no recursion, so a document spells out each level. The last
//! level of this crate's documents only shows whether there are more.

use crate::client::Client;
use crate::error::Error;
use crate::graphql::Outcome;
use crate::graphql::generated::{Questions, questions};
use crate::model::{Question, QuestionList};
use crate::send::Call;

/// The levels that our documents read in full. assumed: at most five have been seen.
const LEVELS: usize = 8;

impl Client {
    /// All questions of all forms, as a tree of at most eight levels.
    ///
    /// Source: stated, specification 2.6 and 4.1.
    ///
    /// ```
    /// # test_support::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let questions = client.questions().await?.value.items;
    /// assert!(questions.iter().any(|question| question.read_only.is_some()));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute); [`Protocol`](crate::ErrorKind::Protocol) if there are more than eight levels.
    pub fn questions(&self) -> Call<Outcome<QuestionList>> {
        let read = self.operation::<Questions, _>(questions::Variables {}, |data| data.questions);
        self.all_levels("questions", read, |list| levels(&list.items))
    }

    /// Fails if there are more levels of questions than the document reads.
    pub(super) fn all_levels<T: Send + 'static>(
        &self,
        operation: &'static str,
        read: Call<Outcome<T>>,
        levels: fn(&T) -> usize,
    ) -> Call<Outcome<T>> {
        // profile: operations.document
        let most = if self.is_overridden(operation) {
            usize::MAX
        } else {
            LEVELS
        };
        read.checked(move |outcome| {
            if levels(&outcome.value) <= most {
                return Ok(());
            }
            let what = format!(
                "questions on more than {LEVELS} levels; a document of your own can read more"
            );
            Err(Error::protocol(what).with_operation(operation))
        })
    }
}

/// The depth of a question tree.
pub(super) fn levels(questions: &[Question]) -> usize {
    questions
        .iter()
        .map(|question| 1 + levels(&question.child_questions))
        .max()
        .unwrap_or(0)
}
