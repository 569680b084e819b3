//! The download of a printed declaration: what is sent to the other host, and what counts as a PDF.

use envd_sdk::auth::StaticToken;
use envd_sdk::model::PdfUrl;
use envd_sdk::{Client, ErrorKind, RetryPolicy};
use wiremock::matchers::{method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::fixed_date::start_fake;
use crate::scripted::client_at;

const TOKEN: &str = "pr1nt-t0ken";

fn client(endpoint: &str) -> Client {
    client_at(endpoint)
        .token_source(StaticToken::new("access-t0ken").unwrap())
        .header("x-api-key", "k3y")
        .retry(RetryPolicy::none())
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_declaration_of_the_fake_is_downloaded_until_its_token_is_wrong() {
    let fake = start_fake().await;
    let client = fake.client().build().unwrap();
    let account = client.account(fake.account_id());
    let record = account.consignment("C-900000103").await.unwrap().value;
    let address = record.pdf_url.unwrap();
    let pdf = client.pdf(&address).await.unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.windows(11).any(|bytes| bytes == b"C-900000103"));
    let wrong = PdfUrl::from(format!("{}x", address.expose()));
    assert!(client.pdf(&wrong).await.unwrap_err().kind() == ErrorKind::Unauthorized);
}

#[tokio::test]
async fn the_other_host_gets_neither_the_access_token_nor_the_headers_of_the_client() {
    let prints = MockServer::start().await;
    let pdf =
        ResponseTemplate::new(200).set_body_raw(*b"\n%PDF-1.7 ..", "application/octet-stream");
    Mock::given(method("GET"))
        .and(path("/C-1/$print"))
        .and(query_param("authToken", TOKEN))
        .respond_with(pdf)
        .mount(&prints)
        .await;
    let address = PdfUrl::from(format!("{}/C-1/$print?authToken={TOKEN}", prints.uri()));
    let call = client("http://127.0.0.1:9/v2/graphql").pdf(&address);
    let call = call.header("x-trace", "1");
    assert!(!format!("{call:?} {:?}", call.dry_run().unwrap()).contains(TOKEN));
    assert_eq!(call.await.unwrap(), b"\n%PDF-1.7 ..");
    let received = prints.received_requests().await.unwrap();
    let headers = &received[0].headers;
    assert!(headers.contains_key("x-trace"));
    for name in ["authorization", "x-api-key", "cookie"] {
        assert!(!headers.contains_key(name), "{name}");
    }
}

#[tokio::test]
async fn what_is_no_pdf_is_an_error_that_hides_the_address() {
    let login = ResponseTemplate::new(200).set_body_raw("<html>Log in</html>", "text/html");
    let redirect = ResponseTemplate::new(302).insert_header("location", "/login?of=pr1nt-t0ken");
    for (reply, status) in [
        (login, 200),
        (redirect, 302),
        (ResponseTemplate::new(404), 404),
        (ResponseTemplate::new(200), 200),
        (ResponseTemplate::new(403).set_body_string("%PDF-1.7"), 403),
    ] {
        let prints = MockServer::start().await;
        Mock::given(method("GET"))
            .respond_with(reply)
            .mount(&prints)
            .await;
        let address = PdfUrl::from(format!("{}/C-1/$print?authToken={TOKEN}", prints.uri()));
        let error = client(&prints.uri()).pdf(&address).await.unwrap_err();
        assert_eq!(error.http_status(), Some(status));
        assert!(!format!("{error} {error:?}").contains(TOKEN), "{error:?}");
        assert_eq!(prints.received_requests().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_address_that_must_not_be_asked_is_refused() {
    for address in [
        "http://print.example/C-1/$print?authToken=pr1nt-t0ken",
        "https://127.0.0.1/C-1/$print?authToken=pr1nt-t0ken",
        "https://10.0.0.1/C-1/$print?authToken=pr1nt-t0ken",
        "https://100.64.0.1/C-1/$print?authToken=pr1nt-t0ken",
        "https://[64:ff9b::a00:1]/C-1/$print?authToken=pr1nt-t0ken",
        "https://a.localhost/C-1/$print?authToken=pr1nt-t0ken",
        "https://clerk:pr1nt-t0ken@print.example/",
        "file:///C-1/pr1nt-t0ken",
        "pr1nt-t0ken",
    ] {
        let client = client("https://api.example/v2/graphql");
        let error = client.pdf(&PdfUrl::from(address)).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Config, "{address}: {error}");
        assert!(!format!("{error} {error:?}").contains(TOKEN), "{error:?}");
    }
}
