//! How to call each address with curl.

use envd_sdk::fake::Fake;

/// A heading and the commands below it.
pub(crate) struct Calls {
    pub(crate) heading: &'static str,
    pub(crate) commands: Vec<String>,
}

/// Prints the commands to stderr; stdout has only the line of JSON.
pub(crate) fn explain(fake: &Fake) {
    eprintln!(
        "The fake is running, with a start page at {}; Ctrl-C stops it. Set TOKEN to access_token of the line above.\n",
        fake.register_url()
    );
    for calls in calls(fake) {
        eprintln!("{}:", calls.heading);
        for command in calls.commands {
            eprintln!("  {command}");
        }
    }
}

pub(crate) fn calls(fake: &Fake) -> [Calls; 4] {
    let register = fake.register_url();
    let query = r#"{"query": "{ userDetails { email defaultAccount } }"}"#;
    let client = fake.client_id();
    let redirect = fake.redirect_uri();
    let authorize = fake.authorize_url();
    let audience = fake.audience();
    let token = fake.token_url();
    let revoke = fake.revoke_url();
    let logout = fake.logout_url();
    let return_to = fake.return_to();
    [
        Calls {
            heading: "Declarations",
            commands: vec![format!(
                "curl -s {} -H \"authorization: Bearer $TOKEN\" -H 'content-type: application/json' -d '{query}'",
                fake.graphql_url()
            )],
        },
        Calls {
            heading: "Property register, search and look-up",
            commands: vec![
                format!("curl -s '{register}api/v2/PICRegister?SearchText=yards'"),
                format!("curl -s '{register}api/v2/PICRegister/(PIC=QAZZ7777)'"),
            ],
        },
        Calls {
            heading: "Login, without PKCE; CODE is in the location header of the first reply",
            commands: vec![
                format!(
                    "curl -si '{authorize}?response_type=code&client_id={client}&redirect_uri={redirect}&audience={audience}&scope=openid%20offline_access&state=s'"
                ),
                format!(
                    "curl -s {token} -d grant_type=authorization_code -d client_id={client} -d redirect_uri={redirect} -d code=$CODE"
                ),
            ],
        },
        Calls {
            heading: "Revocation and logout",
            commands: vec![
                format!("curl -si {revoke} -d client_id={client} -d token=$REFRESH_TOKEN"),
                format!("curl -si '{logout}?client_id={client}&returnTo={return_to}'"),
            ],
        },
    ]
}
