//! What a derive would write, if one did: a `Debug` of chosen fields, and the setters of builders.

/// `Debug` of a type that shows only what is named here, so that a field which is added later stays hidden.
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

/// Setters of a builder, in an `impl` of it: `pub fn name(argument: Type) |it| it.field = argument;`.
macro_rules! setters {
    ($(
        $(#[$meta:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) |$it:ident| $change:expr;
    )*) => {
        $(
            $(#[$meta])*
            $visibility fn $name(mut self $(, $argument: $type)*) -> Self {
                let $it = &mut self;
                $change;
                self
            }
        )*
    };
}
