//! Waits for notifications of the database, on a connection of its own.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use deadpool_postgres::tokio_postgres::{AsyncMessage, Config, Connection, Error, Socket};
use futures_util::future::select;
use futures_util::stream::{StreamExt, poll_fn};
use tokio::io::{AsyncRead, AsyncWrite};

use super::tables::CHANNEL;
use crate::auth::BoxFuture;
use crate::sync::loop_control::LoopControl;

/// How long it is waited after the connection is lost. Polling goes on meanwhile.
const AGAIN: Duration = Duration::from_secs(5);

/// Listens until the connection is lost, and wakes at each notification with a payload.
pub(super) type Listen =
    Arc<dyn Fn(String, LoopControl) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

pub(super) fn listener<T>(config: Config, tls: T) -> Listen
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    Arc::new(move |payload, control| {
        let (config, tls) = (config.clone(), tls.clone());
        Box::pin(async move {
            let (client, connection) = config.connect(tls).await?;
            let begun = async {
                client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
                // What was written before is found by a claim.
                control.wake();
                pending().await
            };
            let received = receive(connection, &payload, &control);
            select(pin!(begun), pin!(received)).await.factor_first().0
        })
    })
}

/// Wakes until the connection is lost.
async fn receive<S>(
    mut connection: Connection<Socket, S>,
    payload: &str,
    control: &LoopControl,
) -> Result<(), Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut messages = poll_fn(move |context| connection.poll_message(context));
    while let Some(message) = messages.next().await {
        if let AsyncMessage::Notification(notification) = message?
            && notification.payload() == payload
        {
            control.wake();
        }
    }
    Ok(())
}

/// Listens again and again.
pub(super) async fn keep_listening(listen: Listen, payload: String, control: LoopControl) {
    loop {
        let ended = listen(payload.clone(), control.clone()).await;
        // The text of such an error may repeat a part of the connection's settings.
        let code = ended
            .err()
            .and_then(|error| error.code().map(|code| code.code().to_owned()));
        tracing::warn!(
            code,
            "the connection that listens was lost; new entries are found by polling"
        );
        tokio::time::sleep(AGAIN).await;
    }
}
