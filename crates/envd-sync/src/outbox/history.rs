//! The declarations that are confirmed or discarded.

use std::sync::Arc;

use super::declaration::{Declaration, DeclarationId};
use super::outbox::Outbox;
use super::store::{BLOCK, Holder, past_name, record_name};
use crate::error::Result;
use crate::given_instant;
use envd_sdk::model::Timestamp;

/// A page of the history, from [`Outbox::history`].
///
/// See [`Outbox::history`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HistoryPage {
    /// The declarations, the latest number first.
    pub declarations: Vec<Declaration>,
    /// The start of the next page; `None`: this is the last page.
    pub next: Option<DeclarationId>,
}

impl Outbox {
    /// The confirmed and discarded declarations: the latest number first, about a hundred at a time. `before` is
    /// [`next`](HistoryPage::next) of the previous page.
    ///
    /// They are kept until [`prune`](Self::prune) removes them.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let written = outbox.save(input).await?;
    /// outbox.send().await?;
    /// let page = outbox.history(None).await?;
    /// assert_eq!(page.declarations[0].id, written.id);
    /// let history = &page.declarations[0].history;
    /// let events: Vec<_> = history.iter().map(|event| event.event.to_string()).collect();
    /// assert_eq!(events, ["requested", "send_started", "applied"]);
    /// assert!(page.next.is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn history(&self, before: Option<DeclarationId>) -> Result<HistoryPage> {
        self.store().load().await?;
        let head = self.store().head();
        let end = head.last + 1;
        let mut before = before.map_or(end, |id| id.0.min(end));
        loop {
            let Some(last) = before.checked_sub(1).filter(|last| *last >= head.pruned) else {
                return Ok(HistoryPage {
                    declarations: Vec::new(),
                    next: None,
                });
            };
            let block = last / BLOCK;
            let mut found = self.store().past_block(block).await?;
            // A row that is watched for late duplicates is still stored with the open rows.
            let open = self.store().rows().into_iter();
            let open = open.filter(|row| row.is_over() && row.id / BLOCK == block);
            found.extend(open.map(|row| (*row).clone()));
            found.retain(|row| row.id < before);
            found.sort_by_key(|row| row.id);
            before = block * BLOCK;
            if found.is_empty() && before > 0 {
                continue;
            }
            let found = found.into_iter().rev().map(Arc::new);
            let next = Some(DeclarationId(before)).filter(|next| next.0 > head.pruned.max(1));
            return Ok(HistoryPage {
                declarations: found.map(|row| Declaration::of(&row)).collect(),
                next,
            });
        }
    }

    /// Removes the declarations that were written before an instant from the history, and returns their number. While any row searches
    /// for its record, the declarations that created records stay, because the search compares with them.
    ///
    /// The [key](super::NewDeclaration::key) of a removed declaration stays taken: a later call with it is an error, and creates no
    /// second declaration.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # outbox.save(input).await?;
    /// # outbox.send().await?;
    /// assert_eq!(outbox.prune("2020-01-01T00:00:00Z").await?, 0);
    /// assert_eq!(outbox.history(None).await?.declarations.len(), 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, some declarations may have been removed, and their number is lost. The next call removes the rest.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when the instant cannot be read, and nothing is removed;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn prune(&self, before: impl Into<Timestamp>) -> Result<u64> {
        let before = given_instant(&before.into(), "prune")?;
        let store = self.store();
        store.load().await?;
        let head = store.head();
        let mut removed = 0;
        let mut all_before = true;
        for block in head.pruned / BLOCK..=head.last / BLOCK {
            let mut draft = self.draft();
            let mut past = store.past_block(block).await?;
            // A search compares new records with these rows.
            let is_searched_for = store.first_needed().is_some();
            let found = past.len();
            past.retain(|row| {
                row.shown.created_at < before
                    && !(is_searched_for && row.record.is_some() && !row.is_named)
            });
            for row in &past {
                draft.documents.push((past_name(row.id), None));
                let records = row.records().chain(&row.duplicates);
                for record in records.filter(|_| !is_searched_for) {
                    // Keep the entry of a record that the replica does not list: if it is listed later, a search must not take it for
                    // the record of another row.
                    let is_listed = self.replica().consignment(record.as_str()).await?.is_some();
                    let holder = store.holder(record, 0).await?;
                    let is_its_own = matches!(holder, Some(Holder::Row(one)) if one.id == row.id);
                    if is_listed && is_its_own {
                        draft.documents.push((record_name(record), None));
                    }
                }
            }
            let is_open = store.rows().iter().any(|row| row.id / BLOCK == block);
            let is_full = (block + 1) * BLOCK <= draft.head.last + 1;
            all_before &= past.len() == found && !is_open && is_full;
            if all_before {
                draft.head.pruned = (block + 1) * BLOCK;
            }
            // If another process was faster, the next call removes the rest.
            if !store.commit(draft).await? {
                return Ok(removed);
            }
            removed += past.len() as u64;
        }
        Ok(removed)
    }
}
