//! `web_login` with browsers and with hostile pages.

use std::collections::BTreeMap;
use std::net::TcpListener;

use processes::Running;
use processes::http::{assert_has, header, location, send};
use url::{Position, Url};

use super::app;

/// A browser with cookies that does not follow redirects.
struct Browser<'s> {
    server: &'s Running,
    cookies: BTreeMap<String, String>,
}

impl<'s> Browser<'s> {
    fn of(server: &'s Running) -> Self {
        let cookies = BTreeMap::new();
        Self { server, cookies }
    }

    fn get(&mut self, target: &str) -> String {
        self.send("GET", target, &[])
    }

    fn send(&mut self, method: &str, target: &str, headers: &[&str]) -> String {
        let url = self.server.url("url").join(target).unwrap();
        // As a proxy forwards it.
        let target = &url[Position::BeforePath..];
        let url = format!("http://127.0.0.1:{}{target}", self.server.line["port"]);
        let url = Url::parse(&url).unwrap();
        let pairs = self.cookies.iter();
        let pairs: Vec<_> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let cookies = format!("cookie: {}", pairs.join("; "));
        let reply = send(method, &url, &[headers, &[&cookies]].concat(), "");
        let (head, _) = reply.split_once("\r\n\r\n").unwrap();
        for line in head.lines() {
            let Some(cookie) = line.strip_prefix("set-cookie: ") else {
                continue;
            };
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            if cookie.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        assert_secure(&reply);
        reply
    }

    /// Starts a login. Returns the callback address to which the identity provider redirects the browser.
    fn begin(&mut self) -> Url {
        let provider = location(&self.get("/login"));
        location(&send("GET", &provider, &[], ""))
    }

    fn log_in(&mut self) {
        let callback = self.begin();
        self.gets(callback.as_str(), 303);
        assert!(self.is_logged_in());
    }

    /// Requests a page, and checks the status of the reply.
    fn gets(&mut self, target: &str, status: u16) -> String {
        let reply = self.get(target);
        assert_status(&reply, status);
        reply
    }

    /// Sends a logout from a page of this origin.
    fn log_out(&mut self, origin: &str, status: u16) -> String {
        let reply = self.send("POST", "/logout", &[&format!("origin: {origin}")]);
        assert_status(&reply, status);
        reply
    }

    fn is_logged_in(&mut self) -> bool {
        let page = self.get("/");
        let is_so = page.contains("Good day, Sam");
        assert_ne!(is_so, page.contains(">Log in</a>"), "{page}");
        is_so
    }
}

fn assert_status(reply: &str, status: u16) {
    assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
}

fn assert_secure(reply: &str) {
    let policy = header(reply, "content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ] {
        assert_has(policy, part);
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(header(reply, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(reply, "referrer-policy"), Some("same-origin"));
    assert_eq!(header(reply, "cache-control"), Some("no-store"));
}

fn start() -> Running {
    Running::start(app("web_login").args(["--serve", "--port", "0"]))
}

#[test]
fn the_callback_is_the_page_that_is_registered() {
    let registered = |address| app("web_login").env("ENVD_REDIRECT_URI", address);
    let server = Running::start(registered("/callback/envd/").args(["--serve", "--port", "0"]));
    let mut browser = Browser::of(&server);
    assert_eq!(browser.begin().path(), "/callback/envd/");
    browser.log_in();
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for program in [app("web_login").arg("--serve"), app("web_form")] {
        let ended = program.args(["--port", &port]).run().with(1);
        assert_has(&ended.stderr, &format!("cannot listen on port {port}: "));
    }
}

#[test]
fn a_user_sees_accounts_and_latest_consignments() {
    let server = start();
    let mut browser = Browser::of(&server);
    assert!(!browser.is_logged_in());
    browser.log_in();
    let page = browser.get("/");
    let parts = "<html lang=\"en\">|<title>Sam Sample |name=\"viewport\"|Example Downs (QBZZ2222)|C-900000108|sam.sample@example.com";
    for part in parts.split('|') {
        assert_has(&page, part);
    }
    let other = browser.get("/?account=envd-100202");
    assert_has(&other, "Latest consignments of Example Downs");
    assert!(!other.contains("C-900000108"), "{other}");
    // Accounts of other users, and invalid ids.
    for account in ["envd-100301", "", "%3Cscript%3E", "envd-100201%00"] {
        let page = browser.gets(&format!("/?account={account}"), 404);
        assert!(!page.contains("<script"), "{account}: {page}");
    }
    browser.gets("/no-such-page", 404);
    let style = server.url("url").join("style.css").unwrap();
    let style = send("GET", &style, &[], "");
    let media_type = header(&style, "content-type");
    assert_eq!(media_type, Some("text/css; charset=utf-8"));
}

#[test]
fn a_forged_callback_does_not_use_up_the_login() {
    let server = start();
    let mut browser = Browser::of(&server);
    let mut other = Browser::of(&server);
    let callback = browser.begin();
    let others = other.begin();
    let state = callback.query_pairs().find(|(name, _)| name == "state");
    let state = state.unwrap().1.into_owned();
    let forged = "|code=c|code=c&state=another|error=access_denied|error=access_denied&state=%00|code=c&state=another&state=STATE|code=c&state=STATEx";
    let forged = forged
        .split('|')
        .map(|query| format!("/callback?{query}").replace("STATE", &state));
    // The last callback is from another browser, as in an attack that logs the victim in to the attacker's account.
    for forged in forged.chain(["/callback".to_owned(), others.to_string()]) {
        let reply = browser.gets(&forged, 400);
        assert_eq!(header(&reply, "set-cookie"), None, "{forged}");
    }
    Browser::of(&server).gets(callback.as_str(), 400);
    browser.gets(callback.as_str(), 303);
    assert!(browser.is_logged_in());
    // A callback works once: if the browser repeats it, it gets its own page; another browser is refused.
    let again = browser.gets(callback.as_str(), 303);
    assert_eq!(header(&again, "location"), Some("/"));
    assert_eq!(header(&again, "set-cookie"), None);
    other.gets(callback.as_str(), 400);
    assert!(browser.is_logged_in() && !other.is_logged_in());
}

#[test]
fn a_second_login_ends_the_first_session_of_the_browser() {
    let server = start();
    let mut browser = Browser::of(&server);
    let mut other = Browser::of(&server);
    browser.log_in();
    other.log_in();
    let mut first = Browser::of(&server);
    first.cookies.clone_from(&browser.cookies);
    browser.log_in();
    assert_ne!(first.cookies["session"], browser.cookies["session"]);
    assert!(!first.is_logged_in());
    assert!(browser.is_logged_in() && other.is_logged_in());
}

#[test]
fn a_page_of_another_origin_cannot_log_a_user_out() {
    let server = start();
    let mut browser = Browser::of(&server);
    browser.log_in();
    let own = server.url("url").origin().ascii_serialization();
    for origin in [
        "https://evil.example",
        "http://127.0.0.1:1",
        "null",
        &format!("{own}.evil.example"),
    ] {
        browser.log_out(origin, 403);
    }
    browser.gets("/logout", 405);
    assert!(browser.is_logged_in());
    let old = browser.cookies.clone();
    let reply = browser.log_out(&own, 303);
    assert!(location(&reply).path().ends_with("/logout"), "{reply}");
    assert!(!browser.cookies.contains_key("session"));
    browser.cookies = old;
    assert!(!browser.is_logged_in());
}

#[test]
fn cookies_are_secure_where_the_address_is_https() {
    let plain = start();
    let reply = Browser::of(&plain).get("/login");
    let cookie = header(&reply, "set-cookie").unwrap();
    assert!(
        cookie.starts_with("login=") && cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );

    let program = app("web_login").args(["--serve", "--port", "0"]);
    let server = Running::start(program.args(["--address", "https://desk.example/"]));
    let mut browser = Browser::of(&server);
    let callback = browser.begin();
    assert_eq!(callback.host_str(), Some("desk.example"));
    // Another host may have set a cookie without the prefix.
    let login = browser.cookies.remove("__Host-login").unwrap();
    browser.cookies.insert("login".to_owned(), login.clone());
    browser.gets(callback.as_str(), 400);
    browser.cookies.insert("__Host-login".to_owned(), login);
    let reply = browser.get(callback.as_str());
    let cookies = reply
        .lines()
        .filter_map(|line| line.strip_prefix("set-cookie: "));
    assert_eq!(cookies.clone().count(), 2, "{reply}");
    for cookie in cookies {
        assert_has(cookie, "; Path=/; HttpOnly; SameSite=Lax; Secure");
        assert!(
            cookie.starts_with("__Host-") && !cookie.contains("Domain"),
            "{cookie}"
        );
    }
    assert!(browser.is_logged_in());
    // The browser's address is the expected origin.
    browser.log_out("http://desk.example", 403);
    browser.log_out("https://desk.example", 303);
    assert!(!browser.is_logged_in());
}
