//! The laws of token stores, on ours, the sample world, and the end of a fake.

mod dropping;
mod seed;
mod stores;
