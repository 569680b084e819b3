//! What an account holds, copied.

mod change;
mod changes;
mod consumer;
mod difference;
mod instant_key;
mod local_record;

pub use self::change::{Change, ChangeKind, StatusChange};
pub use self::changes::Changes;
pub use self::consumer::Consumer;
pub use self::local_record::{Depth, LocalRecord};
