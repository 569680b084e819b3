//! `login` and `access_token` with a login.

use envd_sdk::auth::{FileStore, TokenManager, TokenSource};
use envd_sdk::fake::Fake;
#[cfg(unix)]
use processes::Terminal;
use processes::{Folder, Program, Running, http};

fn options(program: Program, fake: &Fake) -> Program {
    program
        .args(["--token-url", fake.token_url().as_str()])
        .args(["--authorize-url", fake.authorize_url().as_str()])
        .args(["--issuer", fake.issuer(), "--audience", fake.audience()])
        .args(["--client-id", fake.client_id()])
}

#[cfg(unix)]
#[test]
fn a_login_in_a_terminal_talks_to_a_person() {
    for device in [None, Some("--device")] {
        let program = || Program::new("login").args(device);
        let ended = Terminal::start_all(program()).wait().with(0);
        assert!(!ended.stderr.contains('{'), "{ended:?}");
        let ended = ended.says("To log ").says("Logged in as auth0|");
        ended.says(" UTC.\r\n").says("--store FILE keeps them");
        let json = Terminal::start_all(program().arg("--json"));
        json.wait().with(0).says("\"subject\":");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_login_listens_at_the_address_that_is_registered() {
    let fake = Fake::start().await;
    let program = options(Program::new("login"), &fake).arg("--no-browser");
    let program = program.env("ENVD_REDIRECT_URI", "http://localhost:0/callback/envd/");
    let mut login = Running::start(program);
    let callback = fake.consent(&login.url("authorize_url")).unwrap();
    let address = (callback.host_str(), callback.path());
    assert_eq!(address, (Some("localhost"), "/callback/envd/"));
    http::get(&callback);
    let (code, rest) = login.wait();
    assert_eq!(code, Some(0));
    http::assert_has(&rest, "\"subject\":\"auth0|");
}

#[tokio::test]
async fn the_status_tells_the_session_and_no_token() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let file = folder.path("tokens.json");
    let status = || {
        let program = Program::new("access_token").arg("--store").arg(&file);
        program.arg("--status")
    };
    let manager = TokenManager::builder(fake.provider().build().unwrap());
    let manager = manager.store(FileStore::new(&file)).build().unwrap();
    let login = manager.provider().authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    let tokens = manager.complete_login(login, callback.as_str());
    let tokens = tokens.await.unwrap();
    let sent = fake.token_requests();
    let ended = options(status(), &fake).run().well();
    let ended = ended.shows("state: logged in\n");
    let ended = ended.shows(&format!("user: {}\n", tokens.subject().unwrap()));
    let ended = ended.shows(&format!("store: file {}\n", file.display()));
    let secrets = [
        tokens.refresh_token(),
        tokens.id_token(),
        Some(tokens.access_token()),
    ];
    for token in secrets {
        assert!(!ended.stdout.contains(token.unwrap().expose()));
    }
    assert_eq!(fake.token_requests(), sent);
    // The file alone is enough.
    let alone = status().run().well();
    for line in alone.stdout.lines() {
        assert!(ended.stdout.contains(line), "{line}");
    }
    let alone = alone.shows("state: logged in\n");
    alone.shows(&format!("user: {}\n", tokens.subject().unwrap()));
    // The tokens do not belong to another client id.
    let foreign = options(status(), &fake).args(["--client-id", "other"]);
    let foreign = foreign.run().with(1).shows("state: unknown\n");
    foreign.shows("client_id or token_url is not that of the stored tokens");
    // The record of a session that has ended.
    fake.revoke_logins();
    assert!(
        manager
            .renew(&manager.access_token().await.unwrap())
            .await
            .is_err()
    );
    let over = status().run().with(3);
    over.shows("state: the session has ended\n").shows("user: ");
}
