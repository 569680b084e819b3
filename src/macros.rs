//! A macro for a `Debug` with selected fields.

/// Implements `Debug` with the listed fields only, so that fields added later stay hidden.
macro_rules! debug_shows {
    ($shown:ident $(<$($generic:ident $(: $bound:path)?),+>)? $(, |$it:ident| $($field:ident: $value:expr),+ $(,)?)?) => {
        #[automatically_derived]
        impl $(<$($generic $(: $bound)?),+>)? std::fmt::Debug for $shown $(<$($generic),+>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(let $it = self;)?
                f.debug_struct(stringify!($shown))
                    $($(.field(stringify!($field), &$value))+)?
                    .finish_non_exhaustive()
            }
        }
    };
}
