//! The addresses and ids that a client needs.

use envd_sdk::fake::Fake;

/// Each address and id with its name in the first line on stdout.
pub(crate) fn of(fake: &Fake) -> impl Iterator<Item = (&'static str, String)> {
    let register = fake.register_url();
    [
        ("graphql", fake.graphql_url().into()),
        // The base address: {register}/api/v2/PICRegister is the search.
        (
            "register",
            register.as_str().trim_end_matches('/').to_owned(),
        ),
        ("authorize", fake.authorize_url().into()),
        ("token", fake.token_url().into()),
        (
            "device_authorization",
            fake.device_authorization_url().into(),
        ),
        ("revoke", fake.revoke_url().into()),
        ("logout", fake.logout_url().into()),
        ("envd_account_id", fake.account_id().to_owned()),
        ("client_id", fake.client_id().to_owned()),
        ("audience", fake.audience().to_owned()),
        ("issuer", fake.issuer().to_owned()),
        ("redirect_uri", fake.redirect_uri().into()),
        ("return_to", fake.return_to().into()),
    ]
    .into_iter()
}
