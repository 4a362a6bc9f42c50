//! The report of calls that a plugin of sp-gen writes: a line for each kernel.

use super::process::{Types, are_allowed};
use super::row::Class;

/// The crate that has the reference kernels.
const REFERENCE: &str = "sp_cpu";

/// The calls of a kernel of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCalls {
    pub op: String,
    /// The types that it was registered for, and its label: none of an attribute of which it serves all types.
    pub types: Types,
    pub calls: u64,
    /// The calls with staging copies.
    pub staged: u64,
    pub staged_bytes: u64,
    /// The crate that has the kernel.
    pub owner: Option<String>,
}

impl KernelCalls {
    /// Returns true if the kernel is one of the reference backend.
    pub fn is_reference(&self) -> bool {
        self.owner.as_deref() == Some(REFERENCE)
    }

    /// Returns the class of its calls.
    pub fn class(&self) -> Class {
        match (self.staged > 0, self.is_reference()) {
            (true, _) => Class::Staged,
            (false, true) => Class::Reference,
            (false, false) => Class::Own,
        }
    }

    /// Returns true if the kernel computes nodes with these types.
    pub fn allows(&self, types: &Types) -> bool {
        let is_served = |(name, allowed): (&String, &String)| {
            let is_allowed = |it: &str| allowed.split(',').any(|allowed| allowed == it);
            types.get(name).is_none_or(|it| are_allowed(it, is_allowed))
        };
        self.types.iter().all(is_served)
    }
}

/// Parses the lines of a report. One without a number of calls is left out.
pub fn parse(report: &str) -> Vec<KernelCalls> {
    report.lines().filter_map(parse_line).collect()
}

/// Parses a line such as `Sum T=TF_FLOAT calls=3 staged=0 staged_bytes=0 staged_us=0 owner=sp_cpu`.
fn parse_line(line: &str) -> Option<KernelCalls> {
    let mut words = line.split(' ');
    let op = words.next()?.to_owned();
    let (mut types, mut owner) = (Types::new(), None);
    let (mut calls, mut staged, mut staged_bytes) = (None, 0, 0);
    for (key, value) in words.filter_map(|it| it.split_once('=')) {
        let number = || value.parse().unwrap_or(0);
        match key {
            "calls" => calls = value.parse().ok(),
            "staged" => staged = number(),
            "staged_bytes" => staged_bytes = number(),
            "owner" => owner = Some(value.to_owned()),
            "staged_us" | "behind" | "compared" | "different" => {}
            _ => drop(types.insert(key.to_owned(), type_names(value))),
        }
    }
    Some(KernelCalls {
        op,
        types,
        calls: calls?,
        staged,
        staged_bytes,
        owner,
    })
}

/// Returns the names of types as TensorFlow's messages write them: `float` for `TF_FLOAT`.
fn type_names(value: &str) -> String {
    let names = value.split(',');
    let names = names.map(|it| it.strip_prefix("TF_").unwrap_or(it).to_lowercase());
    names.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::process::types_text;

    #[test]
    fn line_has_op_types_calls_and_owner() {
        let text = "Sum T=TF_FLOAT Tidx=TF_INT32 calls=3 staged=2 staged_bytes=64 staged_us=9 owner=sp_cpu compared=1 different=0\n\
                    NoTypes calls=0 staged=0 staged_bytes=0 staged_us=0 owner=myaccel\nnot a kernel\n";
        let [sum, other] = parse(text).try_into().unwrap();
        let types = types_text(&sum.types);
        assert_eq!((&*sum.op, &*types), ("Sum", "T=float Tidx=int32"));
        assert_eq!((sum.calls, sum.staged, sum.staged_bytes), (3, 2, 64));
        assert!(sum.is_reference() && !other.is_reference());
        assert_eq!((other.types.len(), other.calls), (0, 0));
    }
}
