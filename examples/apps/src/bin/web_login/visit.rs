//! Makes the requests of one user, from login to logout, and checks the replies.

use url::Url;

use super::browser::Browser;
use super::cli::Failure;

pub(crate) async fn play(home: &Url) -> Result<(), Failure> {
    let mut browser = Browser::default();
    let page = browser.open(home).await?;
    expect(
        page.body.contains(">Log in</a>"),
        "without a login the page links to the login",
    )?;
    let page = browser.open(&home.join("login")?).await?;
    expect(
        page.url == *home && page.body.contains("Good day, Sam Sample"),
        "after the login the page greets the user by name",
    )?;
    expect(
        page.body.contains("Example Downs") && page.body.contains("C-900000108"),
        "the page has the accounts and the latest consignments",
    )?;
    let page = Browser::default().open(home).await?;
    expect(!page.body.contains("Sam"), "another browser has no session")?;
    browser.submit(&home.join("logout")?).await?;
    let page = browser.open(home).await?;
    expect(
        !page.body.contains("Sam"),
        "after the logout the session is gone",
    )
}

fn expect(holds: bool, what: &str) -> Result<(), Failure> {
    if holds {
        println!("ok: {what}");
        return Ok(());
    }
    Err(format!("check failed: {what}").into())
}
