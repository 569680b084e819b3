//! Walks over the list, page by page, each page in one write.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::value::RawValue;

use super::commit::VersionedState;
use super::listed_page::{ListedPage, apply, needs_read};
use super::local_record::LocalRecord;
use super::round::Round;
use super::sync_report::{SyncMode, WalkProgress};
use super::sync_state::Walk;
use super::{RecordRead, is_answer};
use crate::error::{Error, Kind, Result};
use crate::model::Position;
use crate::ops::ConsignmentFilter;
use crate::send::pages::Pager;
use crate::sync::store::{Row, StoreError};

/// How many pages in a row may have no new record. A service that filters after paging may send some.
const EMPTY_PAGES: u32 = 20;

/// The records that were read once more; `None` for one that the service does not show.
type Reads = HashMap<String, Option<Box<RawValue>>>;

impl Round<'_> {
    /// Takes a walk to its end; `None` when another process has gone on with it.
    pub(super) async fn walk(
        &mut self,
        mut base: VersionedState,
        mut walk: Walk,
    ) -> Result<(Option<Walk>, VersionedState)> {
        // What an incremental walk has listed without a write, for there was nothing new.
        let mut unmarked = HashSet::new();
        let (mut restarted, mut empty) = (false, 0);
        let mut pager = self.pager(&walk);
        loop {
            let page = match self.next_page(&mut pager, empty).await {
                Ok(page) => page,
                Err(error)
                    if !restarted && walk.position != Position::start() && is_answer(&error) =>
                {
                    self.report.restarts += 1;
                    self.report
                        .add_problem(format!("the walk started anew: {error}"));
                    walk = self.anew(&base, walk);
                    unmarked.clear();
                    (restarted, empty) = (true, 0);
                    pager = self.pager(&walk);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let listed_before = walk.distinct();
            let (after, next) = self.take(base, &walk, &page, &mut unmarked).await?;
            let Some(next) = next else {
                return Ok((None, after));
            };
            (base, walk) = (after, next);
            self.show_progress(&walk);
            if page.next.is_none() {
                return Ok((Some(walk), base));
            }
            let has_new = walk.distinct() > listed_before;
            empty = if has_new { 0 } else { empty + 1 };
        }
    }

    fn anew(&self, base: &VersionedState, walk: Walk) -> Walk {
        let begun = self.replica.now();
        Walk {
            from: walk.from,
            horizon: walk.horizon,
            ..base.state.begin(walk.mode, walk.why, begun)
        }
    }

    fn pager(&self, walk: &Walk) -> Pager<Box<RawValue>> {
        let mut filter = ConsignmentFilter::default().page_size(self.replica.settings.page_size);
        if let Some(from) = &walk.from {
            filter = filter.from(from.clone());
        }
        let requests = Arc::clone(&self.requests);
        let requested = move || {
            requests.fetch_add(1, Ordering::Relaxed);
        };
        let account = self.replica.account();
        let pager = account.received_consignments(&filter, requested);
        pager.look_ahead(1).start_at(walk.position.clone())
    }

    async fn next_page(&self, pager: &mut Pager<Box<RawValue>>, empty: u32) -> Result<ListedPage> {
        if empty >= EMPTY_PAGES {
            let reason = "more than 20 pages in a row had no new record, and another is announced";
            return Err(Error::new(Kind::Stalled(reason)).with_operation("consignments"));
        }
        let page = pager.next_page().await?;
        // OK because a list without records has one page, and none is requested after the last one.
        let page = page.ok_or_else(|| Error::protocol("the list of consignments has no page"))?;
        match page.stalled {
            Some(reason) => Err(Error::new(Kind::Stalled(reason)).with_operation("consignments")),
            None => Ok(ListedPage::new(page)),
        }
    }

    /// Writes what a page changes, unless it is nothing. Without a walk: another process has gone on with it.
    async fn take(
        &mut self,
        mut base: VersionedState,
        walk: &Walk,
        page: &ListedPage,
        unmarked: &mut HashSet<String>,
    ) -> Result<(VersionedState, Option<Walk>)> {
        let mut reads = Reads::new();
        loop {
            let mut rows = self.rows_of(page).await?;
            self.read_changed(page, walk.mode, &rows, &mut reads)
                .await?;
            let applied = apply(&base.state, walk, page, &mut rows, &reads, unmarked)?;
            let (mut state, walk) = (applied.state, applied.walk);
            state.walks = state.walks.max(walk.number);
            let is_last = page.next.is_none();
            if is_last {
                state.end(&walk);
            } else {
                state.walk = Some(walk.clone());
            }
            let is_idle = walk.mode == SyncMode::Incremental
                && base.state.walk.is_none()
                && applied.draft.rows.is_empty()
                && (!is_last || state.says_the_same(&base.state));
            if is_idle {
                unmarked.extend(page.records.iter().map(|listed| listed.id.clone()));
                self.count(page, 0, 0);
                return Ok((base, Some(walk)));
            }
            let mut draft = applied.draft;
            draft.seen.extend(unmarked.iter().cloned());
            if let Some(after) = self.replica.commit(&base, state, draft).await? {
                unmarked.clear();
                self.count(page, applied.appeared, applied.changed);
                return Ok((after, Some(walk)));
            }
            let now = self.replica.load().await?;
            if !now.state.is_at_the_same_page(&base.state) {
                return Ok((now, None));
            }
            // Something else was written, such as a witness or the name of a consumer.
            base = now;
        }
    }

    async fn rows_of(&self, page: &ListedPage) -> Result<HashMap<String, Row>, StoreError> {
        let ids: Vec<String> = page.records.iter().map(|one| one.id.clone()).collect();
        let rows = self
            .replica
            .store()
            .rows(self.replica.key(), &ids)
            .await?
            .into_iter();
        Ok(rows.map(|row| (row.id.clone(), row)).collect())
    }

    /// Reads the new and changed records of a page once more, if all fields are copied.
    async fn read_changed(
        &mut self,
        page: &ListedPage,
        mode: SyncMode,
        rows: &HashMap<String, Row>,
        reads: &mut Reads,
    ) -> Result<()> {
        if !self.copies_all_fields() {
            return Ok(());
        }
        let mut ids = Vec::new();
        for listed in &page.records {
            let before = rows.get(&listed.id);
            let before =
                before.map(|row| LocalRecord::from_payload(&row.id, &row.payload).map(Some));
            let before = before.unwrap_or(Ok(None))?;
            if !reads.contains_key(&listed.id)
                && !ids.contains(&listed.id)
                && needs_read(listed, before.as_ref(), mode)
            {
                ids.push(listed.id.clone());
            }
        }
        let this = &*self;
        let results = stream::iter(ids).map(|id| this.read(id));
        let results: Vec<_> = results
            .buffer_unordered(self.replica.settings.reads_at_once)
            .try_collect()
            .await?;
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

    async fn read(&self, id: String) -> Result<(String, Option<Box<RawValue>>)> {
        match self.read_record(&id).await {
            RecordRead::Found(read) | RecordRead::Gone(Some(read)) => Ok((id, Some(read.json))),
            RecordRead::Gone(None) => Ok((id, None)),
            RecordRead::Unclear(error) if is_answer(&error) => Ok((id, None)),
            RecordRead::Unclear(error) => Err(error),
        }
    }

    fn count(&mut self, page: &ListedPage, appeared: u64, changed: u64) {
        self.report.pages += 1;
        self.report.seen += page.records.len() as u64;
        self.report.appeared += appeared;
        self.report.changed += changed;
        for reason in &page.unreadable {
            self.report.add_problem(reason.clone());
        }
    }

    fn show_progress(&self, walk: &Walk) {
        if let Some(report) = &self.replica.settings.on_progress {
            report(&WalkProgress {
                mode: walk.mode,
                pages: walk.pages,
                records: walk.seen,
                estimate: walk.total.and_then(|total| total.try_into().ok()),
            });
        }
    }
}
