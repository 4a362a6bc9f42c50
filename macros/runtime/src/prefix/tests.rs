use super::*;
use crate::Abi;

/// Epoch 1 has `second` only. Epoch 2 inserts `first` before it and appends `small`.
#[derive(Clone, Copy, Debug, Abi)]
#[repr(C)]
#[abi(
    struct_size = "DEMO_STRUCT_SIZE",
    last = "small",
    epochs = "2.5..2.6 = 16, 2.7.. = 25"
)]
struct Demo {
    struct_size: usize,
    #[abi(offsets = "25 = 8")]
    first: u64,
    #[abi(offsets = "16 = 8, 25 = 16")]
    second: u64,
    #[abi(offsets = "25 = 24")]
    small: u8,
}

fn demo(struct_size: usize) -> Demo {
    Demo {
        struct_size,
        first: 7,
        second: 8,
        small: 9,
    }
}

/// Returns the fields `first`, `second` and `small` of a view of a struct with `struct_size` `size`.
fn read_fields(size: usize) -> (Option<u64>, Option<u64>, Option<u8>) {
    let value = demo(size);
    // SAFETY: `value` is an aligned Demo of 32 bytes that nothing else writes to, and `size` is at most 32.
    let view = unsafe { Prefix::new(&raw const value) };
    (
        view.get(Demo::first),
        view.get(Demo::second),
        view.get(Demo::small),
    )
}

#[test]
fn struct_size_excludes_tail_padding() {
    assert_eq!((Demo::STRUCT_SIZE, size_of::<Demo>()), (25, 32));
}

#[test]
fn reads_field_at_offset_of_host_layout() {
    assert_eq!(read_fields(25), (Some(7), Some(8), Some(9)));
    assert_eq!(read_fields(16), (None, Some(7), None));
}

#[test]
fn struct_of_unknown_size_has_no_fields() {
    for size in [0, 8, 17, 24, 26, 32] {
        assert_eq!(read_fields(size), (None, None, None), "{size}");
    }
}

#[test]
fn writes_only_fields_of_host_layout() {
    let mut old = demo(16);
    // SAFETY: `new` is called with an aligned Demo of 32 bytes that nothing else accesses; the size is at most 32.
    let mut view = unsafe { PrefixMut::new(&raw mut old) };
    assert!(view.set(Demo::second, 1));
    assert!(!view.set(Demo::first, 2) && !view.set(Demo::small, 3));
    view.set_struct_size();
    let Demo {
        struct_size,
        first,
        second,
        small,
    } = old;
    assert_eq!((struct_size, first, second, small), (16, 1, 8, 9));
}

#[test]
fn writes_nothing_to_struct_of_unknown_size() {
    let mut longer = demo(32);
    // SAFETY: `new` is called with an aligned Demo of 32 bytes that nothing else accesses; the size is at most 32.
    let mut view = unsafe { PrefixMut::new(&raw mut longer) };
    assert!(!view.set(Demo::second, 1));
    view.set_struct_size();
    let error = view.check_known().err().unwrap();
    assert!(error.message().contains("Demo is 32 bytes"), "{error}");
    assert!(error.message().contains("expected 16 or 25"), "{error}");
    assert_eq!((longer.struct_size, longer.second), (32, 8));
}

#[test]
fn fixed_fields_are_those_with_one_offset_in_all_layouts() {
    let mut longer = demo(32);
    // SAFETY: `new` is called with an aligned Demo of 32 bytes that nothing else accesses; the size is at most 32.
    let mut view = unsafe { PrefixMut::new(&raw mut longer) };
    let mut view = view.fixed_fields();
    assert_eq!(view.get(Demo::struct_size), Some(32));
    assert!(!view.set(Demo::first, 1) && !view.set(Demo::second, 1));
}

#[test]
fn struct_above_size_limit_has_no_fields() {
    unsafe extern "C" fn stub() -> usize {
        0
    }
    for size in [MAX_STRUCT_SIZE + 1, isize::MAX as usize, usize::MAX] {
        let mut value = demo(size);
        // SAFETY: sizes above the limit reach no field, so only `struct_size` is read; the test checks that.
        let mut view = unsafe { PrefixMut::new(&raw mut value) };
        assert_eq!(view.fixed_fields().get(Demo::struct_size), None, "{size}");
        assert!(!view.set(Demo::second, 1) && !view.fixed_fields().set(Demo::second, 1));
        view.set_struct_size();
        // SAFETY: sizes above the limit reach no slot, so nothing is written; the test checks that.
        unsafe { view.fill_slots(8, stub) };
        assert!(view.check_known().is_err());
        assert_eq!((value.struct_size, value.second), (size, 8), "{size}");
    }
}

#[test]
fn struct_size_identifies_releases() {
    let old = demo(16);
    // SAFETY: `new` is called with an aligned Demo of 32 bytes that nothing else accesses; the size is at most 32.
    let view = unsafe { Prefix::new(&raw const old) };
    assert_eq!(view.releases().unwrap().to_string(), "2.5 to 2.6");
    assert_eq!(
        Prefix::from_ref(&old).releases().unwrap().to_string(),
        "2.7 or later"
    );
}

#[test]
fn null_has_no_fields() {
    // SAFETY: `new` accepts null.
    let view = unsafe { Prefix::<Demo>::new(std::ptr::null()) };
    assert_eq!((view.size(), view.get(Demo::struct_size)), (0, None));
}
