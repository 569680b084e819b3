//! A macro that implements `Debug` for chosen fields.

/// Implements `Debug` so that it shows only the fields named here; a field added later stays hidden.
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
