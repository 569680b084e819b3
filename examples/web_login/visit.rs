//! Plays one user, from the first page to the last, and says whether all went as it should.

use url::Url;

use super::browser::Browser;
use super::cli::Failure;

pub(crate) async fn play(home: &Url) -> Result<(), Failure> {
    let mut browser = Browser::default();
    let page = browser.open(home).await?;
    expect(page.status == 401, "a stranger is asked to log in")?;
    let page = browser.open(&home.join("login")?).await?;
    expect(
        page.url == *home && page.body.contains("Sam"),
        "the user is greeted by name",
    )?;
    let page = Browser::default().open(home).await?;
    expect(page.status == 401, "another browser is another user")?;
    browser.submit(&home.join("logout")?).await?;
    let page = browser.open(home).await?;
    expect(
        page.status == 401,
        "after the logout the user is a stranger again",
    )
}

fn expect(holds: bool, what: &str) -> Result<(), Failure> {
    if holds {
        println!("ok: {what}");
        return Ok(());
    }
    Err(format!("not so: {what}").into())
}
