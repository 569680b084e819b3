//! The statements against a server, if `ENVD_SDK_TEST_POSTGRES` names one; the rest without.

mod claims;
mod fairness;
mod gate;
mod rows;
