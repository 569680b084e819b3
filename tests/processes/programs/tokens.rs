//! `login` and `access_token` without a login, and `login --device`.

use envd_sdk::auth::{FileStore, TokenManager};
use envd_sdk::fake::{Fake, Fault};
use processes::{Folder, Program, Running, Terminal, http};
use serde_json::Value;

fn options(program: Program, fake: &Fake) -> Program {
    program
        .args(["--token-url", fake.token_url().as_str()])
        .args(["--authorize-url", fake.authorize_url().as_str()])
        .args(["--issuer", fake.issuer(), "--audience", fake.audience()])
        .args(["--client-id", fake.client_id()])
}

#[tokio::test]
async fn without_a_login_access_token_fails() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let program = options(Program::new("access_token"), &fake);
    program
        .arg("--store")
        .arg(folder.path("tokens.json"))
        .run()
        .mute(3)
        .fails();
}

#[tokio::test]
async fn the_issuer_is_enough_to_find_the_provider() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let run = |program: &str| {
        let program = Program::new(program)
            .args(["--issuer", fake.issuer(), "--client-id", fake.client_id()])
            .args(["--redirect-uri", "http://127.0.0.1/callback"]);
        program.arg("--store").arg(folder.path("tokens.json")).run()
    };
    // Stdin is empty, where a user pastes the address.
    run("login").with(1).shows(fake.authorize_url().as_str());
    run("access_token").with(3);
    fake.on_path("/.well-known/openid-configuration")
        .fault(Fault::status(503))
        .times(2);
    for program in ["login", "access_token"] {
        run(program).with(1).says("503");
    }
}

#[tokio::test]
async fn a_failure_is_told_in_words_of_the_options() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let file = folder.write("tok.json", "{");
    let foreign = format!(
        "error: {} is not a token file written by `login`\n",
        file.display()
    );
    let issuer = "http://127.0.0.1:1";
    let unreachable = format!("error: cannot reach the issuer {issuer}: connection refused\n");
    for name in ["login", "access_token"] {
        let program = options(Program::new(name), &fake).arg("--store").arg(&file);
        assert_eq!(
            program
                .args(["--redirect-uri", "http://127.0.0.1/"])
                .run()
                .with(1)
                .stderr,
            foreign
        );
        let program = Program::new(name).args(["--issuer", issuer, "--client-id", "x"]);
        let program = program.arg("--store").arg(folder.path("new.json"));
        assert_eq!(program.run().with(1).stderr, unreachable);
    }
}

#[cfg(unix)]
#[test]
fn a_login_in_a_terminal_talks_to_a_person() {
    for device in [None, Some("--device")] {
        let program = || Program::new("login").args(device);
        let ended = Terminal::start_all(program()).wait().with(0);
        assert!(!ended.stderr.contains('{'), "{ended:?}");
        for part in [
            "To log ",
            "Logged in as auth0|",
            " UTC.\r\n",
            "--store FILE keeps them",
        ] {
            assert!(ended.stderr.contains(part), "{part}: {ended:?}");
        }
        let json = Terminal::start_all(program().arg("--json")).wait().with(0);
        assert!(json.stderr.contains("\"subject\":"), "{json:?}");
    }
}

#[tokio::test]
async fn an_incomplete_login_fails() {
    let fake = Fake::start().await;
    let program = options(Program::new("login"), &fake);
    // Stdin is empty, where a user pastes the address.
    program
        .args(["--redirect-uri", "http://127.0.0.1/callback"])
        .run()
        .with(1)
        .says("no address was given");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_login_listens_at_the_address_that_is_registered() {
    let fake = Fake::start().await;
    let program = || options(Program::new("login"), &fake).arg("--no-browser");
    let registered = |address| program().env("ENVD_REDIRECT_URI", address);
    let mut login = Running::start(registered("http://localhost:0/callback/envd/"));
    let callback = fake.consent(&login.url("authorize_url")).unwrap();
    assert_eq!(
        (callback.host_str(), callback.path()),
        (Some("localhost"), "/callback/envd/")
    );
    http::get(&callback);
    let (code, rest) = login.wait();
    assert!(
        code == Some(0) && rest.contains("\"subject\":\"auth0|"),
        "{rest}"
    );

    let file =
        |name| registered("https://localhost:0/callback/").env("ENVD_REDIRECT_CERTIFICATE", name);
    file("/nonexistent.pem")
        .run()
        .mute(2)
        .says("/nonexistent.pem");
    registered("https://192.0.2.1:0/callback")
        .run()
        .mute(1)
        .says("the browser warns");
    registered("http://192.0.2.1:0/callback")
        .run()
        .mute(1)
        .says("not one of this machine");
}

#[tokio::test]
async fn the_status_tells_the_session_and_no_token() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let file = folder.path("tokens.json");
    let without_options = || {
        let program = Program::new("access_token").arg("--store").arg(&file);
        program.arg("--status")
    };
    let status = || options(without_options(), &fake).run();
    let nobody = status().with(3);
    assert!(
        nobody.stdout.starts_with("state: logged out\n"),
        "{nobody:?}"
    );

    let provider = fake.provider().build().unwrap();
    let manager = TokenManager::builder(provider).store(FileStore::new(&file));
    let manager = manager.build().unwrap();
    let login = manager.provider().authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    let tokens = manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap();
    let sent = fake.token_requests();
    let ended = status().well();
    assert!(ended.stdout.starts_with("state: logged in\n"), "{ended:?}");
    let user = format!("user: {}\n", tokens.subject().unwrap());
    let store = format!("store: file {}\n", file.display());
    assert!(
        ended.stdout.contains(&user) && ended.stdout.contains(&store),
        "{ended:?}"
    );
    for token in [
        Some(tokens.access_token()),
        tokens.refresh_token(),
        tokens.id_token(),
    ] {
        assert!(!ended.stdout.contains(token.unwrap().expose()));
    }
    assert_eq!(fake.token_requests(), sent);
    // Without the options of the login the session is another client's.
    let foreign = without_options().run().with(1);
    foreign
        .shows("state: unknown\n")
        .shows("client_id or token_url is not that of the stored tokens");
    // A damaged file is not a user who has logged out.
    std::fs::write(&file, "{").unwrap();
    let damaged = status().with(1);
    assert!(
        damaged.stdout.starts_with("state: unknown\n"),
        "{damaged:?}"
    );
}

#[test]
fn a_login_on_another_device_prints_the_page_and_the_code() {
    let ended = Program::new("login").arg("--device").run().with(0);
    let mut lines = ended.stdout.lines();
    let mut line = || serde_json::from_str::<Value>(lines.next().unwrap()).unwrap();
    let (first, last) = (line(), line());
    let (page, code) = (text(&first, "verification_url"), text(&first, "user_code"));
    assert_eq!(
        text(&first, "verification_url_complete"),
        format!("{page}?user_code={code}")
    );
    assert!(text(&last, "subject").starts_with("auth0|"));
    for part in [page, code, "15 minutes"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
}

#[tokio::test]
async fn a_login_on_another_device_needs_its_endpoint_and_no_redirect() {
    let fake = Fake::start().await;
    let program = || options(Program::new("login"), &fake).arg("--device");
    let address = fake.device_authorization_url();
    for (program, named) in [
        (program(), "--device-url"),
        (
            program().args(["--device-url", address.as_str(), "--redirect-uri", "x:y"]),
            "--redirect-uri",
        ),
    ] {
        program.run().mute(2).says(named);
    }
}

fn text<'v>(line: &'v Value, name: &str) -> &'v str {
    line[name].as_str().unwrap()
}
