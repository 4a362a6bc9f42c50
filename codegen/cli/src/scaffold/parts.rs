//! The parts of a plugin that `new` can leave out.

use clap::ValueEnum;

/// A part that a plugin can be without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Kernels of its own; the reference backend's stay
    Kernels,
    /// The graph optimizer
    #[value(alias = "graph")]
    Optimizer,
    /// The profiler
    Profiler,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Kernels, Self::Optimizer, Self::Profiler];
}

/// Which of them a plugin has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Whether it has kernels of its own.
    pub kernels: bool,
    /// Whether it has a graph optimizer.
    pub optimizer: bool,
    /// Whether it has a profiler.
    pub profiler: bool,
}

impl Parts {
    /// All but these.
    pub fn without(left_out: &[Part]) -> Self {
        let has = |part| !left_out.contains(&part);
        Self {
            kernels: has(Part::Kernels),
            optimizer: has(Part::Optimizer),
            profiler: has(Part::Profiler),
        }
    }
}
