//! How templates are listed.

/// How templates are listed: how many a page.
///
/// The specification speaks of filter criteria (4.1) and shows none, and public queries take none: an
/// [override](crate::ClientBuilder::override_operation) of `templates` may have those of the live schema.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use envd_sdk::ops::TemplateFilter;
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let mut templates = account.templates(&TemplateFilter::default().page_size(20)).items();
/// let first = templates.next().await.ok_or("no template")??;
/// assert_eq!(first.name.as_deref(), Some("Weaners to the yards"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TemplateFilter {
    pub(super) page_size: Option<i64>,
}

impl TemplateFilter {
    /// How many records a page holds at most; the server's default and maximum are not shown.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = Some(records.into());
        self
    }
}
