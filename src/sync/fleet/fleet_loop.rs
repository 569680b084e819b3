//! Serves accounts on this host until it is stopped.

use std::fmt;
use std::sync::Arc;

use super::account_fleet::Fleet;
use super::fleet_event::FleetEvent;
use super::gate::{Budget, HostGate};
use super::host::Host;
use super::work::{Open, Worker};
use crate::auth::BoxFuture;
use crate::client::Account;
use crate::error::Result;
use crate::model::AccountId;
use crate::sync::loop_control::LoopControl;
use crate::transport::Clock;

/// What is called with each event.
pub(super) type OnEvent = Box<dyn FnMut(&FleetEvent) + Send>;

/// Serves accounts on this host until it is stopped, from [`Fleet::run`]. Await it, or spawn its future. It runs inside a
/// tokio runtime.
///
/// Dropping it stops the work at once; other hosts then wait for the leases to end. [`FleetLoopHandle::stop`] gives them
/// back.
///
/// The [module](super) has an example.
#[must_use = "it does nothing until it is awaited"]
pub struct FleetLoop {
    fleet: Fleet,
    open: Open,
    on_event: OnEvent,
    handle: FleetLoopHandle,
}

/// Stops or wakes a [`FleetLoop`]. Cheap to clone.
///
/// The [module](super) has an example.
#[derive(Clone, Debug)]
pub struct FleetLoopHandle {
    control: LoopControl,
}

impl Fleet {
    /// Serves the fleet's accounts on this host until it is stopped, together with all other hosts that run it. Failures do
    /// not end it.
    ///
    /// `open` gets the id of an account each time there is something to do for it, and returns its handle, with the login of
    /// the account. Give all of them one [`Client`](crate::Client) with
    /// [`with_token_source`](crate::Client::with_token_source), so that they share connections. An error of it is a failure
    /// of that account alone.
    pub fn run<F, A>(&self, open: F) -> FleetLoop
    where
        F: Fn(AccountId) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Account>> + Send + 'static,
    {
        FleetLoop {
            fleet: self.clone(),
            open: Arc::new(move |account| Box::pin(open(account))),
            on_event: Box::new(|_| {}),
            handle: FleetLoopHandle {
                control: LoopControl::new(),
            },
        }
    }
}

impl FleetLoop {
    /// Is called with each event. It must not block.
    pub fn on_event(mut self, report: impl FnMut(&FleetEvent) + Send + 'static) -> Self {
        self.on_event = Box::new(report);
        self
    }

    /// A handle that stops or wakes it.
    #[must_use]
    pub fn handle(&self) -> FleetLoopHandle {
        self.handle.clone()
    }

    async fn run(self) {
        let shared = &self.fleet.shared;
        let settings = &shared.settings;
        let budget = settings
            .per_second
            .map(|limit| Budget::new(Arc::clone(&shared.tables), limit));
        let gate = HostGate::new(Clock::system(), settings.host_per_second, budget);
        let worker = Worker {
            shared: Arc::clone(shared),
            gate: Arc::new(gate),
            open: self.open,
        };
        let control = self.handle.control;
        Host::new(worker, self.on_event, control).run().await;
    }
}

impl IntoFuture for FleetLoop {
    type Output = ();
    type IntoFuture = BoxFuture<'static, ()>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for FleetLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetLoop")
            .field("fleet", &self.fleet)
            .finish_non_exhaustive()
    }
}

impl FleetLoopHandle {
    /// Ends the loop: nothing is claimed and no request is begun any more, requests in flight end within
    /// [`shutdown_time`](super::FleetBuilder::shutdown_time), and the leases are given back.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Looks for due accounts at once.
    pub fn claim_now(&self) {
        self.control.wake();
    }
}
