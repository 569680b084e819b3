//! The day of a movement, beside its text.

use super::{Consignment, ConsignmentSummary, Day, written_time};

impl Consignment {
    /// The day of the movement as its text has it, without a conversion between zones; `None` when there is none, it
    /// cannot be read, or it is an instant of UTC within a day, which may be the next day in Australia.
    ///
    /// ```
    /// use envd_sdk::model::{Consignment, Day};
    ///
    /// let mut record = Consignment::default();
    /// record.movement_date = Some("2023-06-10T00:00:00".to_owned());
    /// assert_eq!(record.movement_day(), Day::new(2023, 6, 10));
    /// ```
    #[must_use]
    pub fn movement_day(&self) -> Option<Day> {
        day(self.movement_date.as_deref())
    }
}

impl ConsignmentSummary {
    /// The day of the movement as its text has it; see [`Consignment::movement_day`].
    #[must_use]
    pub fn movement_day(&self) -> Option<Day> {
        day(self.movement_date.as_deref())
    }
}

fn day(text: Option<&str>) -> Option<Day> {
    written_time::read_day(text?)
}
