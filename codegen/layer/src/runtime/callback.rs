//! Functions that one side passes to the other: kernels, shape functions, host callbacks, entry points.
//!
//! A callback has no place in which the layer could keep the function that it stands for. So a callback has many stubs
//! of a few bytes: each loads its number into the register of the parameter after the last one, and jumps to one function.

use super::description::Function;
use super::report;
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// A function that a stub stands for.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// Its address.
    pub address: usize,
    /// The op type of a kernel, or the path of the plugin for an entry point, or "".
    pub label: &'static str,
}

/// The stubs of a callback.
#[derive(Debug)]
pub struct Stubs {
    /// The address of the first stub.
    pub first: unsafe extern "C" fn(),
    /// The distance of two stubs in bytes.
    pub stride: usize,
}

/// The targets of the stubs in use.
#[derive(Debug)]
pub struct Callback {
    /// The function, as the trace shows it.
    pub function: Function,
    /// Returns the stubs.
    pub stubs: Stubs,
    /// The target of each stub.
    pub targets: &'static [AtomicPtr<Target>],
    /// The stub of each target.
    pub known: Known,
}

/// The stubs of known targets.
#[derive(Debug)]
pub struct Known(Mutex<Option<HashMap<(usize, &'static str), usize>>>);

impl Known {
    /// Returns an empty table.
    #[allow(clippy::new_without_default, reason = "it is used in statics")]
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }
}

impl Callback {
    /// Returns the target of a stub.
    ///
    /// # Panics
    /// Panics if no function has got that stub.
    #[inline]
    pub fn target(&self, stub: usize) -> &'static Target {
        let target = self.targets[stub].load(Ordering::Acquire);
        // SAFETY: a stub's address is passed on after its target was stored, and targets are never freed.
        unsafe { target.as_ref() }.expect("a stub in use has a target")
    }

    /// Returns the address of the stub that stands for the function `address`. Without a free stub it is the function itself.
    pub fn wrap(&self, address: usize, label: &'static str) -> usize {
        if address == 0 || self.is_stub(address) {
            return address;
        }
        let mut known = self.known.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_with(HashMap::new);
        let next = known.len();
        let stub = *known.entry((address, label)).or_insert(next);
        if stub >= self.targets.len() {
            report::line_once(
                self.function.name,
                "has too many functions: some of its calls are not shown",
            );
            return address;
        }
        if stub == next {
            let target = Box::leak(Box::new(Target { address, label }));
            self.targets[stub].store(target, Ordering::Release);
        }
        self.address(stub)
    }

    fn address(&self, stub: usize) -> usize {
        self.stubs.first as *const () as usize + stub * self.stubs.stride
    }

    fn is_stub(&self, address: usize) -> bool {
        let stubs = self.address(0)..self.address(self.targets.len());
        stubs.contains(&address)
    }
}

/// Returns `text` for the life of the process; equal texts are one allocation.
pub fn intern(text: &str) -> &'static str {
    static TEXTS: Mutex<Option<HashMap<String, &'static str>>> = Mutex::new(None);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_with(HashMap::new);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(text.to_owned(), leaked);
    leaked
}

#[cfg(test)]
mod tests {
    use super::super::description::{Kind, Type};
    use super::*;

    unsafe extern "C" fn first() {}

    fn callback() -> Callback {
        let targets: Vec<AtomicPtr<Target>> = (0..2).map(|_| AtomicPtr::default()).collect();
        Callback {
            function: Function::new("TF_Demo.done", Kind::Callback, &[], Type::Void),
            stubs: Stubs { first, stride: 16 },
            targets: targets.leak(),
            known: Known::new(),
        }
    }

    #[test]
    fn equal_targets_share_a_stub() {
        let callback = callback();
        let one = callback.wrap(0x1000, "Relu");
        assert_eq!(callback.wrap(0x1000, "Relu"), one);
        assert_eq!(callback.wrap(0x1000, "Add"), one + 16);
        assert_eq!(
            callback.target(1),
            &Target {
                address: 0x1000,
                label: "Add"
            }
        );
    }

    #[test]
    fn without_a_free_stub_the_function_is_used() {
        let callback = callback();
        callback.wrap(0x1000, "");
        callback.wrap(0x2000, "");
        assert_eq!(callback.wrap(0x3000, ""), 0x3000);
        assert_eq!(callback.wrap(0, ""), 0);
    }

    #[test]
    fn a_stub_is_not_wrapped_again() {
        let callback = callback();
        let stub = callback.wrap(0x1000, "");
        assert_eq!(callback.wrap(stub, "other"), stub);
    }
}
