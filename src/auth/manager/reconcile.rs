//! Brings memory in line with what the store holds.

use std::sync::Arc;

use super::Event;
use super::shared::{Held, Shared, State, Stop};
use crate::auth::failure::{auth, reauth};
use crate::auth::{TokenSet, Versioned};
use crate::error::AuthProblem;

impl Shared {
    /// Other processes may have renewed the tokens, logged the user out, or another one in.
    pub(super) fn reconcile(&self, epoch: u64, stored: Option<Versioned>) -> Result<(), Stop> {
        let mut state = self.state_in(epoch)?;
        match stored {
            None => self.without_record(&mut state),
            Some(stored) => self.with_record(&mut state, stored),
        }
    }

    fn without_record(&self, state: &mut State) -> Result<(), Stop> {
        if let Some(error) = &state.dead {
            return Err(Stop::Failed(error.clone()));
        }
        match &state.held {
            // Never stored yet: the store has nothing to say about them.
            Some(held) if held.version.is_none() => Ok(()),
            Some(_) => {
                state.held = None;
                state.account = None;
                self.snapshot.store(None);
                self.emit(Event::LoggedOut);
                Err(Stop::Failed(auth(AuthProblem::NoTokens)))
            }
            None => Err(Stop::Failed(auth(AuthProblem::NoTokens))),
        }
    }

    fn with_record(&self, state: &mut State, stored: Versioned) -> Result<(), Stop> {
        let Versioned { version, record } = stored;
        let doubtful = record.intent.is_some();
        if let Some(held) = &mut state.held {
            let same = same_tokens(&held.tokens, &record.tokens);
            // Not stored yet and newer: they are to replace what is there.
            if same || (!held.saved && record.tokens.generation <= held.tokens.generation) {
                held.version = Some(version);
                held.doubtful |= same && doubtful;
                return match &state.dead {
                    Some(error) => Err(Stop::Failed(error.clone())),
                    None => Ok(()),
                };
            }
        }
        // Nobody may be handed the tokens of another user: that takes a login or logout here.
        let other = |account: &String| record.tokens.subject.as_ref().is_some_and(|s| s != account);
        if state.account.as_ref().is_some_and(other) {
            let error = reauth("another user has logged in under the account's key");
            if state.dead.replace(error.clone()).is_none() {
                self.emit(Event::ReauthRequired {
                    error: error.clone(),
                });
            }
            return Err(Stop::Failed(error));
        }
        let first = state.held.is_none();
        let generation = record.tokens.generation;
        let held = Held {
            tokens: Arc::new(record.tokens),
            version: Some(version),
            saved: true,
            doubtful,
        };
        self.publish(state, held)?;
        state.pause = None;
        state.failures = 0;
        if !first {
            tracing::debug!(generation, "tokens of another process adopted");
            self.emit(Event::Adopted { generation });
        }
        Ok(())
    }
}

fn same_tokens(a: &TokenSet, b: &TokenSet) -> bool {
    let refresh = |set: &TokenSet| set.refresh_token.clone().unwrap_or_default();
    a.access_token.matches(b.access_token.expose()) && refresh(a).matches(refresh(b).expose())
}
