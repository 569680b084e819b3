//! Walks over the list, page by page, each page in one write.

use std::collections::{BTreeSet, HashMap, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::value::RawValue;

use super::commit::Draft;
use super::listed_page::{HeldRecord, ListedPage, needs_read};
use super::round::Round;
use super::sync_report::{SyncMode, WalkProgress};
use super::sync_state::Walk;
use super::{Depth, RecordRead, is_answer};
use crate::error::{Error, Kind, Result};
use crate::model::Position;
use crate::send::pages::Pager;
use crate::sync::store::StoreError;

/// How many pages in a row may have no new record. A service that filters after paging may send some.
const EMPTY_PAGES: u32 = 20;

/// The records that were read once more; `None` for one that the service does not show.
type Reads = HashMap<String, Option<Box<RawValue>>>;

impl Round<'_> {
    /// Takes a walk to its end; `None` when another process has gone on with it.
    pub(super) async fn walk(&mut self, mut walk: Walk) -> Result<Option<Walk>> {
        // What an incremental walk has listed without a write, for there was nothing new.
        let mut unmarked = HashSet::new();
        let (mut restarted, mut empty) = (false, 0);
        let mut pager = self.pager_of(&walk);
        loop {
            let page = match next_page(&mut pager, empty).await {
                Ok(page) => page,
                Err(error)
                    if !restarted && walk.position != Position::start() && is_answer(&error) =>
                {
                    self.report.restarts += 1;
                    let problem = format!("the walk started anew: {error}");
                    self.report.add_problem(problem);
                    let begun = self.replica.now();
                    walk = Walk {
                        from: walk.from,
                        horizon: walk.horizon,
                        ..self.base.value.begin(walk.mode, walk.why, begun)
                    };
                    unmarked.clear();
                    (restarted, empty) = (true, 0);
                    pager = self.pager_of(&walk);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let listed_before = walk.distinct();
            let Some(next) = self.take(&walk, &page, &mut unmarked).await? else {
                return Ok(None);
            };
            walk = next;
            if let Some(report) = &self.replica.on_progress {
                report(&WalkProgress {
                    mode: walk.mode,
                    pages: walk.pages,
                    records: walk.seen,
                    estimate: walk.total.and_then(|total| total.try_into().ok()),
                });
            }
            if page.next.is_none() {
                return Ok(Some(walk));
            }
            let has_new = walk.distinct() > listed_before;
            empty = if has_new { 0 } else { empty + 1 };
        }
    }

    fn pager_of(&self, walk: &Walk) -> Pager<Box<RawValue>> {
        let pager = self.pager(walk.from.as_ref());
        pager.look_ahead(1).start_at(walk.position.clone())
    }

    /// Writes what a page changes, unless it is nothing; `None`: another process has gone on with the walk.
    async fn take(
        &mut self,
        walk: &Walk,
        page: &ListedPage,
        unmarked: &mut HashSet<String>,
    ) -> Result<Option<Walk>> {
        let mut reads = Reads::new();
        loop {
            let mut held = self.held(page).await?;
            self.read_changed(page, walk.mode, &held, &mut reads)
                .await?;
            let (base, mut walk) = (self.base.value.clone(), walk.clone());
            let mut draft = Draft::over(&base);
            page.apply(&mut draft, &mut walk, &mut held, &reads, unmarked);
            let state = &mut draft.state;
            state.walks = state.walks.max(walk.number);
            let is_last = page.next.is_none();
            if is_last {
                state.end(&walk);
            } else {
                state.walk = Some(walk.clone());
            }
            let is_idle = walk.mode == SyncMode::Incremental
                && base.walk.is_none()
                && draft.batch.rows.is_empty()
                && (!is_last || draft.state.says_the_same(&base));
            if is_idle {
                unmarked.extend(page.records.iter().map(|listed| listed.id.clone()));
                self.count(page);
                return Ok(Some(walk));
            }
            if let Some((_, seen)) = &mut draft.batch.seen {
                seen.extend(unmarked.iter().cloned());
            }
            if self.commit(draft).await? {
                unmarked.clear();
                self.count(page);
                return Ok(Some(walk));
            }
            // Perhaps something else was written, such as a witness or the name of a consumer.
            if !self.base.value.is_at_the_same_page(&base) {
                return Ok(None);
            }
        }
    }

    /// What the copy holds of the records of a page.
    async fn held(&self, page: &ListedPage) -> Result<HashMap<String, HeldRecord>, StoreError> {
        let ids: Vec<String> = page.records.iter().map(|one| one.id.clone()).collect();
        let rows = self.replica.store.rows(&ids).await?.into_iter();
        rows.map(|row| Ok((row.id.clone(), HeldRecord::new(row)?)))
            .collect()
    }

    /// Reads the new and changed records of a page once more, if all fields are copied.
    async fn read_changed(
        &mut self,
        page: &ListedPage,
        mode: SyncMode,
        held: &HashMap<String, HeldRecord>,
        reads: &mut Reads,
    ) -> Result<()> {
        if self.replica.depth != Depth::Full {
            return Ok(());
        }
        let unread = page.records.iter().filter(|listed| {
            let before = held.get(&listed.id).map(|held| &held.record);
            !reads.contains_key(&listed.id) && needs_read(listed, before, mode)
        });
        let ids: BTreeSet<String> = unread.map(|listed| listed.id.clone()).collect();
        let this = &*self;
        let results = stream::iter(ids).map(|id| this.read_whole(id));
        let at_once = self.replica.reads_at_once;
        let results: Vec<_> = results.buffer_unordered(at_once).try_collect().await?;
        for (id, record) in results {
            if record.is_none() {
                let problem = format!(
                    "the service lists the record {id} and does not show it with all fields"
                );
                self.report.add_problem(problem);
            }
            reads.insert(id, record);
        }
        Ok(())
    }

    async fn read_whole(&self, id: String) -> Result<(String, Option<Box<RawValue>>)> {
        match self.read_record(&id).await {
            RecordRead::Found(read) | RecordRead::Gone(Some(read)) => Ok((id, Some(read.json))),
            RecordRead::Unclear(error) if !is_answer(&error) => Err(error),
            RecordRead::Gone(None) | RecordRead::Unclear(_) => Ok((id, None)),
        }
    }

    fn count(&mut self, page: &ListedPage) {
        self.report.pages += 1;
        self.report.seen += page.records.len() as u64;
        for reason in &page.unreadable {
            self.report.add_problem(reason.clone());
        }
    }
}

async fn next_page(pager: &mut Pager<Box<RawValue>>, empty: u32) -> Result<ListedPage> {
    let stalled = |reason| Err(Error::new(Kind::Stalled(reason)).with_operation("consignments"));
    if empty >= EMPTY_PAGES {
        return stalled("more than 20 pages in a row had no new record, and another is announced");
    }
    let page = pager.next_page().await?;
    // OK because a list without records has one page, and none is requested after the last one.
    let page = page.ok_or_else(|| Error::protocol("the list of consignments has no page"))?;
    match page.stalled {
        Some(reason) => stalled(reason),
        None => Ok(ListedPage::new(page)),
    }
}
