//! How to call each address with curl.

use envd_sdk::fake::Fake;

/// Prints the commands to stderr; stdout has the line of JSON only.
pub(crate) fn explain(fake: &Fake) {
    let register = fake.register_url();
    let query = r#"{"query": "{ userDetails { email defaultAccount } }"}"#;
    eprintln!(
        "The fake is running; Ctrl-C stops it. Set TOKEN to access_token of the line above.\n"
    );
    eprintln!("Declarations:");
    eprintln!(
        "  curl -s {} -H \"authorization: Bearer $TOKEN\" -H 'content-type: application/json' -d '{query}'",
        fake.graphql_url()
    );
    eprintln!("Property register, search and look-up:");
    eprintln!("  curl -s '{register}api/v2/PICRegister?SearchText=yards'");
    eprintln!("  curl -s '{register}api/v2/PICRegister/(PIC=QAZZ7777)'");
    eprintln!("Login, without PKCE; CODE is in the location header of the first reply:");
    eprintln!(
        "  curl -si '{}?response_type=code&client_id={}&redirect_uri={}&audience={}&scope=openid%20offline_access&state=s'",
        fake.authorize_url(),
        fake.client_id(),
        fake.redirect_uri(),
        fake.audience()
    );
    eprintln!(
        "  curl -s {} -d grant_type=authorization_code -d client_id={} -d redirect_uri={} -d code=$CODE",
        fake.token_url(),
        fake.client_id(),
        fake.redirect_uri()
    );
    eprintln!("Revocation and logout:");
    eprintln!(
        "  curl -si {} -d client_id={} -d token=$REFRESH_TOKEN",
        fake.revoke_url(),
        fake.client_id()
    );
    eprintln!(
        "  curl -si '{}?client_id={}&returnTo={}'",
        fake.logout_url(),
        fake.client_id(),
        fake.return_to()
    );
}
