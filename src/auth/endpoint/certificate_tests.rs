//! Client certificates instead of a secret, at a token endpoint that requires one.

use super::{Class, authorize_device, refresh};
use crate::auth::{Provider, ProviderBuilder};
use crate::error::ErrorKind;
use crate::transport::HttpOptions;
use crate::transport::tls::TlsServer;

const RENEWED: &str = r#"{"access_token":"at-2","refresh_token":"rt-2","expires_in":60}"#;

fn settings(server: &TlsServer, http: HttpOptions) -> ProviderBuilder {
    Provider::builder("app")
        .token_url(server.url.as_str())
        .http(http.extra_root_certificate(TlsServer::AUTHORITY))
}

#[tokio::test]
async fn rfc_8705_2_a_certificate_and_the_id_in_the_body_authenticate_the_client() {
    let server = TlsServer::start(RENEWED);
    let http = HttpOptions::default().client_certificate(TlsServer::CLIENT);
    let provider = settings(&server, http).build().unwrap();
    let issued = refresh(&provider, &"rt".into()).await.ok().unwrap();
    assert_eq!(issued.refresh_token.unwrap().expose(), "rt-2");
    let requests = server.requests();
    let (_, body) = requests[0].split_once("\r\n\r\n").unwrap();
    let expected = "grant_type=refresh_token&refresh_token=rt&client_id=app";
    assert_eq!((requests.len(), body), (1, expected));
}

/// The refresh token was not used, so the session continues.
#[tokio::test]
async fn a_certificate_that_the_provider_refuses_is_an_error_of_the_settings_and_nothing_was_processed()
 {
    let server = TlsServer::start(RENEWED);
    let foreign = HttpOptions::default().client_certificate(TlsServer::SERVER);
    for http in [HttpOptions::default(), foreign] {
        let provider = settings(&server, http).build().unwrap();
        let refusal = refresh(&provider, &"rt".into()).await.err().unwrap();
        assert_eq!(refusal.class, Class::Refused);
        assert!(refusal.error.kind() == ErrorKind::Config && !refusal.error.is_reauth_required());
        assert!(refusal.error.to_string().contains("client_certificate"));
        let error = authorize_device(&provider, &server.url, &[]).await;
        assert!(error.err().unwrap().kind() == ErrorKind::Config);
    }
    assert!(server.requests().is_empty());
}
