//! Which public types may be shared and cloned. The compiler checks it.

use std::fmt::Debug;

use envd_codegen::ir::Program;
use envd_codegen::{Error, Generator, Problem};

const fn is_handle<T: Clone + Debug + Send + Sync + 'static>() {}
const fn is_sent<T: Debug + Send + Sync + 'static>() {}

const _: () = {
    is_handle::<Generator>();
    is_handle::<Problem>();
    is_sent::<Program>();
    is_sent::<Error>();
};
