//! The ops that passes write and that core does not have. Each plugin of the SDK defines them.

/// The op of trees of elementwise nodes.
pub const ELEMENTWISE: &str = "SpElementwise";

/// The op of trees with several results.
pub const ELEMENTWISE_RESULTS: &str = "SpElementwiseResults";

/// The op of the state of a random generator.
pub const RESERVE_NUMBERS: &str = "SpReserveNumbers";

/// The op of binomial numbers of the state of a random generator.
pub const RANDOM_BINOMIAL: &str = "SpRandomBinomial";
