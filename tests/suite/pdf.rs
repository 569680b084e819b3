//! The download of a printed declaration: the request to the other host, and the check that the reply is a PDF.

use envd_sdk::ErrorKind;
use envd_sdk::model::PdfUrl;
use test_support::script::play;
use test_support::table;

use crate::calls::Calls;
use crate::fixed_date::start_fake;

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

const DOWNLOADS: &str = "
each: with token access-t0ken; with header x-api-key=k3y; with retry none;
The other host gets neither the access token nor the headers of the client
  reply content-type=application/octet-stream %PDF-1.7; pdf <service>/C-1/$print?authToken=pr1nt x-trace=1 -> ok, value . 8, header x-trace 1, target /C-1/$print?authToken=pr1nt,
  header authorization none, header x-api-key none, header cookie none

What is no PDF is an error that hides the address, and a redirect is not followed
  reply {200 content-type=text/html <html>|302 location=/login?of=pr1nt|404|200|403 %PDF-1.7};
  pdf <service>/C-1/$print?authToken=pr1nt -> status {200|302|404|200|403}, hides pr1nt, sent 1

The other host is left alone until its `Retry-After` is over
  reply {429|503} retry-after=600; pdf <service>/C-1/$print?authToken=pr1nt -> status {429|503}, sent 1;
  pdf <service>/C-2/$print?authToken=pr1nt -> status {429|503}, after 600s, sent 0; questions -> sent 1

An address that must not be asked is refused
  with address https://api.example/v2/graphql;
  pdf {http://print.example/C-1/$print?authToken=pr1nt|https://127.0.0.1/C-1/$print?authToken=pr1nt|https://10.0.0.1/pr1nt|https://100.64.0.1/pr1nt} -> Config unsent, hides pr1nt;
  pdf {https://[64:ff9b::a00:1]/C-1/$print?authToken=pr1nt|https://clerk:pr1nt@print.example/|file:///C-1/pr1nt|pr1nt} -> Config unsent, hides pr1nt;
  pdf https://a.localhost/pr1nt -> Config unsent, hides pr1nt
";

#[tokio::test]
async fn the_other_host_learns_nothing_and_is_not_believed() {
    play::<Calls>(table!(const DOWNLOADS)).await;
}
