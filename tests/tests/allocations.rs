//! A kernel's call makes no heap allocation of the plugin's: `examples/allocations.rs` counts them.

use std::ffi::CString;

use sp_host::{Host, Op, Tensor};
use sp_tests::{example, in_own_process, snapshots};

type Count = unsafe extern "C" fn() -> usize;

/// Returns the function that counts the plugin's allocations.
fn counter() -> Count {
    let path = CString::new(example("allocations").to_str().unwrap()).unwrap();
    // SAFETY: the plugin is loaded, stays loaded, and the function has this signature.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        let symbol = libc::dlsym(library, c"sp_test_allocations".as_ptr());
        assert!(!symbol.is_null());
        std::mem::transmute::<*mut libc::c_void, Count>(symbol)
    }
}

/// Allocations of a run outside of the kernel's call: the kernel's instance, and the handles of two events of the host.
const OUTSIDE: usize = 3;

#[test]
fn call_allocates_nothing() {
    in_own_process("call_allocates_nothing", || {
        let host = Host::open(&snapshots("2.21"), &example("allocations")).unwrap();
        let count = counter();
        let x = || Tensor::from([2, 2], &[1_f32, -2.0, 3.0, -4.0]);
        for (op, inputs) in [
            ("Relu", vec![x()]),
            ("Neg", vec![x()]),
            ("Square", vec![x()]),
        ] {
            let run = || drop(host.run(&Op::new(op), &inputs).unwrap());
            run();
            // SAFETY: the function takes no arguments.
            let before = unsafe { count() };
            (0..10).for_each(|_| run());
            // SAFETY: as above.
            assert_eq!(unsafe { count() } - before, 10 * OUTSIDE, "{op}");
        }
    });
}
