//! Comments: they have no name of their own when they are sent, so the comments of the consignment are read before and after.

use super::super::entry::Reason;
use super::super::pass::Pass;
use super::super::stored::{Stored, Target};
use super::{Applied, Marked, Reply, Step};
use crate::error::{Error, Result};
use crate::model::{Comment, CommentInput, ConsignmentNumber};

impl Pass<'_> {
    pub(super) async fn comment(&mut self, entry: &Stored) -> Step {
        let (Target::Number(number), Some(text)) = (&entry.target, &entry.comment) else {
            return Ok(true);
        };
        let known = match self.while_held(self.comments(number)).await {
            Ok(known) => known,
            Err(error) => {
                let is_gone = error.is_not_found()
                    && self.while_held(self.walk_once()).await?
                    && !self.outbox.is_number_listed(number).await?;
                if is_gone {
                    return self.attend(entry, Reason::Gone).await;
                }
                return Err(error);
            }
        };
        if entry.is_in_doubt() && entry.has_arrived_as(&known) {
            return self.adopt(entry, None, None).await;
        }
        let marked = self.mark(entry, None, |entry| {
            entry.known = known.iter().map(name).collect();
        });
        match marked.await? {
            Some(Marked::Sending) => {}
            Some(Marked::LostLease) => return Ok(false),
            Some(Marked::Changed) | None => return Ok(true),
        }
        let input = CommentInput::new(number.clone(), text.clone());
        let call = self.outbox.account().create_comment(input);
        let Some(result) = self.send_once(entry, call).await else {
            return Ok(false);
        };
        let applied = result.map(|outcome| Applied {
            status: outcome.http_status(),
            id: None,
            number: None,
            is_submitted: false,
            problems: outcome.problems,
        });
        self.finish(entry, Reply::new(applied)).await
    }

    pub(super) async fn settle_comment(&mut self, entry: &Stored) -> Step {
        let Target::Number(number) = &entry.target else {
            return Ok(true);
        };
        let comments = self.while_held(self.comments(number)).await?;
        if entry.has_arrived_as(&comments) {
            return self.adopt(entry, None, None).await;
        }
        self.not_found(entry).await
    }

    async fn comments(&self, number: &ConsignmentNumber) -> Result<Vec<Comment>> {
        self.requests.add(1);
        let comments = self.outbox.account().comments(number.clone()).await?;
        if !comments.problems.is_empty() {
            let what = "the comments could not be read completely";
            return Err(Error::protocol(what).with_operation("comments"));
        }
        Ok(comments.value.into_iter().collect())
    }
}

impl Stored {
    /// Whether one of the comments is the one that it has sent.
    fn has_arrived_as(&self, comments: &[Comment]) -> bool {
        comments.iter().any(|comment| {
            comment.comment_text == self.comment && !self.known.contains(&name(comment))
        })
    }
}

/// What tells a comment from others.
fn name(comment: &Comment) -> String {
    if let Some(id) = &comment.comment_id {
        id.clone()
    } else {
        let time = comment.created_at.as_ref().map(ToString::to_string);
        format!(
            "{} {}",
            time.unwrap_or_default(),
            comment.comment_text.as_deref().unwrap_or_default()
        )
    }
}
