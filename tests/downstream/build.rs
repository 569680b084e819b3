//! Generates the operations of the application from `queries`.

fn main() {
    envd_codegen::build(["queries"]);
}
