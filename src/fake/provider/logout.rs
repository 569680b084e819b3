//! Logout (5.8). It ends the session in the browser and revokes no token.

use super::Provider;
use super::parameters::Parameters;
use crate::fake::reply::Reply;

/// Answers a GET of `/v2/logout`: to the address of `returnTo` when it is allowed, without one to the first that is, and
/// else with a page that says so, as Auth0 does.
pub(in crate::fake) fn logout(provider: &mut Provider, query: &str) -> Reply {
    let request = Parameters::of_query(query);
    provider.session = false;
    match request.get("returnTo") {
        Some(to) if provider.return_to.iter().any(|allowed| allowed == to) => Reply::redirect(to),
        Some(_) => Reply::page(
            400,
            "Logged out, but returnTo is not on the list of allowed addresses.",
        ),
        None => match provider.return_to.first() {
            Some(to) => Reply::redirect(to),
            None => Reply::page(200, "Logged out."),
        },
    }
}
