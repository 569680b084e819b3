//! Random tests that are the same in each run, unless a seed says otherwise.

use proptest::test_runner::{Config, RngSeed};

/// Names a seed for a search with other random cases; what it finds becomes a fixed case. `.ci/run` makes such searches.
const EXPLORE: &str = "ENVD_SDK_EXPLORE";

/// The seed of all random tests.
pub(crate) fn seed() -> u64 {
    std::env::var(EXPLORE).map_or(4711, |seed| seed.parse().unwrap())
}

/// The settings of a property test with so many cases.
pub(crate) fn cases(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: None,
        ..Config::default()
    }
}
