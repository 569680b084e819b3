//! The listener under correct, slow and hostile requests.

use std::time::{Duration, UNIX_EPOCH};

use test_support::script::rows;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;
use url::Url;

use super::{Loopback, LoopbackBuilder, RedirectFile};
use crate::auth::{CheckedCallback, PendingLogin, test_settings as settings};
use crate::error::Result;
use crate::error::tests::assert_fails;
use crate::transport::Clock;

pub(super) struct Trial {
    pub(super) clock: Clock,
    pub(super) host: String,
    pub(super) state: String,
    path: String,
    waiting: JoinHandle<Result<CheckedCallback>>,
}

pub(super) fn login(redirect_uri: &str, clock: &Clock) -> PendingLogin {
    let settings = settings().redirect_uri(redirect_uri);
    let provider = settings.clock(clock.clone()).build().unwrap();
    provider.authorization().start().unwrap()
}

async fn bound(mut builder: LoopbackBuilder) -> (Clock, Loopback) {
    let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_000_000));
    builder.clock = clock.clone();
    (clock, builder.bind().await.unwrap())
}

pub(super) fn state(login: &PendingLogin) -> String {
    let mut pairs = login.url().query_pairs();
    let (_, state) = pairs.find(|(name, _)| name == "state").unwrap();
    state.into_owned()
}

impl Trial {
    async fn start() -> Self {
        Self::start_with(Loopback::builder()).await
    }

    pub(super) async fn start_with(builder: LoopbackBuilder) -> Self {
        let (clock, listener) = bound(builder).await;
        let login = login(listener.redirect_uri().as_str(), &clock);
        Self {
            clock,
            host: listener.redirect_uri().authority().to_owned(),
            state: state(&login),
            path: listener.redirect_uri().path().to_owned(),
            waiting: tokio::spawn(listener.receive(login)),
        }
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.host).await.unwrap()
    }

    /// Sends a GET like a browser, and returns the complete response.
    async fn get(&self, target: &str) -> String {
        self.send(&self.request(target)).await
    }

    /// The status code and reason of the response to a request.
    async fn status(&self, request: &str) -> String {
        let response = self.send(request).await;
        let (line, _) = response.split_once("\r\n").unwrap();
        line.trim_start_matches("HTTP/1.1 ").to_owned()
    }

    /// Checks that the callback of the login ends it.
    async fn ends_well(self) {
        let good = self.request(&self.good());
        assert_eq!(self.status(&good).await, "200 OK");
        self.end().await.unwrap();
    }

    pub(super) fn request(&self, target: &str) -> String {
        format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host)
    }

    async fn send(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    pub(super) fn good(&self) -> String {
        format!("{}?code=c0d3&state={}", self.path, self.state)
    }

    pub(super) async fn end(self) -> Result<CheckedCallback> {
        let ended = self.waiting.await.unwrap();
        let clock = self.clock.clone();
        // The port is closed. It may not be bindable, because another process may use it for an outgoing connection, but
        // connections to it are refused. A process just started by another test holds a copy of every socket until it has
        // loaded its program; the loop waits for that.
        let freed = async {
            while TcpListener::bind(&self.host).await.is_err()
                && TcpStream::connect(&self.host).await.is_ok()
            {
                // The page is still served for a while.
                clock.advance(Duration::from_secs(1));
                yield_now().await;
            }
        };
        assert!(timeout(Duration::from_secs(30), freed).await.is_ok());
        ended
    }
}

/// Row 46.
#[tokio::test]
async fn the_browser_gets_a_page_without_secrets() {
    let trial = Trial::start().await;
    let response = trial.get(&trial.good()).await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("cache-control: no-store"));
    for secret in ["c0d3", trial.state.as_str()] {
        assert!(!response.contains(secret), "{response}");
    }
    trial.end().await.unwrap();
}

/// Row 46.
#[tokio::test]
async fn foreign_requests_are_refused_and_change_nothing() {
    let trial = Trial::start().await;
    let good = trial.good();
    let own = trial.host.clone();
    for (method, target, host, status) in [
        ("GET", "/favicon.ico", &*own, "404"),
        ("GET", "/", &own, "404"),
        ("GET", "/callback", &own, "400"),
        ("GET", "/callback?code=c&state=another", &own, "400"),
        ("GET", "/callback?error=access_denied", &own, "400"),
        ("GET", "/callback?error=no&state=another", &own, "400"),
        ("GET", "/callback?code=c&code=d", &own, "400"),
        ("GET", &good, "evil.example", "400"),
        ("GET", &good, "localhost", "400"),
        ("GET", &good, "127.0.0.1", "400"),
        ("POST", &good, &own, "405"),
    ] {
        let request = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let found = trial.status(&request).await;
        assert!(found.starts_with(status), "{request}: {found}");
    }
    trial.ends_well().await;
}

#[tokio::test]
async fn the_program_says_how_the_login_ended() {
    let pages = || {
        Loopback::builder()
            .done_page("Back to <Herd Book>", "Close this window.")
            .refused_page("No login", "R&D works without one.")
    };
    let trial = Trial::start_with(pages()).await;
    let response = trial.get(&trial.good()).await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("<h1>Back to &lt;Herd Book&gt;</h1>"));
    assert!(response.contains("<p>Close this window.</p>"));
    trial.end().await.unwrap();

    let trial = Trial::start_with(pages()).await;
    // Pages about other requests use the listener's own text.
    let other = trial.get("/callback?code=c&state=another").await;
    assert!(other.contains("another login") && !other.contains("R&amp;D"));
    let target = format!("/callback?error=access_denied&state={}", trial.state);
    let response = trial.get(&target).await;
    assert!(response.contains("<h1>No login</h1><p>R&amp;D works without one.</p>"));
    assert_fails(trial.end().await, "LoginRefused: access_denied");
}

/// Row 46. Browsers repeat the request, on the same connection or a new one.
#[tokio::test]
async fn the_first_of_two_callbacks_wins_and_both_get_the_page() {
    for query in ["code=c0d3", "error=access_denied"] {
        let trial = Trial::start().await;
        let mut late = trial.connect().await;
        let target = format!("{}?{query}&state={}", trial.path, trial.state);
        let page = trial.get(&target).await;
        assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
        let request = trial.request(&target);
        late.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        late.read_to_string(&mut response).await.unwrap();
        assert_eq!(response, page);
        assert_eq!(trial.get(&target).await, page);
        // A different query gets no page.
        let other = format!("{target}&more=1");
        let found = trial.status(&trial.request(&other)).await;
        assert!(found.starts_with("400"), "{found}");
        let ended = trial.end().await;
        assert_eq!(ended.is_ok(), query.starts_with("code"));
    }
}

/// Row 46. A user who refused a login by mistake restarts it immediately, at the registered address.
#[tokio::test]
async fn the_next_listener_of_the_program_gets_the_port_at_once() {
    let trial = Trial::start().await;
    assert!(trial.get(&trial.good()).await.starts_with("HTTP/1.1 200"));
    let address = format!("http://{}/callback", trial.host);
    trial.waiting.await.unwrap().unwrap();
    // As in `Trial::end`: a process that was just started holds a copy of the socket.
    let again = async {
        while let Err(error) = Loopback::builder().redirect_uri(&address).bind().await {
            assert!(
                error.to_string().contains("cannot be listened on"),
                "{error}"
            );
            yield_now().await;
        }
    };
    assert!(timeout(Duration::from_secs(30), again).await.is_ok());
}

/// Row 46.
#[tokio::test]
async fn silent_and_slow_connections_delay_no_other() {
    let trial = Trial::start().await;
    let mut silent = trial.connect().await;
    let mut slow = trial.connect().await;
    slow.write_all(b"GET /callb").await.unwrap();
    // Both are accepted before later connections.
    assert!(trial.get("/favicon.ico").await.starts_with("HTTP/1.1 404"));
    trial.clock.advance(Duration::from_secs(11));
    for stream in [&mut silent, &mut slow] {
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 408"), "{response}");
    }
    trial.ends_well().await;
}

/// Row 46. Another program on the machine can open any number of connections.
#[tokio::test]
async fn many_silent_connections_do_not_block_the_callback() {
    let trial = Trial::start().await;
    let mut others = Vec::new();
    for number in 0..100 {
        let mut other = trial.connect().await;
        if number % 2 == 0 {
            // OK to ignore: the connection may be closed already.
            let _ = other.write_all(b"G").await;
        }
        others.push(other);
    }
    // The clock does not advance, so no time limit has passed.
    trial.ends_well().await;
}

/// Row 46. The browser connected first, while the program was busy.
#[tokio::test]
async fn a_callback_before_many_silent_connections_is_answered() {
    let (clock, listener) = bound(Loopback::builder()).await;
    let login = login(listener.redirect_uri().as_str(), &clock);
    let host = listener.redirect_uri().authority().to_owned();
    let mut browser = TcpStream::connect(&host).await.unwrap();
    let target = format!("/callback?code=c0d3&state={}", state(&login));
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    browser.write_all(request.as_bytes()).await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(&host).await.unwrap());
    }
    let waiting = tokio::spawn(listener.receive(login));
    let mut response = String::new();
    browser.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    waiting.await.unwrap().unwrap();
}

/// Row 46.
#[tokio::test]
async fn a_request_in_small_pieces_is_read_and_a_huge_one_is_refused() {
    let trial = Trial::start().await;
    let mut huge = trial.connect().await;
    huge.write_all(b"GET /callback?").await.unwrap();
    let flood = vec![b'a'; 20_000];
    // OK to ignore: the peer may close before it has read everything.
    let _ = huge.write_all(&flood).await;
    let mut start = [0; 12];
    huge.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 431");
    let mut pieces = trial.connect().await;
    let request = trial.request(&trial.good());
    for piece in request.as_bytes().chunks(7) {
        pieces.write_all(piece).await.unwrap();
        pieces.flush().await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut response = String::new();
    pieces.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    trial.end().await.unwrap();
}

/// Row 46.
#[tokio::test]
async fn a_missing_callback_ends_in_a_time_out() {
    let trial = Trial::start().await;
    trial.get("/").await;
    trial.clock.advance(Duration::from_secs(600));
    assert_fails(trial.end().await, "LoginRefused: no_callback_in_time");
}

/// Row 46.
#[tokio::test]
async fn a_dropped_listener_frees_its_port_and_connections() {
    let trial = Trial::start().await;
    trial.get("/").await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(trial.connect().await);
    }
    // They are accepted before this request.
    trial.get("/").await;
    trial.waiting.abort();
    assert!(trial.waiting.await.unwrap_err().is_cancelled());
    for mut connection in silent {
        let mut rest = Vec::new();
        let closed = timeout(Duration::from_secs(30), connection.read_to_end(&mut rest));
        assert!(closed.await.is_ok() && rest.is_empty());
    }
    let address = format!("http://{}/callback", trial.host);
    // As in `Trial::end`: a process that was just started holds a copy of the socket.
    let again = async {
        loop {
            if let Ok(again) = Loopback::builder().redirect_uri(&address).bind().await {
                return again;
            }
            yield_now().await;
        }
    };
    let again = timeout(Duration::from_secs(30), again).await.unwrap();
    assert_eq!(again.redirect_uri().as_str(), address);
    let taken = Loopback::builder().redirect_uri(&address).bind().await;
    assert_fails(taken, "Config");
}

/// Row 46.
#[tokio::test]
async fn only_loopback_addresses_are_listened_on() {
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        let builder = Loopback::builder().redirect_uri(format!("http://{host}:0/back"));
        // The machine may lack IPv6.
        let Ok(listener) = builder.bind().await else {
            continue;
        };
        let uri = listener.redirect_uri();
        for socket in &listener.sockets.all {
            assert!(socket.local_addr().unwrap().ip().is_loopback());
        }
        assert!(uri.path() == "/back" && uri.port().unwrap() > 0, "{uri}");
    }
    for path in ["", "callback", "/a?b", "/a#b", "/a b", "/../a", ":1/x"] {
        let builder = Loopback::builder().redirect_uri(format!("http://127.0.0.1:0{path}"));
        assert_fails(builder.bind().await, "Config");
    }
}

#[tokio::test]
async fn any_registered_address_of_this_machine_is_served() {
    for address in [
        "http://127.0.0.1:0/callback",
        "http://localhost:0/callback/envd/",
    ] {
        let trial = Trial::start_with(Loopback::builder().redirect_uri(address)).await;
        trial.ends_well().await;
    }
    for row in rows(
        "
        http://192.0.2.1:0/callback     | Config: not one of this machine
        http://0.0.0.0:0/callback       | Config: not one of this machine
        http://login.invalid:0/callback | Config: port 0 cannot be listened on
        http://127.0.0.1:0              | Config: browsers write it as http://127.0.0.1:0/
        http://LOCALHOST:0/callback     | Config: browsers write it as http://localhost:0/
        http://127.0.0.1:0/callback?a=b | Config: alone
        http://127.0.0.1:0/callback#a   | Config: alone
        http://me@127.0.0.1:0/callback  | Config: alone
        com.example.app:/callback       | Config: alone
        callback                        | Config: not a valid URL
        ",
    ) {
        let builder = Loopback::builder().redirect_uri(row[0]);
        assert_fails(builder.bind().await, row[1]);
    }
    let pem = "-----BEGIN PRIVATE KEY-----\ns3cr3t";
    let builder = Loopback::builder().certificate(pem);
    assert!(!format!("{builder:?}").contains("s3cr3t"));
    assert_fails(builder.bind().await, "Config: not https");
}

#[tokio::test]
async fn a_login_with_another_redirect_uri_is_refused_at_once() {
    let listener = Loopback::bind().await.unwrap();
    let login = login("http://127.0.0.1:1/callback", &Clock::system());
    assert_fails(listener.receive(login).await, "Config");
}

/// Rejects `file` and schemes that start other programs.
#[tokio::test]
async fn only_http_addresses_are_opened() {
    for address in ["file:///etc/passwd", "javascript:alert(1)", "mailto:a@b.c"] {
        let address = Url::parse(address).unwrap();
        assert_fails(RedirectFile::open(&address).await, "Config: http");
    }
}
