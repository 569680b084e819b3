//! The manager against a scripted token endpoint, on a clock that is moved by hand.

mod another_client;
pub(in crate::auth) mod bench;
mod client_authentication;
mod damage;
mod decisions;
mod deletion;
mod device;
mod elsewhere;
mod ending;
mod failures;
mod id_token_check;
mod inspection;
mod kept_lock;
mod many_users;
mod marks;
mod network;
mod persistence;
mod schedules;
mod sessions;
mod single_flight;
mod time;
