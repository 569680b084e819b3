//! What token stores must do, checked for ours; the sample world; and dropping a fake.

mod dropping;
mod seed;
mod stores;
