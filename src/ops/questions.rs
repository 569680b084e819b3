//! The questions of all forms, and those under them down to the last level. GraphQL has no recursion: a document names each
//! level that it reads, and the last one of ours only shows whether there is another.

use crate::client::Client;
use crate::error::Error;
use crate::graphql::generated::{Questions, questions};
use crate::graphql::{Outcome, levels};
use crate::model::QuestionList;
use crate::send::Call;

/// More levels than this are refused: the sixth is one more than was ever seen.
const DEEPEST: usize = 33;

impl Client {
    /// All questions of all forms, as a tree. The first request reads five levels; a second one reads more when the fifth has children.
    ///
    /// Source: stated, specification 2.6 and 4.1.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// let questions = client.questions().await?.value.items;
    /// assert!(questions.iter().any(|question| question.read_only.is_some()));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub fn questions(&self) -> Call<Outcome<QuestionList>> {
        let read = |client: &Self| {
            client.operation::<Questions, _>(questions::Variables {}, |data| data.questions)
        };
        self.all_levels("questions", read, |list| levels(&list.items))
    }

    /// Runs a query of ours, again with a deeper document as long as its last level comes back with questions.
    pub(super) fn all_levels<T: Send + 'static>(
        &self,
        operation: &'static str,
        read: impl Fn(&Self) -> Call<Outcome<T>> + Send + 'static,
        levels: fn(&T) -> usize,
    ) -> Call<Outcome<T>> {
        let client = self.clone();
        // Before the query, since another call may deepen the document meanwhile.
        let mut requested = self.question_levels(operation);
        read(self).then(move |outcome, settings| {
            // In a box, as it stays in the future while a deeper document is sent.
            let mut outcome = Box::new(outcome);
            let client = client.with_settings(settings);
            async move {
                loop {
                    let reached = levels(&outcome.value);
                    if requested.is_none_or(|requested| reached <= requested) {
                        return Ok(*outcome);
                    }
                    if reached > DEEPEST {
                        let what =
                            format!("questions under questions on more than {DEEPEST} levels");
                        return Err(Error::protocol(what).with_operation(operation));
                    }
                    client.deepen(operation, reached);
                    requested = client.question_levels(operation);
                    *outcome = read(&client).await?;
                }
            }
        })
    }
}
