//! The optional parts of a plugin.

use clap::ValueEnum;

/// An optional part of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Kernels of the plugin; without them it has only those of sp-cpu
    Kernels,
    /// The graph optimizer
    #[value(alias = "graph")]
    Optimizer,
    /// The profiler
    Profiler,
}

impl Part {
    /// All optional parts.
    pub const ALL: [Self; 3] = [Self::Kernels, Self::Optimizer, Self::Profiler];
}

/// A part that a plugin has only on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExtraPart {
    /// An op of its own, with a kernel, and a Python package with its function and gradient
    Ops,
}

/// The optional parts that a plugin has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// True if it has its own kernels.
    pub kernels: bool,
    /// True if it has a graph optimizer.
    pub optimizer: bool,
    /// True if it has a profiler.
    pub profiler: bool,
    /// True if it defines an op.
    pub ops: bool,
}

impl Parts {
    /// Returns all parts but `excluded`.
    pub fn without(excluded: &[Part]) -> Self {
        let has = |part| !excluded.contains(&part);
        Self {
            kernels: has(Part::Kernels),
            optimizer: has(Part::Optimizer),
            profiler: has(Part::Profiler),
            ops: false,
        }
    }

    /// Returns the parts and those in `added`.
    pub fn with(self, added: &[ExtraPart]) -> Self {
        let ops = self.ops || added.contains(&ExtraPart::Ops);
        Self { ops, ..self }
    }
}
