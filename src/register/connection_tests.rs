//! HTTP/2 connections that die silently: later requests of either client use another connection.

use std::time::{Duration, SystemTime};

use crate::auth::StaticToken;
use crate::client::Client;
use crate::error::{ErrorKind, Result};
use crate::register::Register;
use crate::transport::tls::{Http2Server, TlsServer};
use crate::transport::{Clock, HttpOptions, RetryPolicy};

/// Answers both interfaces.
const REPLY: &str =
    r#"{"data": {"questions": {"items": []}}, "Value": {"SubSet": [], "Total": 0}}"#;

/// A client of one of the interfaces.
enum Interface {
    Declarations(Client),
    Register(Register),
}

impl Interface {
    /// A client for each interface, each with a server whose first connection dies after one reply.
    fn both(http: HttpOptions, retry: RetryPolicy, clock: &Clock) -> [(Self, Http2Server); 2] {
        let http = http.extra_root_certificate(TlsServer::AUTHORITY);
        let servers = [Http2Server::start(REPLY, 1), Http2Server::start(REPLY, 1)];
        let client = Client::builder(servers[0].url.as_str())
            .token_source(StaticToken::new("token").unwrap())
            .http(http.clone())
            .retry(retry.clone())
            .clock(clock.clone())
            .build()
            .unwrap();
        let register = Register::builder(servers[1].url.as_str())
            .http(http)
            .retry(retry)
            .clock(clock.clone())
            .build()
            .unwrap();
        let interfaces = [Self::Declarations(client), Self::Register(register)];
        let mut pairs = interfaces.into_iter().zip(servers);
        std::array::from_fn(|_| pairs.next().unwrap())
    }

    /// Makes a call with this deadline.
    async fn call(&self, deadline: Duration) -> Result<()> {
        match self {
            Self::Declarations(client) => {
                let _ = client.questions().deadline(deadline).await?;
            }
            Self::Register(register) => {
                let pic = "QDZZ3333".parse().unwrap();
                register.property(&pic).deadline(deadline).await?;
            }
        }
        Ok(())
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn after_the_deadline_of_a_call_the_next_one_takes_another_connection() {
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    for (interface, mut server) in
        Interface::both(HttpOptions::default(), RetryPolicy::none(), &clock)
    {
        interface.call(HOUR).await.unwrap();
        assert_eq!(server.next_request().await, 1);
        let (result, ()) = tokio::join!(interface.call(HOUR), async {
            assert_eq!(server.next_request().await, 1);
            clock.advance(HOUR);
        });
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Timeout);
        interface.call(HOUR).await.unwrap();
        assert_eq!(server.next_request().await, 2);
    }
}

#[tokio::test]
async fn after_the_time_limit_of_a_request_the_next_attempt_takes_another_connection() {
    let retry = RetryPolicy::default().base_wait(Duration::ZERO);
    for (interface, mut server) in Interface::both(HttpOptions::default(), retry, &Clock::system())
    {
        interface.call(HOUR).await.unwrap();
        assert_eq!(server.next_request().await, 1);
        let (result, ()) = tokio::join!(interface.call(HOUR), async {
            assert_eq!(server.next_request().await, 1);
            // Pauses the time of this thread; the server keeps its own.
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(61)).await;
            tokio::time::resume();
        });
        result.unwrap();
        assert_eq!(server.next_request().await, 2);
    }
}

#[tokio::test]
async fn a_connection_that_does_not_answer_pings_is_given_up_long_before_the_time_limit() {
    let http = HttpOptions::default().timeout(2 * HOUR);
    for (interface, mut server) in Interface::both(http, RetryPolicy::none(), &Clock::system()) {
        interface.call(HOUR).await.unwrap();
        assert_eq!(server.next_request().await, 1);
        let (result, start) = tokio::join!(interface.call(HOUR), async {
            assert_eq!(server.next_request().await, 1);
            // While paused, time advances whenever the runtime is idle.
            tokio::time::pause();
            tokio::time::Instant::now()
        });
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Timeout);
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            start.elapsed()
        );
        tokio::time::resume();
        interface.call(HOUR).await.unwrap();
        assert_eq!(server.next_request().await, 2);
    }
}
