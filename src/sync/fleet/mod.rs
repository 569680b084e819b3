//! The replicas and outboxes of many accounts, served by many hosts that share a Postgres database.

mod claims;
mod fleet;
mod fleet_event;
mod fleet_loop;
mod fleet_store;
mod gate;
mod host;
mod listener;
mod pace;
mod status;
mod tables;
#[cfg(test)]
mod tests;
mod work;

pub use self::fleet::{Fleet, FleetBuilder};
pub use self::fleet_event::FleetEvent;
pub use self::fleet_loop::{FleetLoop, FleetLoopHandle};
pub use self::fleet_store::FleetStore;
pub use self::status::{FleetAccount, FleetStatus};
