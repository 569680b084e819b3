//! Generates the operations of `custom_operation` from its documents.

fn main() {
    envd_codegen::Generator::default()
        .documents(["src/bin/custom_operation/queries"])
        .schema("src/bin/custom_operation/schema.graphql")
        .build();
}
