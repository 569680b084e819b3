//! `run`: sends what is due, and shows each change of state.

use std::collections::HashMap;
use std::fmt::Display;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use envd_sdk::Client;
use envd_sdk::auth::TokenManager;
use envd_sdk::model::AccountId;
use envd_sync::LoopHandle;
use envd_sync::outbox::{
    Declaration, DeclarationId, DeclarationState, Outbox, OutboxEvent, OutboxReport,
};

use super::arguments::Run;
use super::cli::{self, Failure, printable};
use super::failure::{LOGIN, OPEN, Setting, is_without_reception};
use super::file::File;
use super::output::{Output, Report};
use super::settings::Settings;

/// The interval between attempts to reach the service while the account is unknown.
const CHECK_EVERY: Duration = Duration::from_secs(5);

pub(crate) async fn run(file: File, options: &Run) -> Result<ExitCode, Failure> {
    let mut limit = end_of(options.limit)?;
    let run = Running::new(options.json);
    let offline = file.outbox()?;
    let is_empty = offline.declarations().await?.is_empty();
    if options.once && file.account().is_none() && is_empty {
        return run.end(&[]);
    }
    if !options.once && is_empty {
        run.output.waits()?;
    }
    let settings = Settings::read().await?;
    let connected = tokio::select! {
        biased;
        () = &mut limit => return run.end(&offline.declarations().await?),
        connected = connect(file, &settings, options.once) => connected,
    };
    // The manager must stay alive to renew the token.
    let (outbox, _manager) = match connected {
        Ok(connected) => connected,
        Err(failure) if is_without_reception(&failure) => {
            waits(cli::chain(failure.as_ref()));
            return run.end(&offline.declarations().await?);
        }
        Err(failure) => return Err(failure),
    };
    let outbox = outbox.lease(options.lease.unwrap_or(LEASE));
    let outbox = match options.settle {
        Some(time) => outbox.reconcile_after(time),
        None => outbox,
    };
    run.send(outbox, options.once, limit).await
}

/// A short lease: all runs are on one machine, so a working sender seldom fails to renew it for long.
const LEASE: Duration = Duration::from_secs(3);

/// The interval between checks for new entries and decisions of other processes.
const NOTICE_EVERY: Duration = Duration::from_secs(1);

/// Ends a run early.
type Limit = Pin<Box<dyn Future<Output = ()>>>;

/// Sends, and ends when there is nothing more to do or when it is stopped.
type Sending = Pin<Box<dyn Future<Output = Result<(), envd_sync::Error>>>>;

struct Running {
    output: Output,
    report: Report,
    /// The waiting entries as last seen by this run.
    seen: HashMap<DeclarationId, DeclarationState>,
}

impl Running {
    fn new(json: bool) -> Self {
        Self {
            output: Output::new(json),
            report: Report::default(),
            seen: HashMap::new(),
        }
    }

    /// Sends, and shows each change of state.
    async fn send(
        mut self,
        outbox: Outbox,
        once: bool,
        mut limit: Limit,
    ) -> Result<ExitCode, Failure> {
        let mut events = outbox.events();
        let passes = Passes::default();
        let (mut sending, stop) = if once {
            (send_once(outbox.clone(), passes.clone()), None)
        } else {
            let (sending, handle) = send_always(&outbox, passes.clone());
            (sending, Some(handle))
        };
        let mut is_over = false;
        let mut notice = tokio::time::interval(NOTICE_EVERY);
        self.is_new(&outbox.declarations().await?);
        loop {
            tokio::select! {
                biased;
                Some(entry) = events.next_state() => self.show(&entry)?,
                sent = &mut sending => {
                    sent?;
                    break;
                }
                () = &mut limit, if !is_over => match &stop {
                    Some(handle) => {
                        is_over = true;
                        handle.stop();
                    }
                    // The next run checks the outcome of a request in flight.
                    None => break,
                },
                _ = notice.tick(), if stop.is_some() && !is_over => {
                    let is_new = self.is_new(&outbox.declarations().await?);
                    stop.iter().filter(|_| is_new).for_each(LoopHandle::wake_now);
                }
            }
        }
        passes.add_to(&mut self.report);
        let left = outbox.declarations().await?;
        // The events end when the last handle of the outbox is dropped.
        drop((sending, outbox));
        while let Some(entry) = events.next_state().await {
            self.show(&entry)?;
        }
        self.end(&left)
    }

    /// Whether an entry changed since this run last saw it.
    fn is_new(&mut self, entries: &[Declaration]) -> bool {
        let now = entries
            .iter()
            .map(|entry| (entry.id, entry.state))
            .collect();
        let before = std::mem::replace(&mut self.seen, now);
        let mut now = self.seen.iter();
        now.any(|(id, state)| before.get(id) != Some(state))
    }

    fn show(&mut self, entry: &Declaration) -> Result<(), Failure> {
        let before = self.seen.insert(entry.id, entry.state);
        // A confirmed entry is reported again when late duplicates are found.
        let is_confirmed = entry.state == DeclarationState::Confirmed
            && (entry.late_duplicates.is_empty()
                || before.is_some_and(|before| !before.is_final()));
        self.report.confirmed += u64::from(is_confirmed);
        let has_problems = is_confirmed && !entry.findings.is_empty();
        self.report.confirmed_with_problems += u64::from(has_problems);
        self.output.entry(entry)
    }

    /// Writes the report, and returns the exit code.
    fn end(mut self, left: &[Declaration]) -> Result<ExitCode, Failure> {
        self.report.count(left);
        self.output.report(&self.report)?;
        Ok(match &self.report {
            report if report.login_needed => ExitCode::from(LOGIN),
            report if report.is_open() => ExitCode::from(OPEN),
            _ => ExitCode::SUCCESS,
        })
    }
}

fn send_once(outbox: Outbox, passes: Passes) -> Sending {
    Box::pin(async move {
        passes.note(&outbox.send().await?);
        Ok(())
    })
}

fn send_always(outbox: &Outbox, passes: Passes) -> (Sending, LoopHandle) {
    let sending = outbox.run();
    let (handle, stop) = (sending.handle(), sending.handle());
    let failure = Arc::new(Mutex::new(None));
    let failed = failure.clone();
    let sending = sending.on_event(move |event| match event {
        OutboxEvent::Passed { report, .. } => passes.note(report),
        // A file locked by another process may be free next time.
        OutboxEvent::Failed { error, .. } if error.is_retryable() => waits(error),
        OutboxEvent::Failed { error, .. } => {
            *lock(&failed) = Some(error.clone());
            stop.stop();
        }
        _ => {}
    });
    let sending = Box::pin(async move {
        sending.await;
        lock(&failure).take().map_or(Ok(()), Err)
    });
    (sending, handle)
}

/// Sums of the passes so far.
#[derive(Clone, Default)]
struct Passes(Arc<Mutex<Report>>);

impl Passes {
    fn note(&self, pass: &OutboxReport) {
        let mut report = lock(&self.0);
        report.requests += pass.requests;
        report.late_duplicates += pass.late_duplicates;
        report.login_needed = pass.login_needed;
        if let Some(why) = &pass.stopped_by {
            waits(why);
        }
    }

    fn add_to(&self, report: &mut Report) {
        let passes = lock(&self.0);
        report.requests += passes.requests;
        report.late_duplicates += passes.late_duplicates;
        report.login_needed = passes.login_needed;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Connects the outbox to the service, and asks for the account if it is unknown; `once`: only once.
async fn connect(
    file: File,
    settings: &Settings,
    once: bool,
) -> Result<(Outbox, Option<TokenManager>), Failure> {
    let (client, manager) = settings.log_in().await.map_err(login_failure)?;
    let client = client.build()?;
    let file = file.of_user(manager.as_ref().and_then(TokenManager::subject))?;
    let file = loop {
        if file.account().is_some() {
            break file;
        }
        match account(&client).await {
            Ok(account) => break file.known(account)?,
            Err(failure) if !once && is_without_reception(&failure) => {
                waits(cli::chain(failure.as_ref()));
                tokio::time::sleep(CHECK_EVERY).await;
            }
            Err(failure) => return Err(failure),
        }
    };
    Ok((file.outbox_of(&client), manager))
}

/// Prints the reason why nothing is sent for now.
fn waits(why: impl Display) {
    eprintln!("waiting: {}", printable(why));
}

async fn account(client: &Client) -> Result<AccountId, Failure> {
    Settings::account_id(&client.registered_user().await?.value)
}

/// A failure that is not an error of a server is an error of the settings.
fn login_failure(failure: Failure) -> Failure {
    if failure.is::<envd_sdk::Error>() {
        return failure;
    }
    Setting(failure.to_string()).into()
}

/// Resolves on Ctrl-C, on a request to end, or after the given time.
fn end_of(time: Option<Duration>) -> io::Result<Limit> {
    let mut interrupted = cli::interrupts()?;
    Ok(Box::pin(async move {
        let over = async {
            match time {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupted.recv() => {}
            () = over => {}
        }
    }))
}
