//! Replies that can be given again: a query depends on its text, on who asks, and on records that only mutations change.

use std::collections::HashMap;

use crate::fake::reply::Reply;
use crate::fake::user::User;

/// Replies to queries since the last change.
#[derive(Default)]
pub(super) struct Replies(HashMap<User, HashMap<Vec<u8>, Reply>>);

/// Clients ask the same few questions again and again; a walk through all pages needs no memory.
const KEPT: usize = 256;

impl Replies {
    pub(super) fn get(&self, user: User, body: &[u8]) -> Option<Reply> {
        self.0.get(&user)?.get(body).cloned()
    }

    pub(super) fn keep(&mut self, user: User, body: &[u8], reply: &Reply) {
        let known = self.0.entry(user).or_default();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(body.to_vec(), reply.clone());
    }

    /// Something changed.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}
