//! Writes the operations of custom_operation from its documents.

fn main() {
    envd_codegen::Generator::new(["src/bin/custom_operation/queries"])
        .schema("src/bin/custom_operation/schema.graphql")
        .build();
}
