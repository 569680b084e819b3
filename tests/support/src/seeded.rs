//! Settings of property tests. The seed is fixed unless a variable sets it.

use proptest::test_runner::{Config, RngSeed};

/// The variable with a seed for other random cases; `.ci/run` sets it. Add a failure as a fixed case.
const EXPLORE: &str = "ENVD_SDK_EXPLORE";

/// The seed of all property tests.
pub fn seed() -> u64 {
    std::env::var(EXPLORE).map_or(4711, |seed| seed.parse().unwrap())
}

/// The settings of a property test with this number of cases.
pub fn cases(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: None,
        ..Config::default()
    }
}
