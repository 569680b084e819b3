//! Which public handles may be shared and cloned, and which futures may be spawned. The compiler checks it.

use std::fmt::Debug;

use envd_sdk::model::ConsignmentInput;
use envd_sync::bank::{Bank, LocalDraft};
use envd_sync::outbox::{
    Decision, Declaration, DeclarationEdit, DeclarationEvents, DeclarationId, NewDeclaration,
    OutboxReport,
};
use envd_sync::replica::{Changes, LocalPage, LocalQuery, LocalRecord, SyncReport};
use envd_sync::store::{MemorySync, SqliteSync};
use envd_sync::{Banks, Error, Outbox, Replica};

const fn is_handle<T: Clone + Debug + Send + Sync + 'static>() {}
const fn is_sent<T: Debug + Send + 'static>() {}

/// A clone is as good as the original.
const _: () = {
    is_handle::<Banks>();
    is_handle::<Outbox>();
    is_handle::<Replica>();
    is_handle::<LocalQuery>();
    is_handle::<MemorySync>();
    is_handle::<SqliteSync>();
    is_handle::<Bank>();
    is_handle::<Declaration>();
    is_handle::<LocalDraft>();
    is_handle::<LocalRecord>();
    is_handle::<OutboxReport>();
    is_handle::<SyncReport>();
};

/// One owner, which may move to another thread.
const _: () = {
    is_sent::<Changes>();
    is_sent::<DeclarationEvents>();
    is_sent::<Error>();
    is_sent::<LocalPage>();
};

fn may_be_spawned<T>(_future: impl Future<Output = T> + Send) {}

#[expect(dead_code, reason = "only the compiler reads it")]
fn futures_may_be_spawned(
    replica: &Replica,
    outbox: &Outbox,
    banks: &Banks,
    feeds: (&mut Changes, &mut DeclarationEvents),
    id: DeclarationId,
    input: ConsignmentInput,
    page: LocalPage,
) {
    let saved: NewDeclaration<'_> = outbox.save(input.clone());
    may_be_spawned(saved.into_future());
    let edited: DeclarationEdit<'_> = outbox.edit(id, input);
    may_be_spawned(edited.into_future());
    may_be_spawned(outbox.submit_saved(id));
    may_be_spawned(outbox.withdraw(id));
    may_be_spawned(outbox.delete(id));
    may_be_spawned(outbox.delete_record("c-1"));
    may_be_spawned(outbox.decide(id, Decision::Discard));
    may_be_spawned(outbox.send());
    may_be_spawned(outbox.send_due());
    may_be_spawned(outbox.declarations());
    may_be_spawned(outbox.history(None));
    may_be_spawned(outbox.with_waiting(page));
    may_be_spawned(replica.sync());
    may_be_spawned(replica.sync_full());
    may_be_spawned(replica.consignment("c-1"));
    may_be_spawned(async { replica.consignments().list().await.is_ok() });
    may_be_spawned(feeds.0.next());
    may_be_spawned(feeds.1.next());
    may_be_spawned(feeds.1.next_state());
    may_be_spawned(banks.refresh());
    may_be_spawned(banks.latest());
    may_be_spawned(banks.drafts());
}
