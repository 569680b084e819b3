//! The printed declaration.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::model::PdfUrl;
use crate::send::{Call, SentOperation};
use crate::transport::Reply;

/// A request for the printed declaration.
struct GetPdf;

impl SentOperation for GetPdf {
    type Value = Vec<u8>;

    fn name(&self) -> &'static str {
        "pdf"
    }

    fn kind(&self) -> &'static str {
        "download"
    }

    fn is_change(&self) -> bool {
        false
    }

    /// A page that asks for a login, with the status 200, is no declaration. Readers of PDF look for its mark in the first 1024
    /// bytes.
    fn decode_reply(&self, reply: Reply) -> Result<Vec<u8>> {
        let start = reply.body.get(..1_024).unwrap_or(&reply.body);
        let is_pdf = start.windows(5).any(|bytes| bytes == b"%PDF-");
        match reply.status {
            200..=299 if is_pdf => Ok(reply.body.into()),
            // The host answers browsers, so its pages are its answers.
            _ => Err(Error::http(reply.received().of_service())),
        }
    }
}

impl Client {
    /// Downloads the printed declaration of a consignment, as a PDF, from the address in
    /// [`Consignment::pdf_url`](crate::model::Consignment::pdf_url).
    ///
    /// The address carries a token of its own and names another host than the endpoint (seen in `location_4.4.0`,
    /// `guide::sources`), so neither the access token nor the headers of the client are sent there. Time limits, retries, the proxy,
    /// certificates and the largest body are those of the client. How long the token of an address is valid is not shown: read the
    /// consignment right before, and again when the download is refused.
    ///
    /// Source: public material (`OAuthSample`, `location_4.4.0`) for the address; assumed: a GET of it returns the PDF.
    ///
    /// ```
    /// # equipment::example(async {
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// # let account = client.account(fake.account_id());
    /// let record = account.consignment("C-900000101").await?.value;
    /// let address = record.pdf_url.ok_or("not printed")?;
    /// let pdf = client.pdf(&address).await?;
    /// assert!(pdf.starts_with(b"%PDF-"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the address is not https, or one of this machine or a private network while the
    /// endpoint is not; [`Unauthorized`](crate::ErrorKind::Unauthorized), [`Forbidden`](crate::ErrorKind::Forbidden) or
    /// [`NotFound`](crate::ErrorKind::NotFound) when the host refuses the token. A reply that is no PDF, or redirects, is an
    /// error with its [`http_status`](crate::Error::http_status).
    #[doc(alias("print", "download", "printing"))]
    pub fn pdf(&self, address: &PdfUrl) -> Call<Vec<u8>> {
        self.get_elsewhere("the address of the PDF", address.expose(), GetPdf)
    }
}
