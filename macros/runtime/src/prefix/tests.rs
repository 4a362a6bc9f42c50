use super::*;
use crate::Abi;

/// `second` was all there was; later `first` came before it and `small` behind.
#[derive(Clone, Copy, Debug, Abi)]
#[repr(C)]
#[abi(
    struct_size = "DEMO_STRUCT_SIZE",
    last = "small",
    epochs = "2.5..2.6 = 16, 2.7.. = 25"
)]
struct Demo {
    struct_size: usize,
    #[abi(at = "25 = 8")]
    first: u64,
    #[abi(at = "16 = 8, 25 = 16")]
    second: u64,
    #[abi(at = "25 = 24")]
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

/// What a view of a struct that says `size` finds: first, second, small.
fn found(size: usize) -> (Option<u64>, Option<u64>, Option<u8>) {
    let whole = demo(size);
    // SAFETY: `whole` is a whole Demo, and no size here is beyond it.
    let view = unsafe { Prefix::new(&raw const whole) };
    (
        view.get(Demo::first),
        view.get(Demo::second),
        view.get(Demo::small),
    )
}

#[test]
fn size_leaves_out_tail_padding() {
    assert_eq!((Demo::STRUCT_SIZE, size_of::<Demo>()), (25, 32));
}

#[test]
fn a_field_is_where_the_hosts_layout_has_it() {
    assert_eq!(found(25), (Some(7), Some(8), Some(9)));
    assert_eq!(found(16), (None, Some(7), None));
}

#[test]
fn a_size_that_nobody_knows_has_no_fields() {
    for size in [0, 8, 17, 24, 26, 32] {
        assert_eq!(found(size), (None, None, None), "{size}");
    }
}

#[test]
fn writing_stays_in_the_hosts_layout() {
    let mut old = demo(16);
    // SAFETY: as above.
    let mut view = unsafe { PrefixMut::new(&raw mut old) };
    assert!(view.set(Demo::second, 1));
    assert!(!view.set(Demo::first, 2) && !view.set(Demo::small, 3));
    view.announce();
    let Demo {
        struct_size,
        first,
        second,
        small,
    } = old;
    assert_eq!((struct_size, first, second, small), (16, 1, 8, 9));
}

#[test]
fn an_unknown_struct_is_not_written_to() {
    let mut longer = demo(32);
    // SAFETY: as above.
    let mut view = unsafe { PrefixMut::new(&raw mut longer) };
    assert!(!view.set(Demo::second, 1));
    view.announce();
    let error = view.known().err().unwrap();
    assert!(error.message().contains("Demo is 32 bytes"), "{error}");
    assert!(error.message().contains("expected 16 or 25"), "{error}");
    assert_eq!((longer.struct_size, longer.second), (32, 8));
}

#[test]
fn declining_reaches_only_what_no_layout_has_moved() {
    let mut longer = demo(32);
    // SAFETY: as above.
    let mut view = unsafe { PrefixMut::new(&raw mut longer) };
    let mut view = view.fixed();
    assert_eq!(view.get(Demo::struct_size), Some(32));
    assert!(!view.set(Demo::first, 1) && !view.set(Demo::second, 1));
}

#[test]
fn incredible_size_reaches_no_field() {
    unsafe extern "C" fn stub() -> usize {
        0
    }
    for size in [LARGEST + 1, isize::MAX as usize, usize::MAX] {
        let mut whole = demo(size);
        // SAFETY: nothing is read behind `struct_size`, which is the point of this test.
        let mut view = unsafe { PrefixMut::new(&raw mut whole) };
        assert_eq!(view.fixed().get(Demo::struct_size), None, "{size}");
        assert!(!view.set(Demo::second, 1) && !view.fixed().set(Demo::second, 1));
        view.announce();
        // SAFETY: as above.
        unsafe { view.occupy(8, stub) };
        assert!(view.known().is_err());
        assert_eq!((whole.struct_size, whole.second), (size, 8), "{size}");
    }
}

#[test]
fn a_size_tells_releases() {
    let old = demo(16);
    // SAFETY: as above.
    let view = unsafe { Prefix::new(&raw const old) };
    assert_eq!(view.releases().unwrap().to_string(), "2.5 to 2.6");
    assert_eq!(
        Prefix::of(&old).releases().unwrap().to_string(),
        "2.7 or later"
    );
}

#[test]
fn null_has_no_fields() {
    // SAFETY: null is allowed.
    let view = unsafe { Prefix::<Demo>::new(std::ptr::null()) };
    assert_eq!((view.size(), view.get(Demo::struct_size)), (0, None));
}
