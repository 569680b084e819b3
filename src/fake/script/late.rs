//! Requests that are processed after their reply was lost.

use wiremock::Request;

use crate::fake::Fake;

/// Requests that wait, each with the number of further requests, in the order in which they came.
#[derive(Default)]
pub(in crate::fake) struct LateRequests(Vec<(usize, Request)>);

impl LateRequests {
    pub(in crate::fake) fn push(&mut self, further: usize, request: Request) {
        self.0.push((further, request));
    }

    /// Counts a further request, and takes those that waited for it.
    pub(in crate::fake) fn count(&mut self) -> Vec<Request> {
        for (left, _) in &mut self.0 {
            *left = left.saturating_sub(1);
        }
        let due = self.0.extract_if(.., |(left, _)| *left == 0);
        due.map(|(_, request)| request).collect()
    }

    fn take(&mut self) -> Vec<Request> {
        let all = std::mem::take(&mut self.0).into_iter();
        all.map(|(_, request)| request).collect()
    }
}

impl Fake {
    /// Processes now what [`Fault::processed_after`](super::Fault::processed_after) still delays, in the order of the requests,
    /// and returns their number.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::fake::{Fake, Fault};
    /// use serde_json::Value;
    ///
    /// let fake = Fake::start().await;
    /// let fault = Fault::internal_server_error("copyConsignment").processed_after(usize::MAX);
    /// fake.on_operation("CopyConsignment").fault(fault);
    /// let account = fake.client().build()?.account(fake.account_id());
    /// assert!(account.copy_consignment("C-900000101").await.is_err());
    /// assert_eq!(fake.process_late_requests(), 1);
    /// assert_eq!(fake.consignments::<Value>(fake.account_id()).len(), 9);
    /// # Ok(()) });
    /// ```
    // A test that knows the number need not look at it.
    pub fn process_late_requests(&self) -> usize {
        let late = self.state.parts().late.take();
        for request in &late {
            self.state.serve(request);
        }
        late.len()
    }
}
