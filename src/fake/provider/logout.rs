//! Logout (5.8). It ends the session in the browser and revokes no token.

use super::Provider;
use super::parameters::Parameters;
use crate::fake::reply::Reply;

/// Answers a GET of `/v2/logout`: to the address of `returnTo` when it is allowed, else a page.
pub(in crate::fake) fn logout(provider: &Provider, query: &str) -> Reply {
    let request = Parameters::of_query(query);
    match request.get("returnTo") {
        Some(to) if provider.return_to.iter().any(|allowed| allowed == to) => Reply::redirect(to),
        Some(_) => Reply::page(
            200,
            "Logged out. returnTo is not on the list of allowed addresses.",
        ),
        None => Reply::page(200, "Logged out."),
    }
}
