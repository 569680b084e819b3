//! What a typed operation is, whoever wrote its types, and the macros that make one.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A GraphQL operation with types for its variables and its reply: what [`Client::execute`](crate::Client::execute) runs.
///
/// `envd-codegen` and [`operations!`](crate::operations) implement it. With the feature `graphql_client016`, which is on by default, each
/// type that the derive of `graphql_client` 0.16 makes is an operation too.
///
/// ```
/// use envd_sdk::graphql::{TypedOperation, OperationBody};
/// use serde::{Deserialize, Serialize};
///
/// /// How many consignments there are.
/// struct Count;
///
/// #[derive(Serialize)]
/// struct Variables {
///     account: String,
/// }
///
/// #[derive(Deserialize)]
/// struct ResponseData {
///     consignments: Option<envd_sdk::model::Connection<()>>,
/// }
///
/// impl TypedOperation for Count {
///     type Variables = Variables;
///     type ResponseData = ResponseData;
///
///     fn body(variables: Variables) -> OperationBody<Variables> {
///         OperationBody {
///             name: "Count",
///             document: "query Count($account: String!) {
///                 consignments(envdAccountId: $account) { totalCount }
///             }",
///             variables,
///         }
///     }
/// }
///
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let client = fake.client().build()?;
/// let variables = Variables { account: fake.account_id().to_owned() };
/// let page = client.execute::<Count>(variables).await?.value.consignments;
/// assert_eq!(page.and_then(|page| page.total_count), Some(8));
/// # Ok(()) });
/// ```
pub trait TypedOperation {
    /// The variables. An object in JSON.
    type Variables: Serialize;
    /// The `data` of a reply.
    type ResponseData: DeserializeOwned;

    /// What is sent for these variables.
    fn body(variables: Self::Variables) -> OperationBody<Self::Variables>;
}

/// What a [`TypedOperation`] sends.
#[derive(Clone, Copy)]
pub struct OperationBody<V> {
    /// The name of the operation in the document.
    pub name: &'static str,
    /// The document.
    pub document: &'static str,
    /// The variables.
    pub variables: V,
}

#[cfg(feature = "graphql_client016")]
impl<Q: graphql_client::GraphQLQuery> TypedOperation for Q {
    type Variables = Q::Variables;
    type ResponseData = Q::ResponseData;

    fn body(variables: Q::Variables) -> OperationBody<Q::Variables> {
        let body = Q::build_query(variables);
        OperationBody {
            name: body.operation_name,
            document: body.query,
            variables: body.variables,
        }
    }
}

// Variables may hold personal data.
debug_shows!(OperationBody<V>, |it| name: it.name);

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

            impl $crate::graphql::TypedOperation for $name {
                type Variables = $module::Variables;
                type ResponseData = $module::ResponseData;

                fn body(variables: Self::Variables) -> $crate::graphql::OperationBody<Self::Variables> {
                    $crate::graphql::OperationBody {
                        name: stringify!($name),
                        document: $document,
                        variables,
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
