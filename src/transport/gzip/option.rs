//! The setting.

use crate::transport::HttpOptions;

impl HttpOptions {
    /// Whether requests ask for replies compressed with gzip; they do unless set. A page of a list shrinks to about an eighth.
    ///
    /// Replies are decompressed and checked while they arrive. One that becomes more than 4 MiB and more than 100 times its bytes,
    /// or has more than 1,000 members, is refused; a server that sends such pages needs `false`. Requests of the token endpoint never ask for it. Only with the
    /// feature `gzip`, which is on by default.
    ///
    /// ```
    /// use envd_sdk::HttpOptions;
    ///
    /// let http = HttpOptions::default().gzip(false);
    /// ```
    pub fn gzip(mut self, is_requested: bool) -> Self {
        self.gzip = is_requested;
        self
    }
}
