//! Discovery of a provider's addresses by its issuer (RFC 8414, OIDC Discovery 1.0).

use std::time::Duration;

use envd_sdk::auth::{Provider, ProviderBuilder};
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::{Error, ErrorKind};
use serde_json::json;
use test_support::script::play;
use test_support::table;

use crate::calls::Calls;
use crate::fixed_date::{log_in, manager, manual, start_fake};

const OPENID: &str = "/.well-known/openid-configuration";
const OAUTH: &str = "/.well-known/oauth-authorization-server";

/// Settings with the issuer but no addresses.
fn settings(fake: &Fake) -> ProviderBuilder {
    Provider::builder(fake.client_id())
        .issuer(fake.issuer())
        .audience(fake.audience())
        .redirect_uri(fake.redirect_uri())
        .clock(fake.clock().clone())
}

/// The paths of all requests.
fn paths(fake: &Fake) -> Vec<String> {
    let requests = fake.requests();
    let path = |received: &envd_sdk::fake::Received| received.path().to_owned();
    requests.iter().map(path).collect()
}

async fn refusal(fake: &Fake) -> Error {
    let error = settings(fake).discover().await.unwrap_err();
    assert_eq!(error.operation(), Some("discover"));
    error
}

#[tokio::test]
async fn a_login_uses_what_is_discovered_and_nothing_else() {
    let fake = start_fake().await;
    let provider = Provider::discover(fake.client_id(), fake.issuer())
        .await
        .unwrap()
        .audience(fake.audience())
        .redirect_uri(fake.redirect_uri())
        .clock(fake.clock().clone());
    let manager = manager(provider);
    log_in(&fake, &manager).await.unwrap();
    let report = manager.logout(None).await;
    // The published `end_session_endpoint` takes other parameters than the logout of spec 5.8.
    assert!(report.problems.is_empty() && report.url.is_none());
    assert_eq!(paths(&fake), [OPENID, "/oauth/token", "/oauth/revoke"]);
    let header = |name| fake.requests()[0].header(name).map(str::to_owned);
    assert_eq!(header("accept").as_deref(), Some("application/json"));
    assert!(header("user-agent").unwrap().starts_with("envd-sdk/"));
}

#[tokio::test]
async fn addresses_that_are_set_are_kept() {
    let fake = start_fake().await;
    let at = |path: &str| format!("{}{path}", fake.issuer());
    let metadata = json!({
        "issuer": fake.issuer(),
        "authorization_endpoint": at("elsewhere/authorize"),
        "token_endpoint": at("elsewhere/token"),
        "revocation_endpoint": at("elsewhere/revoke"),
    });
    fake.on_path(OPENID)
        .fault(Fault::status(200).json(metadata));
    let settings = settings(&fake).token_url(fake.token_url());
    let manager = manager(settings.discover().await.unwrap());
    let login = manager.provider().authorization().start().unwrap();
    assert_eq!(login.url().path(), "/elsewhere/authorize");
    log_in(&fake, &manager).await.unwrap();
    manager.logout(None).await;
    assert_eq!(paths(&fake), [OPENID, "/oauth/token", "/elsewhere/revoke"]);
}

const REPLIES: &str = "
each: fake;
# RFC 8414 section 3.1.
The second address is tried where the first has nothing
  on /.well-known/openid-configuration html {400|403|404}; discover -> ok, paths /.well-known/openid-configuration /.well-known/oauth-authorization-server;
  on /.well-known/openid-configuration 404; on /.well-known/oauth-authorization-server 404; discover -> kind NotFound, operation discover
An outage of the first says nothing about the second
  on /.well-known/openid-configuration {408|429|500|503} retry-after=7;
  discover -> kind {Unavailable|RateLimited|Internal|Unavailable}, status {408|429|500|503}, after {7s|7s|0s|7s}, paths /.well-known/openid-configuration
# RFC 8414 section 3.2.
What is no metadata is refused
  on /.well-known/openid-configuration {html 200|garbage|truncated 100}; discover -> kind Protocol, paths /.well-known/openid-configuration
A redirect is not followed
  on /.well-known/openid-configuration {301|302|307|308} location=https://id.example/; discover -> status {301|302|307|308}, paths /.well-known/openid-configuration
";

#[tokio::test]
async fn a_provider_is_believed_by_its_metadata_only() {
    play::<Calls>(table!(const REPLIES)).await;
}

#[tokio::test]
async fn without_an_issuer_nothing_is_sent() {
    let fake = start_fake().await;
    let plain = Provider::builder("app").discover().await.unwrap_err();
    assert!(plain.kind() == ErrorKind::Config && plain.to_string().contains("issuer is not set"));
    let remote = Provider::discover("app", "http://id.example/").await;
    let text = remote.unwrap_err().to_string();
    assert!(text.contains("issuer must be https"), "{text}");
    // With all addresses set, discovery is unnecessary.
    fake.provider().build().unwrap();
    assert!(fake.requests().is_empty());
}

#[tokio::test]
async fn metadata_of_a_megabyte_are_not_read() {
    let fake = start_fake().await;
    let huge = format!("{{{}}}", " ".repeat(1 << 20));
    let reply = Fault::status(200).body("application/json", huge);
    fake.on_path(OPENID).fault(reply);
    let error = refusal(&fake).await.to_string();
    assert!(error.contains("larger than the limit"), "{error}");
}

#[tokio::test]
async fn private_and_link_local_addresses_are_refused_unless_allowed() {
    // The last two are written as an IPv6 address and as a single number.
    let hosts = "10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 0.0.0.0 [fd00::1] [fe80::1] [::] [::ffff:10.0.0.1] 2852039166";
    for host in hosts.split(' ') {
        let issuer = format!("https://{host}/");
        let error = Provider::builder("app").issuer(&issuer).discover().await;
        let error = error.unwrap_err();
        assert!(error.kind() == ErrorKind::Config && error.attempts() == 0);
        assert!(error.to_string().contains("private"), "{host}: {error}");

        // A provider's metadata; the client uses each of its addresses later.
        let fake = start_fake().await;
        for field in ["token", "revocation", "device_authorization"] {
            let field = format!("{field}_endpoint");
            let metadata = json!({"issuer": fake.issuer(), field: format!("{issuer}oauth")});
            let found = async |settings: ProviderBuilder| {
                let published = Fault::status(200).json(&metadata);
                fake.on_path(OPENID).fault(published);
                settings.discover().await.map_err(|error| error.kind())
            };
            let refused = found(settings(&fake)).await.err();
            assert_eq!(refused, Some(ErrorKind::Config), "{host} {metadata}");
            let allowed = settings(&fake).allow_private_addresses(true);
            assert!(found(allowed.clone()).await.is_ok(), "{host} {metadata}");
            // Cached addresses are refused once they are no longer allowed.
            let refused = found(allowed.allow_private_addresses(false)).await.err();
            assert_eq!(refused, Some(ErrorKind::Config), "{host} {metadata}");
        }
    }
}

#[tokio::test]
async fn metadata_is_kept_for_its_lifetime_by_a_builder_and_its_clones() {
    let (fake, clock) = manual();
    let fake = fake.start().await.unwrap();
    let settings = settings(&fake);
    // Discover concurrently and in sequence.
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        tasks.spawn(settings.clone().discover());
    }
    while let Some(found) = tasks.join_next().await {
        found.unwrap().unwrap().build().unwrap();
    }
    clock.advance(Duration::from_secs(3_599));
    drop(settings.clone().discover().await.unwrap());
    assert_eq!(fake.requests().len(), 1);

    // The metadata is valid for an hour without `Cache-Control`, otherwise for as long as the reply says.
    let minute = Fault::none().header("cache-control", "public, max-age=60");
    fake.on_path(OPENID).fault(minute);
    for (seconds, requests) in [(1, 2), (59, 2), (1, 3)] {
        clock.advance(Duration::from_secs(seconds));
        drop(settings.clone().discover().await.unwrap());
        assert_eq!(fake.requests().len(), requests);
    }

    // Another issuer or builder does not share the cache.
    let other = settings.clone().discover().await.unwrap();
    let error = other.issuer("http://127.0.0.1:1/").build().unwrap_err();
    assert!(error.to_string().contains("token_url is not set"));
    drop(self::settings(&fake).discover().await.unwrap());
    assert_eq!(fake.requests().len(), 4);
}

#[tokio::test]
async fn old_metadata_is_used_while_the_provider_is_down() {
    let (fake, clock) = manual();
    let fake = fake.start().await.unwrap();
    let settings = settings(&fake);
    let found = || async { settings.clone().discover().await?.build().map(drop) };
    found().await.unwrap();
    for fault in [
        Fault::status(503),
        Fault::dropped_before(),
        Fault::html(200),
        Fault::html(404).header("x-second", "too"),
        Fault::status(302).header("location", "https://id.example/"),
    ] {
        clock.advance(Duration::from_secs(86_400));
        fake.clear_scripts();
        fake.on_path(OPENID).fault(fault.clone()).forever();
        fake.on_path(OAUTH).fault(fault).forever();
        let before = fake.requests().len();
        found().await.unwrap();
        let after = fake.requests().len();
        assert!(after > before);
        // The next attempt is a minute later.
        clock.advance(Duration::from_secs(59));
        found().await.unwrap();
        assert_eq!(fake.requests().len(), after);
        clock.advance(Duration::from_secs(1));
        found().await.unwrap();
        assert!(fake.requests().len() > after);
    }
    // A refusal is not an outage.
    fake.clear_scripts();
    clock.advance(Duration::from_secs(60));
    let other = Fault::replaced("/issuer", "https://evil.example/");
    fake.on_path(OPENID).fault(other);
    assert!(found().await.unwrap_err().kind() == ErrorKind::Config);
    found().await.unwrap();
}

#[tokio::test]
async fn rfc_9207_2_4_a_callback_without_the_announced_iss_is_refused() {
    let fake = start_fake().await;
    fake.controls().omit_iss(true);
    let check = async |builder: ProviderBuilder| log_in(&fake, &manager(builder)).await;
    let discovered = settings(&fake).discover().await.unwrap();
    let error = check(discovered.clone()).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::LoginRefused && error.to_string().contains("missing_issuer")
    );
    check(discovered.require_iss(false)).await.unwrap();
    // With configured addresses, `iss` is not required.
    check(fake.provider()).await.unwrap();
    assert!(check(fake.provider().require_iss(true)).await.is_err());
    // A provider that does not announce `iss` need not send it.
    let field = "/authorization_response_iss_parameter_supported";
    fake.on_path(OPENID).fault(Fault::replaced(field, false));
    check(settings(&fake).discover().await.unwrap())
        .await
        .unwrap();
}
