#!/usr/bin/env bash
# The generated files are those that graphql/ gives, and replies of any shape that the schema allows are read.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

cargo test --quiet --locked -p codegen
