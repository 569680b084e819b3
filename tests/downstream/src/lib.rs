//! Operations of an application outside the workspace, which its build script writes.

envd_sdk::include_operations!();
