//! What a derive would write, if one did: a `Debug` of chosen fields, and the setters of builders; and how code that a build script
//! writes is included.

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

/// Makes the types of operations, each with the module of its variables and its reply, and the document that is sent.
///
/// `envd-codegen` writes the call and the module. By hand it is short for what [`Client::execute`](crate::Client::execute) takes:
///
/// ```
/// # equipment::example(async {
/// envd_sdk::operations! {
///     /// How many consignments there are.
///     Count => count, "query Count($account: String!) {
///         consignments(envdAccountId: $account) { totalCount }
///     }";
/// }
///
/// mod count {
///     #[derive(Default, serde::Serialize)]
///     pub struct Variables {
///         pub account: String,
///     }
///
///     #[derive(serde::Deserialize)]
///     pub struct ResponseData {
///         pub consignments: Option<envd_sdk::model::Connection<()>>,
///     }
/// }
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let client = fake.client().build()?;
/// let variables = count::Variables { account: fake.account_id().to_owned() };
/// let page = client.execute::<Count>(variables).await?.value.consignments;
/// assert_eq!(page.and_then(|page| page.total_count), Some(8));
/// # Ok(()) });
/// ```
#[macro_export]
macro_rules! operations {
    ($($(#[$meta:meta])* $name:ident => $module:ident, $document:expr;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug)]
            #[non_exhaustive]
            pub struct $name;

            impl $crate::graphql_client::GraphQLQuery for $name {
                type Variables = $module::Variables;
                type ResponseData = $module::ResponseData;

                fn build_query(variables: Self::Variables) -> $crate::graphql_client::QueryBody<Self::Variables> {
                    $crate::graphql_client::QueryBody {
                        variables,
                        query: $document,
                        operation_name: stringify!($name),
                    }
                }
            }
        )*
    };
}

/// Includes the operations that `envd_codegen::build` wrote in the build script of the package.
///
/// [`guide::own_documents`](crate::guide::own_documents) has the documents, the build script and the call. The macro stands where the
/// types are to be: in a module, or at the top of a file.
///
/// ```text
/// mod queries {
///     envd_sdk::include_operations!();
/// }
/// ```
#[macro_export]
macro_rules! include_operations {
    () => {
        include!(concat!(env!("OUT_DIR"), "/envd_operations.rs"));
    };
}
