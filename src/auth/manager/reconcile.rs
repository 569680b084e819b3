//! Brings memory in line with what the store holds.

use std::sync::Arc;

use super::Event;
use super::shared::{ForeignMark, Held, Shared, State, Stop, StoreRead};
use crate::auth::failure::{auth, reauth};
use crate::auth::{Record, TokenSet, Version, Versioned};
use crate::error::{AuthProblem, Error};

impl Shared {
    /// Other processes may have renewed the tokens, logged the user out, or another one in.
    pub(super) fn reconcile(&self, epoch: u64, read: StoreRead) -> Result<(), Stop> {
        let mut state = self.state_in(epoch)?;
        if read.writes != state.writes {
            // Read before a write of this manager: out of date.
            return Ok(());
        }
        match read.stored {
            None => self.without_record(&mut state),
            Some(stored) => self.with_record(&mut state, stored),
        }
    }

    fn without_record(&self, state: &mut State) -> Result<(), Stop> {
        state.mark = None;
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
        let owner = record.intent.map(|intent| intent.owner);
        let foreign = owner.is_some_and(|owner| owner != Some(self.owner(state.epoch)));
        if let Some(held) = &mut state.held {
            let same = same_tokens(&held.tokens, &record.tokens);
            if same || replaces(held, &record) {
                held.version = Some(version);
                if same && held.saved && owner.is_none() {
                    // The owner cleared its mark: the refresh token was not used.
                    held.doubtful = false;
                }
                held.doubtful |= same && foreign;
                self.note_mark(state, version, same && foreign);
                return match &state.dead {
                    Some(error) => Err(Stop::Failed(error.clone())),
                    None => Ok(()),
                };
            }
        }
        // Nobody may be handed the tokens of another user: that takes a login or logout here.
        let other = |account: &String| record.tokens.subject.as_ref().is_some_and(|s| s != account);
        if state.account.as_ref().is_some_and(other) {
            state.held = None;
            self.snapshot.store(None);
            return Err(self.declare_dead(
                state,
                reauth("another user has logged in under the account's key"),
            ));
        }
        self.note_mark(state, version, foreign);
        if let Some(ended) = record.ended {
            if let Some(held) = &mut state.held {
                // The access token in use serves on until it expires.
                held.version = Some(version);
                held.saved = true;
            }
            return Err(self.declare_dead(state, reauth(ended.reason())));
        }
        let first = state.held.is_none();
        let generation = record.tokens.generation;
        let held = Held {
            tokens: Arc::new(record.tokens),
            version: Some(version),
            saved: true,
            doubtful: owner.is_some(),
            base: None,
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

    /// Remembers since when the mark of another process is read on this version of the record.
    fn note_mark(&self, state: &mut State, version: Version, foreign: bool) {
        if !foreign {
            state.mark = None;
        } else if state.mark.is_none_or(|mark| mark.version != version) {
            let since = self.clock().boot();
            state.mark = Some(ForeignMark { version, since });
        }
    }

    fn declare_dead(&self, state: &mut State, error: Error) -> Stop {
        if state.dead.replace(error.clone()).is_none() {
            self.emit(Event::ReauthRequired {
                error: error.clone(),
            });
        }
        Stop::Failed(error)
    }
}

/// The generation as well: a provider may answer with the same tokens, of a new lifetime.
fn same_tokens(a: &TokenSet, b: &TokenSet) -> bool {
    let same_access = a.access_token.matches(b.access_token.expose());
    a.generation == b.generation && same_access && same_refresh_token(a, b)
}

fn same_refresh_token(a: &TokenSet, b: &TokenSet) -> bool {
    let token = |set: &TokenSet| set.refresh_token.clone().unwrap_or_default();
    token(a).matches(token(b).expose())
}

/// Whether held tokens that are not stored yet belong in the place of this record.
fn replaces(held: &Held, record: &Record) -> bool {
    let stored = &record.tokens;
    match &held.base {
        _ if held.saved => false,
        // Those of a login replace whatever was there before it.
        None => stored.generation <= held.tokens.generation,
        // Those of a refresh replace what they were made from, and nothing that a login elsewhere has stored since.
        Some(base) => {
            let unused = record.ended.is_some() || same_refresh_token(stored, base);
            stored.generation == base.generation && unused
        }
    }
}
