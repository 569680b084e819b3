//! Command-line program: `downstream CLIENT_ID AUTHORIZE TOKEN AUDIENCE REDIRECT DECLARATIONS REGISTER TOKEN_FILE`.

use std::error::Error;

use downstream::{Addresses, LoginService};
use envd_sdk::model::{Day, Jurisdiction};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Ok(words) = <[String; 8]>::try_from(words) else {
        println!(
            "usage: downstream CLIENT_ID AUTHORIZE TOKEN AUDIENCE REDIRECT DECLARATIONS REGISTER TOKEN_FILE"
        );
        return Ok(());
    };
    let [
        client_id,
        authorize,
        token,
        audience,
        redirect,
        declarations,
        register,
        tokens,
    ] = words;
    let gate = LoginService::new(&Addresses {
        client_id,
        authorize,
        token,
        audience,
        redirect,
        declarations,
        register,
        tokens: tokens.into(),
    })?;
    let desk = match gate.open().await? {
        Some(desk) => desk,
        None => {
            let login = gate.start()?;
            println!(
                "Log in at {} and paste the address that the browser ends at:",
                login.url()
            );
            let mut line = String::new();
            std::io::stdin().read_line(&mut line)?;
            gate.finish(login, line.trim()).await?;
            gate.open().await?.ok_or("the login did not last")?
        }
    };
    let today = Day::today_in(Jurisdiction::Nsw, std::time::SystemTime::now());
    let week = today.plus_days(-7).ok_or("the calendar ends")?;
    for number in desk.since(week).await? {
        println!("{number}");
    }
    gate.close().await;
    Ok(())
}
