//! Writes the operations of `documents.graphql` for a service whose schema has names that Rust does not allow.

fn main() {
    envd_codegen::Generator::default()
        .documents(["documents.graphql"])
        .schema("../../crates/envd-codegen/tests/schema.graphql")
        .scalar("Money", "String")
        .build();
}
