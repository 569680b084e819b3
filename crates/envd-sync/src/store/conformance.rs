//! The requirements of [`SyncStore`] as executable checks.

use std::collections::HashMap;
use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use fastrand::Rng;
use tokio::task::{JoinSet, yield_now};

use super::rows::{
    Batch, ChangeRange, ChangeRow, Document, LocalPosition, Query, RecordRow, RowKeys,
};
use super::{MemorySync, Order, SyncStore};

/// Longer than any check takes on a store behind a slow network.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks the requirements of [`SyncStore`] on your store, one after the other; call it in a test inside a tokio runtime.
///
/// Replica, outbox and banks rely on all of them. If one is broken, a change is never reported, a record is missing from the copy,
/// a declaration is sent twice, or accounts see each other's records.
///
/// ```
/// use envd_sync::store::{MemorySync, check_sync_store};
///
/// # test_support::example(async {
/// let store = MemorySync::new();
/// check_sync_store(move || store.clone()).await;
/// # Ok(()) });
/// ```
///
/// In your test, pass a closure that opens your store again, as another process would: another connection to the database, another
/// handle on the file. The page of [`SyncStore`] shows such a test of a store outside this crate. The names of the accounts that
/// the check writes begin with `conformance`, and the accounts are empty again when a requirement holds.
///
/// | requirement | what it demands |
/// | --- | --- |
/// | `AbsentIsEmpty` | an account that was never written is empty, and removing from it has no effect |
/// | `ReadsWhatWasWritten` | documents, rows and changes are read back unchanged: quotes, any letters, empty texts, `None` |
/// | `LargeTextsAreKept` | payloads and documents of five megabytes are kept |
/// | `NulIsKeptOrRefused` | a text with a NUL character is kept unchanged, or the commit fails and writes nothing |
/// | `NumbersAreKeptOrRefused` | a number above [`i64::MAX`] is kept, or the commit fails and writes nothing |
/// | `SharedBetweenHandles` | one handle reads what another handle writes |
/// | `AccountsAreApart` | accounts whose names differ in any way share no data |
/// | `VersionsCount` | a document has version 1 at first, one more with each write, and 1 again after it was removed |
/// | `RefusedWritesNothing` | a batch writes nothing if one document does not have its expected version |
/// | `OneOfManyCommitsWins` | of concurrent commits with the same expected version, one succeeds |
/// | `BatchesAreWhole` | a read at any time sees the complete batch or none of it, even if the future of the commit was dropped |
/// | `PartsInOrder` | the parts of a batch are applied in the order of the fields of [`Batch`] |
/// | `RowsAreReplaced` | a row that is written again is found only by its new keys |
/// | `SeenChangesTheGeneration` | `seen` changes only the generation of rows, and creates none |
/// | `OrderIsOfBytes` | ids and names are ordered by their UTF-8 bytes |
/// | `PrefixIsLiteral` | the prefix of document names is compared character by character |
/// | `QueriesFindWhatTheySay` | each condition, alone and combined, in each order, finds the rows that [`MemorySync`] finds; so does `count` |
/// | `PagesGoOn` | the pages of a query show each remaining row exactly once while other rows are written and removed |
/// | `RangesOfChanges` | both ranges of changes return the same as [`MemorySync`] |
/// | `ForgetsChanges` | changes up to a number are removed, and no others |
///
/// # Cancel safety
///
/// If the future is dropped, accounts whose names begin with `conformance` may remain in the store.
///
/// # Panics
///
/// If the store breaks a requirement, with a line for each broken requirement and the observation.
pub async fn check_sync_store<S: SyncStore>(open: impl Fn() -> S + Send + Sync + 'static) {
    let broken = broken_requirements(open).await;
    let lines = broken.join("\n");
    assert!(broken.is_empty(), "the store breaks requirements\n{lines}");
}

/// Returns a line for each broken requirement, with the observation.
pub(super) async fn broken_requirements<S: SyncStore>(
    open: impl Fn() -> S + Send + Sync + 'static,
) -> Vec<String> {
    let open: Open<S> = Arc::new(open);
    let mut broken = Vec::new();
    for (requirement, check) in CheckedStore::REQUIREMENTS {
        let store = CheckedStore::new(open.clone());
        let checked = async {
            check(&store).await?;
            store.clear().await
        };
        let checked = tokio::time::timeout(LIMIT, checked).await;
        let checked = checked.unwrap_or_else(|_| Err("it takes more than two minutes".into()));
        broken.extend(
            checked
                .err()
                .map(|observed| format!("{requirement}: {observed}")),
        );
    }
    broken
}

const ALL: usize = 100_000;
const ORDERS: [Order; 3] = [Order::Id, Order::LastUpdated, Order::Sequence];
const ROUNDS: u64 = 20;
const SEED: u64 = 4711;
const WRITERS: u64 = 8;

/// Texts that a store might alter.
const TEXTS: [&str; 8] = [
    "",
    " ",
    "O'Brien \"; DROP TABLE x; -- \\ %_*?",
    "Zoë \u{5f}\u{308} Z\u{6f}\u{308} \u{1f404}",
    "null",
    "0123",
    "line\r\n\ttab\u{1}",
    "{\"a\":[1,2.50,null]}",
];

const INSTANTS: &str =
    "None|2027-01-01T00:00:00|2027-01-01T00:00:00.000001|2027-01-01T00:00:00.5|2027-01-01T00:00:01";

/// Conditions of queries, each with values that some rows of [`random_row`] match.
const CONDITIONS: [&str; 9] = [
    "status DRAFT|SUBMITTED|draft||none",
    "species CATTLE|SHEEP|cattle",
    "number 1|01|1.0|9",
    "pic 3ABCD123|QFAB0001|x",
    "movement_from 2027-01-01|2027-01-02|2028-01-01|",
    "movement_to 2027-01-01|2027-01-02|2020-01-01|",
    "updated_from 2027-01-01T00:00:00|2027-01-01T00:00:00.4|2027-01-01T00:00:02|",
    "before_generation 0|1|2|18446744073709551615",
    "up_to_sequence 0|100|18446744073709551615",
];

/// The error describes what was observed when a requirement was broken.
type Observed<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Fails the check with an observation unless a condition holds.
macro_rules! fail {
    ($observed:literal unless $($holds:tt)+) => {
        if !($($holds)+) {
            return Err(format!($observed).into());
        }
    };
}

/// Parses a batch such as `expect a 1, put a *, row a 1`; `text` replaces each word `*`.
fn batch(parts: &str, text: &str) -> Observed<Batch> {
    let mut batch = Batch::default();
    for part in parts.split(", ") {
        let words = part.split(' ');
        let words: Vec<&str> = words.map(|it| if it == "*" { text } else { it }).collect();
        match words[..] {
            [""] => {}
            ["expect", name, version] => batch.expected.push((name.into(), version.parse()?)),
            ["put", name, text] => batch.documents.push((name.into(), Some(text.into()))),
            ["delete", name] => batch.documents.push((name.into(), None)),
            ["row", id, sequence, ref more @ ..] => batch.rows.push(row(id, sequence, more)?),
            ["seen", generation, ref ids @ ..] => {
                let ids = ids.iter().map(|id| (*id).to_owned());
                batch.seen = Some((generation.parse()?, ids.collect()));
            }
            ["remove", id] => batch.removed.push(id.into()),
            ["change", id, sequence, previous, ref payload @ ..] => batch.changes.push(ChangeRow {
                sequence: sequence.parse()?,
                previous: previous.parse()?,
                id: id.into(),
                payload: payload.concat(),
            }),
            ["forget", up_to] => batch.forget_changes = Some(up_to.parse()?),
            _ => return Err(format!("no part of a batch: {part}").into()),
        }
    }
    Ok(batch)
}

/// Parses a row with settings such as `generation 3 payload text keys none`.
fn row(id: &str, sequence: &str, settings: &[&str]) -> Observed<RecordRow> {
    let key = |name: &str| Some(format!("{name}-{id}"));
    let mut row = RecordRow {
        id: id.to_owned(),
        sequence: sequence.parse()?,
        generation: 1,
        keys: RowKeys {
            status: key("status"),
            species: key("species"),
            number: key("number"),
            origin_pic: key("origin"),
            destination_pic: key("destination"),
            movement_day: Some("2027-03-01".to_owned()),
            updated_at: Some("2027-03-01T10:00:00".to_owned()),
        },
        payload: format!("{{\"id\":\"{id}\",\"sequence\":{sequence}}}"),
    };
    for setting in settings.chunks(2) {
        match *setting {
            ["generation", number] => row.generation = number.parse()?,
            ["payload", text] => text.clone_into(&mut row.payload),
            ["status", text] => row.keys.status = Some(text.to_owned()),
            ["updated_at", text] => row.keys.updated_at = Some(text.to_owned()),
            ["keys", "none"] => row.keys = RowKeys::default(),
            _ => return Err(format!("no setting of a row: {setting:?}").into()),
        }
    }
    Ok(row)
}

fn one_of<'a>(random: &mut Rng, values: &'a str) -> &'a str {
    let values: Vec<&str> = values.split('|').collect();
    random.choice(values).unwrap_or_default()
}

/// A random row; each key has few possible values, so that conditions match some rows.
fn random_row(random: &mut Rng, sequence: u64) -> RecordRow {
    let mut key = |values| {
        let value = one_of(random, values);
        (value != "None").then(|| value.to_owned())
    };
    let keys = RowKeys {
        status: key("None|DRAFT|SUBMITTED|draft|"),
        species: key("None|CATTLE|SHEEP"),
        number: key("None|1|2|3|01|1.0"),
        origin_pic: key("None|3ABCD123|QFAB0001|NA123456"),
        destination_pic: key("None|3ABCD123|QFAB0001|NA123456"),
        movement_day: key("None|2026-12-31|2027-01-01|2027-01-02|2027-10-01"),
        updated_at: key(INSTANTS),
    };
    RecordRow {
        id: format!("{:08x}-{sequence}", random.u32(..)),
        sequence,
        generation: random.u64(..4),
        keys,
        payload: format!("{{\"sequence\":{sequence}}}"),
    }
}

fn query(order: Order, limit: usize) -> Query {
    Query {
        order,
        limit,
        ..Query::default()
    }
}

fn set_condition(query: &mut Query, name: &str, value: &str) -> Observed {
    let text = Some(value.to_owned());
    match name {
        "status" => query.status = text,
        "species" => query.species = text,
        "number" => query.number = text,
        "pic" => query.pic = text,
        "movement_from" => query.movement_from = text,
        "movement_to" => query.movement_to = text,
        "updated_from" => query.updated_from = text,
        "before_generation" => query.before_generation = Some(value.parse()?),
        "up_to_sequence" => query.up_to_sequence = Some(value.parse()?),
        _ => return Err(format!("no condition: {name}").into()),
    }
    Ok(())
}

/// The complete data of an account.
type Contents = (Vec<Document>, Vec<RecordRow>, Vec<ChangeRow>);

async fn contents(store: &impl SyncStore, account: &str) -> Observed<Contents> {
    let documents = store.documents(account, "").await?;
    let rows = store.query(account, &query(Order::Id, ALL)).await?;
    let changes = store.changes(account, ChangeRange::After(0), ALL).await?;
    Ok((documents, rows, changes))
}

/// `name@version` of documents, `id#sequence/generation` of rows, `id#sequence<previous` of changes.
fn short((documents, rows, changes): &Contents) -> String {
    let documents = documents.iter();
    let documents = documents.map(|it| format!("{}@{}", it.name, it.version));
    let rows = rows.iter();
    let rows = rows.map(|it| format!("{}#{}/{}", it.id, it.sequence, it.generation));
    let changes = changes.iter();
    let changes = changes.map(|it| format!("{}#{}<{}", it.id, it.sequence, it.previous));
    let short: Vec<String> = documents.chain(rows).chain(changes).collect();
    short.join(" ")
}

/// Opens the store once more.
type Open<S> = Arc<dyn Fn() -> S + Send + Sync>;

/// Checks one requirement.
type Requirement<S> =
    for<'a> fn(&'a CheckedStore<S>) -> Pin<Box<dyn Future<Output = Observed> + Send + 'a>>;

/// A requirement is checked by a method, or by steps for [`follow`](CheckedStore::follow).
macro_rules! requirements {
    ($($requirement:ident: $check:tt,)*) => {
        [$((stringify!($requirement), |store| Box::pin(requirements!(@check store, $check)))),*]
    };
    (@check $store:ident, [$($step:literal,)*]) => {
        $store.follow(&[$($step),*])
    };
    (@check $store:ident, $check:ident) => {
        $store.$check()
    };
}

/// A store with a new account, and a model of its expected data.
pub(super) struct CheckedStore<S> {
    open: Open<S>,
    store: S,
    account: String,
    model: MemorySync,
}

impl<S: SyncStore> CheckedStore<S> {
    /// The requirements by name.
    pub(super) const REQUIREMENTS: [(&'static str, Requirement<S>); 20] = requirements! {
        AbsentIsEmpty: [
            "->",
            "expect a 0, delete a, seen 7 a, remove a, forget 7 ->",
        ],
        ReadsWhatWasWritten: reads_what_was_written,
        LargeTextsAreKept: large_texts_are_kept,
        NulIsKeptOrRefused: nul_is_kept_or_refused,
        NumbersAreKeptOrRefused: numbers_are_kept_or_refused,
        SharedBetweenHandles: shared_between_handles,
        AccountsAreApart: accounts_are_apart,
        VersionsCount: [
            "put a x -> a@1",
            "put a x -> a@2",
            "expect a 2, put a y -> a@3",
            "expect a 3, delete a ->",
            "expect a 0, put a x -> a@1",
        ],
        RefusedWritesNothing: [
            "put a x, put b x, row a 1, change a 1 0 -> a@1 b@1 a#1/1 a#1<0",
            "expect a 0, put a y, delete b, put c x, row a 2, row b 3, seen 9 b, remove a, change a 2 1, forget 1 -> refused",
            "expect a 2, put a y, delete b, put c x, row a 2, row b 3, seen 9 b, remove a, change a 2 1, forget 1 -> refused",
            "expect a 1, expect b 1, expect d 1, put a y, row a 2, seen 9 b, remove a, change a 2 1, forget 1 -> refused",
            "expect a 1, expect b 0, put a y, row a 2, seen 9 b, remove a, change a 2 1, forget 1 -> refused",
            "expect  1, put a y, row a 2, seen 9 b, remove a, change a 2 1, forget 1 -> refused",
            "expect a 1, expect b 1, expect d 0, put a y, delete b, row b 3, remove a -> a@2 b#3/1 a#1<0",
        ],
        OneOfManyCommitsWins: one_of_many_commits_wins,
        BatchesAreWhole: batches_are_whole,
        PartsInOrder: [
            "row a 1, row b 2, row c 3, seen 9 a b, remove b -> a#1/9 c#3/1",
            "change a 1 0, change b 2 0, forget 1 -> a#1/9 c#3/1 b#2<0",
        ],
        RowsAreReplaced: rows_are_replaced,
        SeenChangesTheGeneration: [
            "row a 1, row b 2 -> a#1/1 b#2/1",
            "seen 5 b none -> a#1/1 b#2/5",
        ],
        OrderIsOfBytes: order_is_of_bytes,
        PrefixIsLiteral: prefix_is_literal,
        QueriesFindWhatTheySay: queries_find_what_they_say,
        PagesGoOn: pages_go_on,
        RangesOfChanges: ranges_of_changes,
        ForgetsChanges: [
            "put a x, row a 30, change a 10 0 -> a@1 a#30/1 a#10<0",
            "change a 20 10, change a 30 20 -> a@1 a#30/1 a#10<0 a#20<10 a#30<20",
            "forget 0 -> a@1 a#30/1 a#10<0 a#20<10 a#30<20",
            "forget 9 -> a@1 a#30/1 a#10<0 a#20<10 a#30<20",
            "forget 20 -> a@1 a#30/1 a#30<20",
            "forget 18446744073709551615 -> a@1 a#30/1",
        ],
    };

    pub(super) fn new(open: Open<S>) -> Self {
        Self {
            store: open(),
            open,
            account: format!("conformance-{:016x}", fastrand::u64(..)),
            model: MemorySync::new(),
        }
    }

    /// Another handle, as another process would open it, for an account with an ending added to its name.
    fn reopened(&self, ending: &str) -> Self {
        Self {
            store: (self.open)(),
            open: self.open.clone(),
            account: self.account.clone() + ending,
            model: self.model.clone(),
        }
    }

    /// Writes a batch, which must succeed.
    async fn write(&self, batch: &Batch) -> Observed {
        let written = self.store.commit(&self.account, batch).await?;
        fail!("a batch that fits is refused" unless written);
        self.model.commit(&self.account, batch).await?;
        Ok(())
    }

    /// Runs steps of the form `batch -> contents`; `refused` stands for a batch that must not be written.
    async fn follow(&self, steps: &[&str]) -> Observed {
        self.ensure_as_model("no write").await?;
        for step in steps {
            let (parts, expected) = step.split_once("->").ok_or("a step without contents")?;
            let parts = parts.trim();
            let expected = expected.trim();
            let batch = batch(parts, "")?;
            let is_refused = expected == "refused";
            let written = self.store.commit(&self.account, &batch).await?;
            fail!("{parts:?}: commit returns {written}" unless written != is_refused);
            if written {
                self.model.commit(&self.account, &batch).await?;
            }
            let found = self.ensure_as_model(parts).await?;
            fail!("after {parts:?} it has {found:?}, not {expected:?}" unless is_refused || found == expected);
        }
        Ok(())
    }

    /// Compares all data of the account with the model, and returns it in short form.
    async fn ensure_as_model(&self, after: &str) -> Observed<String> {
        let found = contents(&self.store, &self.account).await?;
        let expected = contents(&self.model, &self.account).await?;
        let (short, wanted) = (short(&found), short(&expected));
        fail!("after {after:?} it has {short:?}, not {wanted:?}" unless short == wanted);
        fail!("after {after:?} a text, a payload or a key reads otherwise" unless found == expected);
        let mut earlier = query(Order::Id, ALL);
        self.ensure_finds(&earlier).await?;
        earlier.before_generation = Some(5);
        self.ensure_finds(&earlier).await?;
        let some: Vec<RecordRow> = found.1.into_iter().step_by(2).collect();
        let ids = some.iter().map(|row| row.id.clone());
        let ids: Vec<String> = ids.chain(["no such id".to_owned()]).collect();
        let mut rows = self.store.rows(&self.account, &ids).await?;
        rows.sort_by(|one, other| one.id.cmp(&other.id));
        fail!("rows by id are not those that were requested" unless rows == some);
        Ok(short)
    }

    /// Compares the result and the count of a query with those of the model.
    async fn ensure_finds(&self, query: &Query) -> Observed {
        let found = self.store.query(&self.account, query).await?;
        let expected = self.model.query(&self.account, query).await?;
        let ids = |rows: &[RecordRow]| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        let found_ids = ids(&found);
        let ids = ids(&expected);
        fail!("{query:?} finds {found_ids:?}, not {ids:?}" unless found == expected);
        let count = self.store.count(&self.account, query).await?;
        let expected = self.model.count(&self.account, query).await?;
        fail!("{query:?} counts {count}, not {expected}" unless count == expected);
        Ok(())
    }

    async fn clear(&self) -> Observed {
        let (documents, rows, _) = contents(&self.store, &self.account).await?;
        let mut all = batch("forget *", &u64::MAX.to_string())?;
        all.documents = documents.into_iter().map(|it| (it.name, None)).collect();
        all.removed = rows.into_iter().map(|row| row.id).collect();
        self.write(&all).await?;
        let left = short(&contents(&self.store, &self.account).await?);
        fail!("after all was removed it has {left:?}" unless left.is_empty());
        Ok(())
    }

    async fn reads_what_was_written(&self) -> Observed {
        for (number, text) in (1..).zip(TEXTS) {
            let row = format!("row * {number} payload * status * updated_at *");
            let batch = batch(&format!("put * *, {row}, change * {number} 0 *"), text)?;
            self.write(&batch).await?;
            self.ensure_as_model(text).await?;
            let rows = self.store.rows(&self.account, &[text.to_owned()]).await?;
            fail!("a row reads otherwise: {text:?}" unless rows == batch.rows);
            let range = ChangeRange::After(number - 1);
            let changes = self.store.changes(&self.account, range, ALL).await?;
            fail!("a change reads otherwise: {text:?}" unless changes == batch.changes);
            let documents = self.store.documents(&self.account, text).await?;
            fail!("a document reads otherwise: {text:?}" unless documents.first().is_some_and(|it| it.text == text));
        }
        Ok(())
    }

    async fn large_texts_are_kept(&self) -> Observed {
        let text = "ü{\"5\"}\n".repeat(5_000_000 / 8);
        let parts = "put large *, row large 1 payload *, change large 1 0 *";
        self.write(&batch(parts, &text)?).await?;
        self.ensure_as_model(parts).await.map(drop)
    }

    /// Writes batches with one part that a store may refuse.
    async fn ensure_kept_or_refused(&self, parts: &str, text: &str) -> Observed {
        for part in parts.split('|') {
            let batch = batch(&format!("row first 7, change first 1 0, {part}"), text)?;
            if self.store.commit(&self.account, &batch).await.is_ok() {
                self.model.commit(&self.account, &batch).await?;
            }
            self.ensure_as_model(&part.replace('*', text)).await?;
            self.clear().await?;
        }
        Ok(())
    }

    async fn nul_is_kept_or_refused(&self) -> Observed {
        let parts = "put a *|put * a|row * 1|row a 1 payload *|row a 1 status *";
        self.ensure_kept_or_refused(parts, "before\0after").await
    }

    async fn numbers_are_kept_or_refused(&self) -> Observed {
        for number in [1 << 53, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
            let number = number.to_string();
            let parts = "row a *|row a 1 generation *|seen * first|change a * 0|change a 2 *";
            self.ensure_kept_or_refused(parts, &number).await?;
            let batch = batch("expect a *, put b x", &number)?;
            let written = self.store.commit(&self.account, &batch).await;
            fail!("no document counts as one of version {number}" unless !written.unwrap_or_default());
        }
        Ok(())
    }

    async fn shared_between_handles(&self) -> Observed {
        let other = self.reopened("");
        let step = "put a x, row a 1, change a 1 0 -> a@1 a#1/1 a#1<0";
        self.follow(&[step]).await?;
        other.ensure_as_model("a write of another handle").await?;
        let step = "expect a 1, put a y -> a@2 a#1/1 a#1<0";
        other.follow(&[step]).await?;
        self.follow(&["expect a 1, put a z -> refused"]).await
    }

    async fn accounts_are_apart(&self) -> Observed {
        let endings = "|a|A|a |%|_|'|\"|\\|/a|é|e\u{301}".split('|');
        let accounts: Vec<Self> = endings.map(|ending| self.reopened(ending)).collect();
        for (number, account) in (1..).zip(&accounts) {
            let parts = format!("expect a 0, put a x, row a {number}, change a {number} 0");
            let step = format!("{parts} -> a@1 a#{number}/1 a#{number}<0");
            let observed = |error| format!("the account {:?}: {error}", account.account);
            account.follow(&[&step]).await.map_err(observed)?;
        }
        for account in &accounts {
            account.ensure_as_model("writes of other accounts").await?;
            account.clear().await?;
        }
        Ok(())
    }

    async fn one_of_many_commits_wins(&self) -> Observed {
        self.write(&batch("put a x", "")?).await?;
        for round in 1..=ROUNDS {
            let mut writers = JoinSet::new();
            for writer in round * WRITERS..(round + 1) * WRITERS {
                let other = self.reopened("");
                let parts = format!("expect a {round}, put a x, row {writer} {writer}");
                let batch = batch(&parts, "")?;
                writers.spawn(async move { other.store.commit(&other.account, &batch).await });
            }
            let mut won = 0;
            while let Some(written) = writers.join_next().await {
                won += u64::from(written??);
            }
            fail!("{won} commits with one expected version succeed" unless won == 1);
            let rows = self
                .store
                .count(&self.account, &query(Order::Id, ALL))
                .await?;
            fail!("a commit that was refused wrote rows" unless rows == round);
        }
        Ok(())
    }

    async fn batches_are_whole(&self) -> Observed {
        let other = self.reopened("");
        let writer = tokio::spawn(async move {
            for number in 1..=ROUNDS {
                let rows = format!("row a {number} payload *, row b {number} payload *");
                let text = number.to_string().repeat(10_000);
                let batch = batch(&format!("put a *, put b *, {rows}"), &text)?;
                let mut commit = other.store.commit(&other.account, &batch);
                if number % 2 == 0 {
                    commit.await?;
                } else {
                    // The future is dropped halfway, unless the first poll completed it.
                    let _ = poll_fn(|context| Poll::Ready(commit.as_mut().poll(context))).await;
                }
            }
            Observed::Ok(())
        });
        while !writer.is_finished() {
            let whole = match &*self.store.documents(&self.account, "").await? {
                [a, b] => a.text == b.text && a.version == b.version,
                documents => documents.is_empty(),
            };
            fail!("half of the documents of a batch are read" unless whole);
            let whole = match &*self
                .store
                .query(&self.account, &query(Order::Id, ALL))
                .await?
            {
                [a, b] => a.sequence == b.sequence && a.payload == b.payload,
                rows => rows.is_empty(),
            };
            fail!("half of the rows of a batch are read" unless whole);
            yield_now().await;
        }
        writer.await?
    }

    async fn rows_are_replaced(&self) -> Observed {
        self.follow(&["row a 1, row a 2 -> a#2/1", "row a 3 keys none -> a#3/1"])
            .await?;
        let conditions = "status status-a|species species-a|number number-a|pic origin-a|pic destination-a|movement_from 2027-03-01|updated_from 2027-03-01T10:00:00";
        for condition in conditions.split('|') {
            let mut query = query(Order::Id, ALL);
            let (name, value) = condition.split_once(' ').ok_or("no value")?;
            set_condition(&mut query, name, value)?;
            let count = self.store.count(&self.account, &query).await?;
            fail!("a row is found by an earlier key: {condition}" unless count == 0);
            self.ensure_finds(&query).await?;
        }
        Ok(())
    }

    async fn order_is_of_bytes(&self) -> Observed {
        // UTF-16 and most languages sort some of these differently.
        let ids = " |10|9|B|a|a-b|aa|ab|b|z|Ä|ä|é|\u{ff5e}|\u{1f404}|";
        let mut ids: Vec<&str> = ids.split('|').collect();
        ids.sort_unstable();
        for (number, id) in (1..).zip(ids.iter().rev()) {
            let batch = batch(&format!("put * x, row * {number}"), id)?;
            self.write(&batch).await?;
        }
        // All rows have the same instant of the last update.
        for order in [Order::Id, Order::LastUpdated] {
            let rows = self.store.query(&self.account, &query(order, ALL)).await?;
            let ordered = ids.iter().eq(rows.iter().map(|row| &row.id));
            fail!("rows are not by the bytes of ids with {order:?}" unless ordered);
        }
        let documents = self.store.documents(&self.account, "").await?;
        let ordered = ids.iter().eq(documents.iter().map(|it| &it.name));
        fail!("documents are not by the bytes of names" unless ordered);
        Ok(())
    }

    async fn prefix_is_literal(&self) -> Observed {
        let names = "A|a|a%|a%b|a*|a\\|a_|ab|a\u{10ffff}|b|ä".split('|');
        for name in names.clone() {
            self.write(&batch("put * x", name)?).await?;
        }
        for prefix in names.clone().chain(["", "c"]) {
            let documents = self.store.documents(&self.account, prefix).await?;
            let found: Vec<&str> = documents.iter().map(|it| &*it.name).collect();
            let mut expected: Vec<&str> = names.clone().collect();
            expected.retain(|name| name.starts_with(prefix));
            fail!("{prefix:?} finds {found:?}, not {expected:?}" unless found == expected);
        }
        Ok(())
    }

    async fn queries_find_what_they_say(&self) -> Observed {
        let mut random = Rng::with_seed(SEED);
        let mut batch = batch("", "")?;
        batch.rows = (1..=200).map(|it| random_row(&mut random, it)).collect();
        self.write(&batch).await?;
        for order in ORDERS {
            self.ensure_finds(&query(order, ALL)).await?;
            for (number, one) in CONDITIONS.iter().enumerate() {
                let others = CONDITIONS.iter().skip(number);
                for other in others.clone().chain(others.clone()).chain(others) {
                    let mut query = query(order, random.usize(..15));
                    let after = random.choice(&batch.rows).filter(|_| random.bool());
                    query.after = after.map(LocalPosition::from);
                    for condition in [one, other] {
                        let (name, values) = condition.split_once(' ').ok_or("no values")?;
                        set_condition(&mut query, name, one_of(&mut random, values))?;
                    }
                    self.ensure_finds(&query).await?;
                }
            }
        }
        Ok(())
    }

    /// Writes and removes rows between two pages.
    async fn pages_go_on(&self) -> Observed {
        let stays = |row: &RecordRow| row.sequence.is_multiple_of(30);
        for order in ORDERS {
            let mut random = Rng::with_seed(SEED);
            let sequences = (1..=60).map(|number| number * 10);
            let mut batch = batch("", "")?;
            batch.rows = sequences.map(|it| random_row(&mut random, it)).collect();
            self.write(&batch).await?;
            let mut query = query(order, 7);
            let mut shown: Vec<u64> = Vec::new();
            for page in 0..200 {
                let found = self.store.query(&self.account, &query).await?;
                shown.extend(found.iter().map(|row| row.sequence));
                let Some(last) = found.last() else { break };
                query.after = Some(last.into());
                // Also remove the row of the position.
                let gone = [Some(last.clone()), batch.rows.pop()].into_iter().flatten();
                let gone = gone.filter(|row| !stays(row)).map(|row| row.id);
                let new = (page < 20).then(|| random_row(&mut random, 5 + page * 10));
                let mut between = Batch::default();
                between.rows.extend(new);
                between.removed.extend(gone);
                self.write(&between).await?;
            }
            let missing = (30..=600).step_by(30).find(|kept| !shown.contains(kept));
            fail!("a row is not shown with {order:?}" unless missing.is_none());
            let count = shown.len();
            shown.sort_unstable();
            shown.dedup();
            fail!("a row is shown twice with {order:?}" unless shown.len() == count);
            self.clear().await?;
        }
        Ok(())
    }

    async fn ranges_of_changes(&self) -> Observed {
        let mut random = Rng::with_seed(SEED);
        let mut last = HashMap::new();
        let mut changes = Vec::new();
        for sequence in (1..400).step_by(3) {
            let id = random.u8(..12);
            let previous = last.insert(id, sequence).unwrap_or(0);
            changes.push(format!("change {id} {sequence} {previous} {{}}"));
        }
        self.write(&batch(&changes.join(", "), "")?).await?;
        for _ in 0..200 {
            let after = random.u64(..420);
            let up_to = random.u64(..420);
            let replacing = ChangeRange::Replacing { after, up_to };
            let after = ChangeRange::After(after);
            let none = ChangeRange::After(u64::MAX);
            for range in [after, none, replacing] {
                for limit in [0, 1, 10, ALL] {
                    let found = self.store.changes(&self.account, range, limit).await?;
                    let expected = self.model.changes(&self.account, range, limit).await?;
                    fail!("{range:?} with limit {limit} differs" unless found == expected);
                }
            }
        }
        Ok(())
    }
}
