//! The kernels of `va_launch`.

mod call;
mod elementwise;
mod gradient;
mod linear;
mod optimizer;

pub use call::Call;

use crate::abi::{Argument, Result, Status};

/// A kernel.
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// Its arguments in order.
    pub arguments: &'static [Role],
    /// The computation.
    pub run: fn(&Call) -> Result,
}

/// The role of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A tensor that is read.
    In,
    /// A tensor that is written.
    Out,
    /// A tensor that is read and written.
    Update,
    /// An integer.
    Integer,
    /// A real number.
    Real,
}

impl Role {
    /// Returns true for a tensor that is written.
    pub fn writes(self) -> bool {
        matches!(self, Self::Out | Self::Update)
    }
}

/// All kernels.
pub fn all() -> impl Iterator<Item = &'static Kernel> {
    let tables = [
        elementwise::KERNELS,
        linear::KERNELS,
        gradient::KERNELS,
        optimizer::KERNELS,
    ];
    tables.into_iter().flatten()
}

/// Checks a launch and returns its call.
pub fn prepare(name: &str, arguments: &[Argument]) -> Result<Call> {
    let kernel = all()
        .find(|kernel| kernel.name == name)
        .ok_or(Status::UNKNOWN_KERNEL)?;
    Call::new(kernel, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readme_lists_every_kernel() {
        let readme = include_str!("../../README.md");
        let is_listed = |kernel: &&Kernel| readme.contains(&format!("`{}`", kernel.name));
        let missing: Vec<_> = all().filter(|kernel| !is_listed(kernel)).collect();
        let names: Vec<_> = missing.iter().map(|kernel| kernel.name).collect();
        assert!(names.is_empty(), "{names:?}");
    }
}
