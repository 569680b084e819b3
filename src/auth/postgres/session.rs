//! A connection for a while.

use std::time::Duration;

use deadpool_postgres::tokio_postgres::Client;
use deadpool_postgres::{Object, Pool};
use tokio::time::timeout;

use super::fault::{Fault, no_connection, too_slow};
use crate::auth::StoreError;

/// Goes back to the pool only when it is known to be in order: work that was given up leaves answers on the way.
pub(super) struct Session {
    object: Option<Object>,
    in_order: bool,
}

impl Session {
    pub(super) async fn open(pool: &Pool, limit: Duration) -> Result<Self, Fault> {
        let object = timeout(limit, pool.get()).await.map_err(|_| too_slow())?;
        Ok(Self {
            object: Some(object.map_err(no_connection)?),
            in_order: false,
        })
    }

    pub(super) fn client(&self) -> Result<&Client, StoreError> {
        let gone = || StoreError::new("the connection was given back");
        self.object
            .as_ref()
            .map(|object| &***object)
            .ok_or_else(gone)
    }

    pub(super) fn give_back(mut self) {
        self.in_order = true;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(object) = self.object.take()
            && !self.in_order
        {
            // Ends the connection, and with it whatever it holds.
            drop(Object::take(object));
        }
    }
}
