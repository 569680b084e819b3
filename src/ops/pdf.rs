//! Downloads the printed declaration.

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

    /// Rejects login pages, which may come with the status 200. PDF readers look for the signature in the first 1024 bytes.
    fn decode_reply(&self, reply: Reply) -> Result<Vec<u8>> {
        let start = reply.body.get(..1_024).unwrap_or(&reply.body);
        let is_pdf = start.windows(5).any(|bytes| bytes == b"%PDF-");
        match reply.status {
            200..=299 if is_pdf => Ok(reply.body.into()),
            // The host serves browsers, so an HTML page is the service's own reply.
            _ => Err(Error::http(reply.received().of_service())),
        }
    }
}

impl Client {
    /// Downloads the printed declaration of a consignment, as a PDF, from the address in
    /// [`Consignment::pdf_url`](crate::model::Consignment::pdf_url).
    ///
    /// The address contains its own token and has another host than the endpoint (seen in `location_4.4.0`, `guide::sources`).
    /// Therefore neither the access token nor the headers of the client are sent there. The client's time limits, retries, proxy,
    /// certificates and largest body apply. It is not documented how long the token is valid: read the consignment just before, and
    /// read it again if the download is refused.
    ///
    /// Source: public material (`OAuthSample`, `location_4.4.0`) for the address; assumed: a GET of it returns the PDF.
    ///
    /// ```
    /// # test_support::example(async {
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
    /// [`Config`](crate::ErrorKind::Config) if the address is not https, or is on this machine or a private network while the
    /// endpoint is not; [`Unauthorized`](crate::ErrorKind::Unauthorized), [`Forbidden`](crate::ErrorKind::Forbidden) or
    /// [`NotFound`](crate::ErrorKind::NotFound) if the host refuses the token. Redirects and replies that are not a PDF are errors
    /// with their [`http_status`](crate::Error::http_status).
    #[doc(alias("print", "download", "printing"))]
    pub fn pdf(&self, address: &PdfUrl) -> Call<Vec<u8>> {
        self.get_elsewhere("the address of the PDF", address.expose(), GetPdf)
    }
}
