//! `serve_fake`: each address of its first line by plain HTTP requests, and the command-line examples against it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::folder::Folder;
use super::program::Program;

/// A process and the first line of its output. It is killed if the test panics.
struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    line: Value,
}

impl Running {
    fn start(mut program: Program) -> Self {
        program.0.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = program.0.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let line = serde_json::from_str(&line).unwrap();
        Self {
            child,
            stdout,
            line,
        }
    }

    fn text(&self, name: &str) -> &str {
        self.line[name].as_str().unwrap()
    }

    fn url(&self, name: &str) -> Url {
        Url::parse(self.text(name)).unwrap()
    }

    /// The exit code, and the output after the first line.
    fn wait(&mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request and returns the whole reply.
fn send(method: &str, url: &Url, headers: &[&str], body: &str) -> String {
    let address = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect(address).unwrap();
    let target = &url[url::Position::BeforePath..];
    let length = format!("content-length: {}", body.len());
    let host = format!("host: {}", url.authority());
    let headers = [&[&host, "connection: close", &length], headers].concat();
    let headers = headers.join("\r\n");
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\n{headers}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

fn get(url: &Url) -> String {
    send("GET", url, &[], "")
}

fn post_form(url: &Url, fields: &[(&str, &str)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    let media_type = "content-type: application/x-www-form-urlencoded";
    send(
        "POST",
        url,
        &[media_type],
        &form.extend_pairs(fields).finish(),
    )
}

/// The address of a redirect.
fn location(reply: &str) -> Url {
    let mut headers = reply.lines().filter_map(|line| line.split_once(": "));
    let found = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    Url::parse(found.unwrap_or_else(|| panic!("no redirect: {reply}")).1).unwrap()
}

fn assert_has(reply: &str, part: &str) {
    assert!(reply.contains(part), "no {part} in {reply}");
}

#[test]
fn each_address_of_its_first_line_answers_until_sigterm_ends_it() {
    let mut fake = Running::start(Program::new("serve_fake").args(["--port", "0"]));
    let bearer = format!("authorization: Bearer {}", fake.text("access_token"));
    let headers = [bearer.as_str(), "content-type: application/json"];
    let query = r#"{"query": "{ userDetails { email } }"}"#;
    let reply = send("POST", &fake.url("graphql"), &headers, query);
    assert_has(&reply, r#""userDetails""#);

    let register = format!("{}/api/v2/PICRegister", fake.text("register"));
    for (call, pic) in [
        ("?SearchText=yards", "QCZZ8888"),
        ("/(PIC=QAZZ7777)", "QAZZ7777"),
    ] {
        let url = Url::parse(&format!("{register}{call}")).unwrap();
        assert_has(&get(&url), pic);
    }

    let client = ("client_id", fake.text("client_id"));
    let redirect = ("redirect_uri", fake.text("redirect_uri"));
    let mut authorize = fake.url("authorize");
    authorize
        .query_pairs_mut()
        .extend_pairs([client, redirect, ("response_type", "code"), ("state", "s")])
        .append_pair("audience", fake.text("audience"))
        .append_pair("scope", "openid offline_access");
    let callback = location(&get(&authorize));
    let (_, code) = callback
        .query_pairs()
        .find(|(name, _)| name == "code")
        .unwrap();
    let grant = ("grant_type", "authorization_code");
    let reply = post_form(
        &fake.url("token"),
        &[grant, client, redirect, ("code", &code)],
    );
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    let tokens: Value = serde_json::from_str(body).unwrap();
    let refresh = tokens["refresh_token"].as_str().unwrap();
    let reply = post_form(&fake.url("revoke"), &[client, ("token", refresh)]);
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");

    let mut logout = fake.url("logout");
    let return_to = fake.text("return_to");
    logout
        .query_pairs_mut()
        .extend_pairs([client, ("returnTo", return_to)]);
    assert_eq!(location(&get(&logout)).as_str(), return_to);

    kill_process(Pid::from_child(&fake.child), Signal::TERM).unwrap();
    assert_eq!(fake.wait(), (Some(0), String::new()));
}

#[test]
fn eight_processes_take_the_token_of_one_login_from_its_file() {
    let fake = Running::start(Program::new("serve_fake").args(["--port", "0"]));
    let folder = Folder::new("serve_fake");
    let program = |name: &str| {
        let program = Program::new(name)
            .args(["--issuer", fake.text("issuer")])
            .args(["--authorize-url", fake.text("authorize")])
            .args(["--token-url", fake.text("token")])
            .args(["--revoke-url", fake.text("revoke")])
            .args(["--logout-url", fake.text("logout")])
            .args(["--client-id", fake.text("client_id")])
            .args(["--audience", fake.text("audience")]);
        program.arg("--store").arg(folder.path("tokens.json"))
    };
    let mut login = Running::start(program("login").args(["--no-browser"]));
    let callback = location(&get(&login.url("authorize_url")));
    assert_has(&get(&callback), "You can close this window");
    let (code, rest) = login.wait();
    assert_eq!(code, Some(0));
    assert_has(&rest, r#""subject":"auth0|"#);

    let mut callers: Vec<Child> = Vec::new();
    for _ in 0..8 {
        let mut caller = program("access_token");
        callers.push(caller.0.stdout(Stdio::piped()).spawn().unwrap());
    }
    let outputs = callers.into_iter().map(|caller| {
        let output = caller.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    });
    let mut tokens: Vec<String> = outputs.collect();
    tokens.dedup();
    assert_eq!(tokens.len(), 1, "different tokens");
    assert!(!tokens[0].trim().is_empty());
}
