//! `serve_fake`: plain HTTP requests to each address in its first line, and the command-line examples against it.

use std::fs;

use processes::http::{assert_has, get, header, location, send};
use processes::{Ended, Folder, Program, Running};
use url::{Url, form_urlencoded};

fn serve(options: &[&str]) -> Running {
    let program = Program::new("serve_fake").args(["--port", "0"]);
    Running::start(program.args(options))
}

/// Sends a GraphQL query with the token from the first line.
fn ask(fake: &Running, query: &str) -> String {
    let bearer = format!("authorization: Bearer {}", fake.text("access_token"));
    let headers = [bearer.as_str(), "content-type: application/json"];
    send("POST", &fake.url("graphql"), &headers, query)
}

#[test]
fn each_address_of_its_first_line_answers_until_sigterm_ends_it() {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut fake = serve(&[]);
    let reply = ask(&fake, r#"{"query": "{ userDetails { email } }"}"#);
    assert_has(&reply, r#""userDetails""#);

    let register = format!("{}/api/v2/PICRegister", fake.text("register"));
    for (call, pic) in [
        ("?SearchText=yards", "QCZZ8888"),
        ("/(PIC=QAZZ7777)", "QAZZ7777"),
    ] {
        let url = Url::parse(&format!("{register}{call}")).unwrap();
        assert_has(&get(&url), pic);
    }

    // The addresses of a login are used below.
    let client = ("client_id", fake.text("client_id"));
    let token = ("token", fake.text("access_token"));
    let mut form = form_urlencoded::Serializer::new(String::new());
    let form = form.extend_pairs([client, token]).finish();
    let media_type = "content-type: application/x-www-form-urlencoded";
    let reply = send("POST", &fake.url("revoke"), &[media_type], &form);
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");

    let mut logout = fake.url("logout");
    let return_to = fake.text("return_to");
    logout
        .query_pairs_mut()
        .extend_pairs([client, ("returnTo", return_to)]);
    assert_eq!(location(&get(&logout)).as_str(), return_to);

    #[cfg(unix)]
    {
        processes::signal(fake.process.id(), processes::Signal::TERM);
        assert_eq!(fake.wait(), (Some(0), String::new()));
    }
}

#[test]
fn eight_processes_take_the_token_of_one_login_from_its_file() {
    let fake = serve(&[]);
    let folder = Folder::new();
    let program = |name: &str| {
        let program = Program::new(name).args(["--client-id", fake.text("client_id")]);
        let program = program.arg("--store").arg(folder.path("tokens.json"));
        let names = [
            "issuer",
            "audience",
            "authorize",
            "token",
            "revoke",
            "logout",
        ];
        names
            .iter()
            .zip(0..)
            .fold(program, |program, (name, number)| {
                let end = if number < 2 { "" } else { "-url" };
                program.args([&format!("--{name}{end}"), fake.text(name)])
            })
    };
    let mut login = Running::start(program("login").args(["--no-browser"]));
    let callback = location(&get(&login.url("authorize_url")));
    assert_has(&get(&callback), "You can close this window");
    let (code, rest) = login.wait();
    assert_eq!(code, Some(0));
    assert_has(&rest, r#""subject":"auth0|"#);

    let callers: Vec<_> = (0..8).map(|_| program("access_token").piped()).collect();
    let outputs = callers.into_iter().map(|caller| Ended::of(caller).with(0));
    let mut tokens: Vec<String> = outputs.map(|ended| ended.stdout).collect();
    tokens.dedup();
    assert_eq!(tokens.len(), 1, "different tokens");
    assert!(!tokens[0].trim().is_empty());
}

#[test]
fn worlds_and_replies_come_from_folders() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures");
    let folder = Folder::new();
    let reply = r#"{"data": {"userDetails": {"firstName": "sample 1"}}}"#;
    fs::write(folder.path("UserDetails.json"), reply).unwrap();
    let fake = serve(&["--world", fixtures, "--replies", &folder.text("")]);
    assert_eq!(fake.text("envd_account_id"), "envd-100201");
    let kept = ask(
        &fake,
        r#"{"query": "query UserDetails { userDetails { firstName } }"}"#,
    );
    assert_has(&kept, "sample 1");
    let list = r#"{"query": "{ consignments(envdAccountId: \"envd-100201\") { totalCount } }"}"#;
    assert_has(&ask(&fake, list), r#""totalCount":8"#);
}

#[test]
fn a_browser_gets_a_start_page_and_graphiql() {
    let fake = serve(&[]);
    let home = fake.url("issuer");
    // Templates escape more than necessary.
    let page = get(&home).replace("&#x2f;", "/");
    assert_eq!(
        header(&page, "content-type"),
        Some("text/html; charset=utf-8")
    );
    for part in [
        fake.text("graphql"),
        "Sam Sample",
        "Dana Demo",
        "envd-100301",
        "QAZZ7777",
        "QCZZ8888",
        "C-900000108",
        "Harvested rangeland goats",
    ] {
        assert_has(&page, part);
    }
    // The tokens of the page are valid.
    let token = page.split("data-copy=\"eyJ").nth(1).unwrap();
    let bearer = format!(
        "authorization: Bearer eyJ{}",
        token.split('"').next().unwrap()
    );
    let query = r#"{"query": "{ userDetails { firstName } }"}"#;
    let headers = [bearer.as_str(), "content-type: application/json"];
    assert_has(
        &send("POST", &fake.url("graphql"), &headers, query),
        r#""firstName":"Sam""#,
    );
    // The page shows the current consignments.
    assert!(!page.contains("Deleted"), "{page}");
    let change = r#"{"query": "mutation { deleteConsignment(envdAccountId: \"envd-100201\", ID) { data { id } } }"}"#;
    let id = r#"id: \"00000000-0000-4000-8000-000000000108\""#;
    let change = change.replace("ID", id);
    send("POST", &fake.url("graphql"), &headers, &change);
    assert_has(&get(&home), "Deleted");

    let accept = ["accept: text/html,application/xhtml+xml,*/*;q=0.8"];
    let graphiql = send("GET", &fake.url("graphql"), &accept, "");
    let files = [
        ("/style.css", "text/css; charset=utf-8"),
        ("/landing.js", "text/javascript; charset=utf-8"),
        ("/graphiql/graphiql.js", "text/javascript; charset=utf-8"),
        ("/graphiql/graphiql.css", "text/css; charset=utf-8"),
    ];
    assert_has(&graphiql, "/graphiql/graphiql.js");
    assert_has(&graphiql, fake.text("envd_account_id"));
    for (path, media_type) in files {
        let file = get(&home.join(path).unwrap());
        assert!(file.starts_with("HTTP/1.1 200 "), "{path}");
        assert_eq!(header(&file, "content-type"), Some(media_type));
    }
    // Pages load nothing from other sites and cannot be framed.
    for page in [page, graphiql] {
        let policy = header(&page, "content-security-policy").unwrap();
        assert_has(policy, "default-src 'none'; script-src 'self'");
        assert_has(policy, "frame-ancestors 'none'");
        assert_eq!(header(&page, "x-content-type-options"), Some("nosniff"));
        assert_eq!(header(&page, "cache-control"), Some("no-store"));
        assert!(
            !page.contains("src=\"http") && !page.contains("<script>"),
            "{page}"
        );
    }
    // Programs get data instead of a page.
    let reply = send(
        "GET",
        &fake.url("graphql"),
        &["accept: application/json"],
        "",
    );
    assert_has(&reply, "not served by the fake");
}

#[test]
fn what_a_world_holds_cannot_break_out_of_the_start_page() {
    let folder = Folder::new();
    let hostile = "</script><script>alert(1)</script>\" onload=\"x";
    let user = serde_json::json!({"data": {"userDetails": {
        "auth0Id": "auth0|1", "isNewUser": false, "email": "eve@example.com", "firstName": hostile, "lastName": hostile,
        "mobilePhone": "", "defaultAccount": hostile, "roles": ["Producer"],
        "accounts": [{"envdAccountId": hostile, "accountLabel": hostile, "accountId": "1", "accountType": hostile,
            "email": "", "properties": {}}],
        "accreditations": {"lPA": true, "eU": false, "mSA": false, "eUGFHQB": false, "nFAS": false, "hRG": false},
    }}});
    folder.write("user-details.json", user.to_string());
    let fake = serve(&["--world", &folder.text("")]);
    let page = get(&fake.url("issuer"));
    let graphiql = send("GET", &fake.url("graphql"), &["accept: text/html"], "");
    assert_has(&page, "eve@example.com");
    assert!(!page.contains("\" onload"), "{page}");
    for page in [page, graphiql] {
        assert!(page.contains("alert(1)"), "{page}");
        assert!(!page.contains("<script>"), "{page}");
    }
}

/// A page whose name resolves to this machine (DNS rebinding) gets no tokens.
#[test]
fn requests_to_other_host_names_are_refused() {
    let fake = serve(&[]);
    let graphql = fake.url("graphql");
    let port = graphql.port().unwrap();
    let status_of = |path: &str, host: &str| {
        let host = format!("host: {}", host.replace("PORT", &port.to_string()));
        let url = graphql.join(path).unwrap();
        send("GET", &url, &[&host], "")[9..12].to_owned()
    };
    let refused = "rebound.example:PORT|localhost.rebound.example:PORT|127.0.0.1.rebound.example|10.0.0.1:PORT|a b|";
    for host in refused.split('|') {
        for path in ["/", graphql.path(), "/oauth/token"] {
            assert_eq!(status_of(path, host), "421", "{host} {path}");
        }
    }
    for host in "127.0.0.1:PORT|localhost:PORT|farm.localhost:PORT".split('|') {
        assert_eq!(status_of("/", host), "200", "{host}");
    }
}

const ALLOWED: &str = "access-control-allow-origin";

/// Origins of pages on this machine, with any port and protocol.
const OWN: &str = "http://localhost:3000 http://127.0.0.1:5173 https://localhost http://[::1]:8080 http://farm.localhost:4200";

const OTHERS: &str = "https://evil.example http://localhost.evil.example http://127.0.0.1.evil.example http://evil.example/localhost \
    http://localhost:3000/ http://localhost@evil.example http://evil.example@localhost http://notlocalhost http://128.0.0.1 \
    file://localhost null * ";

#[test]
fn pages_of_this_machine_may_call_it_and_others_may_not() {
    let fake = serve(&[]);
    let graphql = fake.url("graphql");
    let page = fake.url("issuer");
    let call = |method: &str, url: &Url, origin: &str| {
        let origin = format!("origin: {origin}");
        send(method, url, &[&origin], "{}")
    };
    let preflight = |origin: &str| {
        let headers = [
            &format!("origin: {origin}"),
            "access-control-request-method: POST",
            "access-control-request-headers: authorization,content-type",
        ];
        send("OPTIONS", &graphql, &headers, "")
    };
    for origin in OWN.split(' ') {
        let reply = preflight(origin);
        assert!(reply.starts_with("HTTP/1.1 204 "), "{origin}: {reply}");
        for (name, value) in [
            (ALLOWED, Some(origin)),
            (
                "access-control-allow-headers",
                Some("authorization,content-type"),
            ),
            ("access-control-allow-credentials", None),
        ] {
            assert_eq!(header(&reply, name), value);
        }
        let methods = header(&reply, "access-control-allow-methods");
        assert_has(methods.unwrap(), "POST");
        // A refusal is readable too.
        for (method, url) in [("POST", &graphql), ("GET", &fake.url("token"))] {
            let reply = call(method, url, origin);
            assert_eq!(header(&reply, ALLOWED), Some(origin), "{reply}");
            assert_eq!(header(&reply, "vary"), Some("origin"));
        }
    }
    for origin in OTHERS.split(' ') {
        let replies = [
            preflight(origin),
            call("POST", &graphql, origin),
            call("GET", &page, origin),
        ];
        for reply in replies {
            assert_eq!(header(&reply, ALLOWED), None, "{origin}: {reply}");
        }
    }
}
