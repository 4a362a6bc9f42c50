//! Casts: vector code gives the results of scalar code, and out-of-range values give TensorFlow's results on x86.

use super::*;
use crate::compute::cast::{Cast, cast};
use sp_plugin::{Bf16, F16};

impl SameBits for F16 {
    fn is_same(self, other: Self) -> bool {
        self.0 == other.0
    }
}

impl SameBits for Bf16 {
    fn is_same(self, other: Self) -> bool {
        self.0 == other.0
    }
}

fn check<A: Cast<B> + Sync, B: SameBits + Send + Default>(x: &[A]) {
    let expected: Vec<B> = x.iter().map(|x| x.cast()).collect();
    on_every_isa(|isa| {
        let mut out = vec![B::default(); x.len()];
        cast(x, &mut out);
        assert_same(isa, &out, &expected);
    });
}

macro_rules! to_all {
    ($x:expr) => {{
        let x = $x;
        check::<_, Bool>(&x);
        check::<_, u8>(&x);
        check::<_, i8>(&x);
        check::<_, u16>(&x);
        check::<_, i16>(&x);
        check::<_, u32>(&x);
        check::<_, i32>(&x);
        check::<_, u64>(&x);
        check::<_, i64>(&x);
        check::<_, f32>(&x);
        check::<_, f64>(&x);
        check::<_, F16>(&x);
        check::<_, Bf16>(&x);
    }};
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn converts_all_types(bits in vec(any::<u64>(), 0..150)) {
        to_all!(bits.clone());
        to_all!(bits.iter().map(|b| *b as i64).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| *b as u32).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| *b as i32).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| *b as u16).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| *b as i16).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| *b as u8).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| *b as i8).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| Bool::from_byte((b % 3) as u8)).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| f32::from_bits(*b as u32)).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| f64::from_bits(*b)).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| F16(*b as u16)).collect::<Vec<_>>());
        to_all!(bits.iter().map(|b| Bf16(*b as u16)).collect::<Vec<_>>());
    }

    #[test]
    fn converts_floats(x in vec(any_float(), 0..150)) {
        to_all!(convert_all(&x, |x| x as f32));
        to_all!(convert_all(&x, |x| x * 1e17));
        to_all!(convert_all(&x, |x| F16::from_f32(x as f32)));
    }
}

/// Results of TensorFlow 2.21 on x86-64.
#[test]
fn floats_out_of_range_convert_as_in_tensorflow() {
    let x = [
        f32::NAN,
        f32::INFINITY,
        -f32::INFINITY,
        3e9,
        -3e9,
        300.0,
        -300.0,
        255.9,
        -1.5,
        4_294_967_296.0,
        9.3e18,
    ];
    fn to<T: Send + Default + Copy>(x: &[f32]) -> Vec<T>
    where
        f32: Cast<T>,
    {
        let mut out = vec![T::default(); x.len()];
        cast(x, &mut out);
        out
    }
    let low = i32::MIN;
    assert_eq!(
        to::<i32>(&x),
        [low, low, low, low, low, 300, -300, 255, -1, low, low]
    );
    let low = i64::MIN;
    assert_eq!(
        to::<i64>(&x),
        [
            low,
            low,
            low,
            3_000_000_000,
            -3_000_000_000,
            300,
            -300,
            255,
            -1,
            1 << 32,
            low
        ]
    );
    let high = 1 << 31;
    assert_eq!(
        to::<u32>(&x),
        [
            high,
            high,
            high,
            3_000_000_000,
            high,
            300,
            4_294_966_996,
            255,
            4_294_967_295,
            high,
            high
        ]
    );
    let high = 1 << 63;
    let below = |x: i64| x as u64;
    assert_eq!(
        to::<u64>(&x),
        [
            high,
            high,
            high,
            3_000_000_000,
            below(-3_000_000_000),
            300,
            below(-300),
            255,
            below(-1),
            1 << 32,
            9_300_000_300_729_368_576
        ]
    );
    assert_eq!(to::<u8>(&x), [0, 0, 0, 0, 0, 255, 0, 255, 0, 0, 0]);
    assert_eq!(
        to::<i8>(&x),
        [-128, -128, -128, -128, -128, 127, -128, 127, -1, -128, -128]
    );
    assert!(to::<Bool>(&x).iter().all(|x| x.get()));
    assert_eq!(to::<Bool>(&[0.0, -0.0, 1e-40]), [false, false, true]);
}

/// `tf.io.decode_raw` returns such tensors.
#[test]
fn nonzero_boolean_bytes_convert_to_1() {
    let x: Vec<Bool> = [0, 1, 2, 128, 255].map(Bool::from_byte).repeat(40);
    let expected = [0, 1, 1, 1, 1].repeat(40);
    on_every_isa(|isa| {
        let (mut integers, mut floats) = (vec![9_i64; x.len()], vec![9_f32; x.len()]);
        cast(&x, &mut integers);
        cast(&x, &mut floats);
        assert_same(isa, &integers, &expected);
        assert!(
            floats.iter().zip(&expected).all(|(x, y)| *x == *y as f32),
            "{isa}"
        );
    });
}
