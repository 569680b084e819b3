//! Macros for code that a derive could generate: a `Debug` with selected fields, and builder setters.

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

/// Defines builder setters within an `impl`: `pub fn name(argument: Type) |it| it.field = argument;`.
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
