//! The world of the processes, which checks each request on arrival, with its store and provider as each process sees them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use fastrand::Rng;
use test_support::schedules::note;
use tokio::task::yield_now;

use super::LIFE;
use crate::auth::manager::tests::bench::{SECOND, error, renewed, reply};
use crate::auth::store::fault;
use crate::auth::{Record, StoreError, StoreGuard, TokenStore, Version, Versioned};
use crate::error::Result;
use crate::fake::{InProcessReply, NoReply, Received};
use crate::transport::Clock;

/// The state shared by the processes.
#[derive(Default)]
pub(super) struct World {
    pub(super) random: Rng,
    /// The percentages of store calls and of requests that fail.
    pub(super) store_faults: u32,
    pub(super) request_faults: u32,
    /// The end of each process's write failures.
    pub(super) full_disks: HashMap<u64, Duration>,
    pub(super) record: Option<Versioned>,
    pub(super) writes: u64,
    pub(super) lock: Option<u64>,
    pub(super) locks: u64,
    /// The generation with the refresh token that the provider accepts.
    pub(super) current: u64,
    pub(super) session_over: bool,
    pub(super) revoked: HashSet<String>,
    /// The live process that has the current tokens, or will receive them in a reply.
    pub(super) holder: Option<u64>,
    /// Whether a new refresh token was lost for good.
    pub(super) is_lost: bool,
    /// When tokens were requested, by generation.
    pub(super) issued_at: HashMap<u64, SystemTime>,
    /// Generations that a store has accepted or refused.
    pub(super) offered: HashSet<u64>,
    pub(super) stored: HashSet<u64>,
    pub(super) requests: HashMap<u64, u64>,
    pub(super) failed: HashMap<u64, u64>,
    /// Requests with a refresh token that the provider refuses for good.
    pub(super) refused: HashMap<u64, u64>,
    /// Reads and writes of the store that failed.
    pub(super) store_failures: u64,
    pub(super) kills: u64,
    /// Requests that arrive after their sender timed out.
    pub(super) late: Vec<Late>,
    /// The first violation that the provider observed.
    pub(super) broken: Option<String>,
    /// When the request that used up each token was sent.
    pub(super) used_by: HashMap<u64, Duration>,
    pub(super) is_logging_out: bool,
}

pub(super) struct Late {
    pub(super) arrives_at: Duration,
    pub(super) sent_at: Duration,
    pub(super) token: u64,
    pub(super) process: u64,
}

pub(super) type Shared = Arc<Mutex<World>>;

pub(super) fn lock(world: &Shared) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    fn happens(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    /// Handles a refresh token that arrives at the provider. Returns the generation issued for it.
    pub(super) fn refresh(&mut self, sent: u64, sent_at: Duration, by: Option<u64>) -> Option<u64> {
        if self.session_over {
            return None;
        }
        if sent != self.current {
            let has_current = self.stored.contains(&self.current) && self.record.is_some();
            // A logout ends the session anyway, and does not wait for a reply.
            if (self.holder.is_some() || has_current) && !self.is_logging_out {
                let holder = self.holder;
                let current = self.current;
                self.broken = Some(format!(
                    "rt-{sent} is sent while process {holder:?} or the store has rt-{current}"
                ));
            }
            self.session_over = true;
            return None;
        }
        self.used_by.insert(sent, sent_at);
        self.current += 1;
        self.holder = by;
        self.is_lost |= by.is_none();
        Some(self.current)
    }

    pub(super) fn kill(&mut self, process: u64) {
        self.kills += 1;
        if self.holder == Some(process) {
            self.holder = None;
            self.is_lost |= !self.stored.contains(&self.current);
        }
    }
}

/// The store as one process sees it.
pub(super) struct Access {
    pub(super) world: Shared,
    pub(super) clock: Clock,
    pub(super) process: u64,
    pub(super) can_lose_lock: bool,
}

impl Access {
    /// A call takes several steps, sometimes some time, and may fail before or after its execution.
    async fn call<T>(&self, work: impl FnOnce(&mut World) -> T) -> Result<T, StoreError> {
        let (steps, pause, before, after) = {
            let mut world = lock(&self.world);
            let faults = world.store_faults;
            let pause = world.happens(5).then(|| world.random.u64(1..3_000));
            let after = world.happens(faults / 4);
            let steps = world.random.usize(0..3);
            (steps, pause, world.happens(faults), after)
        };
        for _ in 0..steps {
            yield_now().await;
        }
        if let Some(pause) = pause {
            self.clock.sleep(Duration::from_millis(pause)).await;
        }
        let failed = || fault(std::io::ErrorKind::TimedOut);
        if before {
            return Err(failed());
        }
        let done = work(&mut lock(&self.world));
        yield_now().await;
        if after { Err(failed()) } else { Ok(done) }
    }

    /// Counts a failure of a read or a write.
    fn noted<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            note(|| format!("the store of process {} fails: {error}", self.process));
            lock(&self.world).store_failures += 1;
        }
        result
    }
}

#[async_trait]
impl TokenStore for Access {
    async fn load(&self, _key: &str) -> Result<Option<Versioned>, StoreError> {
        let read = self.call(|world| world.record.clone()).await;
        self.noted(read)
    }

    async fn swap(
        &self,
        _key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        {
            let mut world = lock(&self.world);
            world.offered.insert(new.tokens().generation());
            let full = world.full_disks.get(&self.process);
            if full.is_some_and(|until| self.clock.monotonic() < *until) {
                drop(world);
                return self.noted(Err(fault(std::io::ErrorKind::StorageFull)));
            }
        }
        let written = self.call(|world| {
            if world.record.as_ref().map(|stored| stored.version) != expected {
                return None;
            }
            world.writes += 1;
            let version = Version::new(world.writes);
            world.record = Some(Versioned::new(version, new.clone()));
            let generation = new.tokens().generation();
            let mark = &new.refresh_mark;
            note(|| format!("{version:?}: {generation}, mark {mark:?}"));
            world.stored.insert(generation);
            Some(version)
        });
        let written = written.await;
        self.noted(written)
    }

    async fn remove(&self, _key: &str, expected: Version) -> Result<bool, StoreError> {
        self.call(move |world| {
            let found = world.record.as_ref().map(|stored| stored.version) == Some(expected);
            if found {
                world.record = None;
            }
            found
        })
        .await
    }

    async fn lock(&self, _key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        let until = self.clock.monotonic() + wait;
        loop {
            self.call(|_| ()).await?;
            {
                let mut world = lock(&self.world);
                if world.lock.is_none() {
                    world.locks += 1;
                    world.lock = Some(world.locks);
                    let (world, number) = (self.world.clone(), world.locks);
                    return Ok(StoreGuard::new(Held { world, number }));
                }
            }
            if self.clock.monotonic() >= until {
                return Err(StoreError::lock_timeout());
            }
            self.clock.sleep(SECOND / 10).await;
        }
    }

    fn lock_survives_faults(&self) -> bool {
        !self.can_lose_lock
    }
}

struct Held {
    world: Shared,
    number: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut world = lock(&self.world);
        if world.lock == Some(self.number) {
            world.lock = None;
        }
    }
}

/// The fate of a request.
#[derive(Debug)]
enum Fate {
    Arrives,
    IsNotSent,
    IsRefused(u16),
    /// The provider executes it, and its reply is lost.
    ReplyIsLost,
    /// The sender times out, and the request may arrive afterwards.
    TimesOut(bool),
}

/// The provider as a process sees it.
pub(super) async fn answer(
    world: Shared,
    clock: Clock,
    process: u64,
    request: Received,
) -> std::result::Result<InProcessReply, NoReply> {
    let form: HashMap<String, String> = url::form_urlencoded::parse(request.body())
        .into_owned()
        .collect();
    if request.path() == "/oauth/revoke" {
        lock(&world).revoked.insert(form["token"].clone());
        return Ok(reply(200, ""));
    }
    let sent = form["refresh_token"].trim_start_matches("rt-");
    let sent: u64 = sent.parse().unwrap();
    let asked_at = clock.now();
    let sent_at = clock.monotonic();
    let (fate, back) = {
        let mut world = lock(&world);
        let faults = world.request_faults;
        let fate = match world.happens(faults).then(|| world.random.u32(0..6)) {
            None => Fate::Arrives,
            Some(0) => Fate::IsNotSent,
            Some(1) => Fate::IsRefused(429),
            Some(2) => Fate::IsRefused(503),
            Some(3) => Fate::ReplyIsLost,
            Some(fate) => Fate::TimesOut(fate == 4),
        };
        *world.requests.entry(sent).or_default() += 1;
        if !matches!(fate, Fate::Arrives) {
            *world.failed.entry(sent).or_default() += 1;
        }
        if matches!(fate, Fate::TimesOut(true)) {
            // Arrives within thirty seconds after it was sent, even if its sender is suspended meanwhile.
            let arrives_at = sent_at + Duration::from_secs(world.random.u64(0..30));
            let token = sent;
            let late = Late {
                arrives_at,
                sent_at,
                token,
                process,
            };
            world.late.push(late);
        }
        (fate, Duration::from_millis(world.random.u64(0..8_000)))
    };
    note(|| format!("{sent_at:?}: process {process} sends rt-{sent}, which {fate:?}"));
    match fate {
        Fate::Arrives => {
            let issued = {
                let mut world = lock(&world);
                let issued = world.refresh(sent, sent_at, Some(process));
                if let Some(generation) = issued {
                    world.issued_at.insert(generation, asked_at);
                } else {
                    *world.refused.entry(sent).or_default() += 1;
                }
                issued
            };
            clock.sleep(back).await;
            let Some(n) = issued else {
                return Ok(error(403, "invalid_grant"));
            };
            let mut tokens = renewed(n);
            tokens["expires_in"] = LIFE.as_secs().into();
            Ok(reply(200, tokens))
        }
        Fate::IsNotSent => Err(NoReply::Unreachable),
        Fate::IsRefused(status) => Ok(reply(status, "")),
        Fate::ReplyIsLost => {
            lock(&world).refresh(sent, sent_at, None);
            clock.sleep(back).await;
            Ok(reply(502, ""))
        }
        Fate::TimesOut(_) => {
            clock.sleep(5 * SECOND).await;
            Err(NoReply::TimedOut)
        }
    }
}
