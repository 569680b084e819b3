//! The steps of the scenarios of lists and drafts: one program, and others that use the same store.
//!
//! A list is `cattle`, `newer`, or a number: the `order` of its first question. A draft is `read` by its name and then known by the
//! word after `as`, so that a step can write it over an earlier reading.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::sample::{
    ACCOUNT, TODAY, answer, bank, banks_at, cattle, input, newer, now, on, received,
};
use crate::account_store::VersionedDocument;
use crate::bank::banks::{Index, list_name};
use crate::bank::{BankRefresh, Banks, LocalDraft};
use crate::error::{Error, Result};
use crate::store::rows::Batch;
use crate::store::tests::faulty_store::{FaultyStore, Moment};
use crate::store::{MemorySync, SyncStore};
use crate::tests::script::{Stage, Unparsed, listed, play, span};
use crate::tests::shown;
use envd_sdk::Clock;
use envd_sdk::model::{FormType, Timestamp};
use envd_sdk::validate::{ContentHash, Form, SavedForm};
use test_support::table;

#[tokio::test]
async fn lists_and_drafts_are_kept_as_the_table_says() {
    play::<Play>(table!("scenarios.txt")).await;
}

struct Play {
    store: FaultyStore,
    clock: Clock,
    banks: Banks,
    /// The index that was read before a request.
    base: Option<VersionedDocument<Index>>,
    received: Option<BankRefresh>,
    form: Option<Form>,
    /// The drafts, by the words after `as`.
    drafts: HashMap<String, LocalDraft>,
    opened: Option<SavedForm>,
    removed: Vec<ContentHash>,
    says: String,
    commits: usize,
}

fn list(name: &str) -> Value {
    match name {
        "cattle" => cattle(|_| ()),
        "unknown-field" => cattle(|list| list[0]["later"] = json!(1)),
        "newer" => newer(),
        order => cattle(|list| list[0]["order"] = json!(order.parse::<u8>().unwrap())),
    }
}

fn hash(name: &str) -> ContentHash {
    bank(&list(name)).content_hash()
}

fn names(hashes: &[ContentHash]) -> String {
    let known = ["cattle", "newer", "3", "4", "5", "6"];
    let name = |it: &ContentHash| known.into_iter().find(|name| hash(name) == *it);
    listed(hashes.iter().map(|it| name(it).unwrap_or("another")))
}

impl Play {
    fn saved(&self) -> SavedForm {
        self.form.as_ref().unwrap().save()
    }

    /// The word for the draft that matches; `expected` if that one matches, too.
    fn known(&self, expected: &str, is_one: impl Fn(&LocalDraft) -> bool) -> String {
        let first = self.drafts.get_key_value(expected);
        let mut all = first.into_iter().chain(&self.drafts);
        let found = all.find(|(_, draft)| is_one(draft));
        found.map_or("another".to_owned(), |(name, _)| name.clone())
    }

    async fn put(&self, document: String, text: &str) {
        let batch = Batch {
            documents: vec![(document, Some(text.to_owned()))],
            ..Batch::default()
        };
        assert!(self.store.commit(ACCOUNT, &batch).await.unwrap());
    }

    /// Lets another program act before the next commit of this one.
    fn before_commit(&self, words: &[&str]) {
        let theirs = banks_at(self.store.clone(), self.clock.clone());
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let form = self.form.as_ref().map(Form::save);
        let drafts = self.drafts.clone();
        self.store.at(Moment::BeforeCommit(1), async move {
            let form = || form.as_ref().unwrap();
            match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["receive", name] => drop(theirs.receive(&list(name)).await),
                ["prune"] => assert_eq!(theirs.prune([]).await.unwrap().len(), 1),
                ["create", name] => drop(theirs.create_draft(name, form()).await.unwrap()),
                ["update", draft] => {
                    drop(theirs.update_draft(&drafts[*draft], form()).await.unwrap());
                }
                ["remake", draft] => {
                    theirs.remove_draft(&drafts[*draft]).await.unwrap();
                    let name = drafts[*draft].name();
                    drop(theirs.create_draft(name, form()).await.unwrap());
                }
                words => panic!("{words:?} is no step"),
            }
        });
    }

    async fn take(&mut self, words: &[&str]) -> Result<()> {
        let banks = self.banks.clone();
        match *words {
            ["receive", name] => self.received = Some(banks.receive(&list(name)).await),
            ["request"] => self.base = Some(banks.load().await?),
            ["reply", name] => {
                let ((list, json), base) = (received(&list(name)), self.base.take().unwrap());
                self.received = banks.keep(base, &list, &json).await?;
            }
            ["refresh"] => drop(banks.refresh().await?),
            ["latest"] => drop(banks.latest().await?),
            ["prune", ref keep @ ..] => {
                self.removed = banks.prune(keep.iter().map(|name| hash(name))).await?;
            }
            ["fill"] => {
                let input = input(FormType::Lpac1).answer(answer("3", Some(0), "24"));
                let bank = &self.received.as_ref().unwrap().bank;
                self.form = Some(bank.questionnaire().form(&input, &on(TODAY)));
            }
            ["answer", question, value] => {
                let form = self.form.as_mut().unwrap();
                form.answer(question, value).unwrap();
            }
            ["create", name, "as", draft] => {
                let written = banks.create_draft(name, &self.saved()).await?;
                self.drafts.insert(draft.to_owned(), written);
            }
            ["update", read, "as", draft] => {
                let written = banks
                    .update_draft(&self.drafts[read], &self.saved())
                    .await?;
                self.drafts.insert(draft.to_owned(), written);
            }
            ["remove", draft] => banks.remove_draft(&self.drafts[draft]).await?,
            ["open", draft] => {
                let form = self.drafts[draft].form().clone();
                self.opened = Some(banks.open(form, &on("2026-11-21")).await?.save());
            }
            ["move", draft] => {
                let form = self.drafts[draft].form().clone();
                let latest = banks.latest().await?;
                let moved = banks.open_with(form, &latest.unwrap(), &on(TODAY)).await?;
                self.form = Some(moved.form);
            }
            ["before", "commit", ref step @ ..] => self.before_commit(step),
            ["wait", time] => self.clock.advance(span(time)),
            ["clock", "back", time] => self.clock.set_wall(now() - span(time)),
            ["takes", commits] => self.store.allow(commits.parse().unwrap_or(usize::MAX)),
            ["damage", name, how] => {
                let text = match how {
                    "cut" => "{".to_owned(),
                    "empty" => "{}".to_owned(),
                    "null" => "null".to_owned(),
                    other => list(other).to_string(),
                };
                self.put(list_name(hash(name)), &text).await;
            }
            ["index", "of", "format", format] => {
                let text = format!(r#"{{"format": {format}}}"#);
                self.put("bank/index".to_owned(), &text).await;
            }
            _ => panic!("{words:?} is no step"),
        }
        Ok(())
    }
}

impl Stage for Play {
    type Does = Vec<String>;
    type Sees = Unparsed;
    type Error = Error;

    async fn start() -> Self {
        let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
        let clock = Clock::manual(now());
        Self {
            banks: banks_at(store.clone(), clock.clone()),
            store,
            clock,
            base: None,
            received: None,
            form: None,
            drafts: HashMap::new(),
            opened: None,
            removed: Vec::new(),
            says: String::new(),
            commits: 0,
        }
    }

    async fn act(&mut self, words: Vec<String>) -> Result<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = &*words;
        self.commits = self.store.commits();
        let taken = self.take(words).await;
        if let Err(error) = &taken {
            self.says = format!("{:?} {}", error.kind(), shown(error));
        }
        taken
    }

    async fn see(&mut self, _: &Unparsed, expected: &str) -> String {
        let words: Vec<&str> = expected.split(' ').collect();
        let words = &*words;
        let what = words[0];
        let expected = words[1..].join(" ");
        let latest = async || self.banks.latest().await.unwrap().unwrap();
        let since = |at: &Timestamp| {
            let days = at
                .to_time()
                .unwrap()
                .duration_since(now())
                .map(|it| it.as_secs_f64());
            days.map_or("before".to_owned(), |it| format!("{}d", it / 86_400.0))
        };
        let seen = match what {
            "says" if self.says.contains(&expected) => expected,
            "says" => self.says.clone(),
            "changed" => match &self.received {
                Some(received) => received.changed.to_string(),
                None => "neither: it is to be requested again".to_owned(),
            },
            "latest" => names(&[latest().await.content_hash()]),
            "received" => since(latest().await.received_at()),
            "confirmed" => since(latest().await.confirmed_at()),
            "lists" => {
                let index = self.banks.load().await.unwrap().value;
                let hashes: Vec<_> = index.lists.iter().map(|it| it.content_hash).collect();
                names(&hashes)
            }
            "removed" => names(&self.removed),
            "commits" => (self.store.commits() - self.commits).to_string(),
            "index" => {
                let index = self.store.documents(ACCOUNT, "bank/index").await.unwrap();
                index[0].version.to_string()
            }
            "documents" => self
                .store
                .documents(ACCOUNT, "")
                .await
                .unwrap()
                .len()
                .to_string(),
            "drafts" => {
                let drafts = self.banks.drafts().await.unwrap();
                listed(drafts.iter().map(LocalDraft::name))
            }
            "opened" => self.known(&expected, |draft| {
                self.opened.as_ref() == Some(draft.form())
            }),
            name => {
                let stored = self.banks.draft(name).await.unwrap();
                let is_one = |draft: &LocalDraft| stored.as_ref() == Some(draft);
                format!("is {}", self.known(words[2], is_one))
            }
        };
        format!("{what} {seen}")
    }
}
