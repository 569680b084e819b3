//! `login` and `access_token` without a login.

use envd_sdk::fake::Fake;

use super::folder::Folder;
use super::program::Program;

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
    let folder = Folder::new("tokens_no_login");
    let program = options(Program::new("access_token"), &fake);
    let ended = program.arg("--store").arg(folder.path("tokens.json")).run();
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.starts_with("error: "), "{ended:?}");
}

#[tokio::test]
async fn an_incomplete_login_fails() {
    let fake = Fake::start().await;
    let program = options(Program::new("login"), &fake);
    // Stdin is empty, where a user pastes the address.
    let ended = program
        .args(["--redirect-uri", "http://127.0.0.1/callback"])
        .run();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("no address was given"), "{ended:?}");
}
