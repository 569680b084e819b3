//! Questions under questions, down to the last level. GraphQL has no recursion: a document names each level that it asks
//! for, and the last one of ours only shows whether there is another.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::graphql::{Outcome, levels};
use crate::model::Question;

/// More levels than this are refused: the sixth is one more than was ever seen.
const DEEPEST: usize = 33;

impl Client {
    /// Runs a query of ours, with a deeper document as long as its last level comes back with questions.
    pub(super) async fn all_levels<T, F: Future<Output = Result<Outcome<T>>>>(
        &self,
        operation: &'static str,
        run: impl Fn() -> F,
        questions: fn(&T) -> &[Question],
    ) -> Result<Outcome<T>> {
        loop {
            // Before the query, for another call may deepen the document meanwhile.
            let asked = self.question_levels(operation);
            let outcome = run().await?;
            let reached = levels(questions(&outcome.value));
            if asked.is_none_or(|asked| reached <= asked) {
                return Ok(outcome);
            }
            if reached > DEEPEST {
                let what = format!("questions under questions on more than {DEEPEST} levels");
                return Err(Error::protocol(what).with_operation(operation));
            }
            self.deepen(operation, reached);
        }
    }
}
