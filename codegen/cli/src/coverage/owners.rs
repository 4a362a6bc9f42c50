//! The authors of the kernels of a captured process, as the plugin has reported them.

use super::call_report::{self, KernelCalls};
use super::process::Types;
use super::row::Class;

/// The kernels that a process has called.
#[derive(Debug, Default)]
pub struct KernelOwners {
    kernels: Option<Vec<KernelCalls>>,
}

impl KernelOwners {
    /// Returns the owners of a report, which is empty if the plugin has none.
    pub fn from_report(report: &str) -> Self {
        let kernels = call_report::parse(report).into_iter();
        Self {
            kernels: Some(kernels.filter(|it| it.calls > 0).collect()),
        }
    }

    /// Returns true if the process has ended without a report.
    pub fn are_unknown(&self) -> bool {
        self.kernels.is_none()
    }

    /// Returns the kernel of an op with these types, or `None` if the plugin has not reported it. Of several, the one with the most
    /// constraints, and of these the one with the most calls.
    pub fn find(&self, op: &str, types: &Types) -> Option<&KernelCalls> {
        let kernels = self.kernels.iter().flatten();
        let serving = kernels.filter(|it| it.op == op && it.allows(types));
        serving.max_by_key(|it| (it.types.len(), it.calls))
    }

    /// Returns the class of an op with these types, or `None` if it is unknown. A kernel of a plugin without a report is the author's.
    pub fn class(&self, op: &str, types: &Types) -> Option<Class> {
        let found = self.find(op, types).map(KernelCalls::class);
        found.or((!self.are_unknown()).then_some(Class::Own))
    }
}
