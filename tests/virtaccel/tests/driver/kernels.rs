//! Kernels, compared with loops.

use crate::bindings::*;
use crate::open_device::*;

/// Runs a kernel with one output of `len` elements, which comes after the inputs.
fn run(kernel: &str, inputs: &[(&[f32], &[u64])], shape: &[u64], rest: &[va_argument]) -> Vec<f32> {
    let device = OpenDevice::new(0);
    let uploaded = inputs.iter();
    let uploaded = uploaded.map(|(values, shape)| f32s(device.upload(values), shape));
    let out = device.allocate(4 * shape.iter().product::<u64>());
    let arguments = uploaded.chain([f32s(out, shape)]);
    let arguments: Vec<_> = arguments.chain(rest.iter().copied()).collect();
    device.launch(kernel, &arguments).unwrap();
    device.read(out).unwrap()
}

#[test]
fn every_listed_kernel_has_a_name() {
    let mut names = Vec::new();
    let mut name = std::ptr::null();
    // SAFETY: the pointer is that of a local variable, and the driver writes a C string.
    unsafe {
        while DRIVER.va_kernel_name(names.len() as u32, &mut name).is_ok() {
            names.push(std::ffi::CStr::from_ptr(name).to_str().unwrap());
        }
    }
    assert!(names.len() > 20 && names.contains(&"adam"), "{names:?}");
}

#[test]
fn elementwise_kernels_broadcast() {
    let x: &[f32] = &[1.0, -2.0, 3.0, 4.0];
    let added = run("add", &[(x, &[2, 2]), (&[10.0, 20.0], &[2])], &[2, 2], &[]);
    assert_eq!(added, [11.0, 18.0, 13.0, 24.0]);
    assert_eq!(run("relu", &[(x, &[4])], &[4], &[]), [1.0, 0.0, 3.0, 4.0]);
    let divided = run("div_no_nan", &[(x, &[4]), (&[0.0], &[1])], &[4], &[]);
    assert_eq!(divided, [0.0; 4]);
    let gradient = run("relu_grad", &[(&[5.0; 4], &[4]), (x, &[4])], &[4], &[]);
    assert_eq!(gradient, [5.0, 0.0, 5.0, 5.0]);
}

#[test]
fn matmul_transposes_as_asked() {
    let a: &[f32] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let flags = [integer(0), integer(1)];
    let product = run("matmul", &[(a, &[2, 3]), (a, &[2, 3])], &[2, 2], &flags);
    assert_eq!(product, [14.0, 32.0, 32.0, 77.0]);
}

#[test]
fn reductions_take_a_mask_of_axes() {
    let x: &[f32] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(
        run("sum", &[(x, &[2, 3])], &[3], &[integer(0b01)]),
        [5.0, 7.0, 9.0]
    );
    assert_eq!(
        run("mean", &[(x, &[2, 3])], &[2], &[integer(0b10)]),
        [2.0, 5.0]
    );
    assert_eq!(
        run("bias_add_grad", &[(x, &[2, 3])], &[3], &[]),
        [5.0, 7.0, 9.0]
    );
    let biased = run(
        "bias_add",
        &[(x, &[2, 3]), (&[1.0, 0.0, -1.0], &[3])],
        &[2, 3],
        &[],
    );
    assert_eq!(biased, [2.0, 2.0, 2.0, 5.0, 5.0, 5.0]);
}

#[test]
fn adam_follows_its_definition() {
    let device = OpenDevice::new(0);
    let [x, m, v] = [&[1.0f32, 2.0], &[0.0; 2], &[0.0; 2]].map(|values| device.upload(values));
    let gradient = device.upload(&[0.5f32, -4.0]);
    let (mut expected, mut first, mut second) = ([1.0f64, 2.0], [0.0; 2], [0.0; 2]);
    for step in 1..=3 {
        let tensors = [x, m, v, gradient].map(|array| f32s(array, &[2]));
        let numbers = [0.1, 0.9, 0.999, 1e-7].map(real);
        let arguments = [&tensors[..], &numbers, &[integer(step)]].concat();
        device.launch("adam", &arguments).unwrap();
        for (index, g) in [0.5f64, -4.0].into_iter().enumerate() {
            first[index] = 0.9 * first[index] + 0.1 * g;
            second[index] = 0.999 * second[index] + 0.001 * g * g;
            let m_hat = first[index] / (1.0 - 0.9f64.powi(step as i32));
            let v_hat: f64 = second[index] / (1.0 - 0.999f64.powi(step as i32));
            expected[index] -= 0.1 * m_hat / (v_hat.sqrt() + 1e-7);
        }
    }
    let updated = device.read::<f32>(x).unwrap();
    for (updated, expected) in updated.iter().zip(expected) {
        assert!(
            (f64::from(*updated) - expected).abs() < 1e-4,
            "{updated} {expected}"
        );
    }
}

#[test]
fn momentum_and_sgd_update_in_place() {
    let device = OpenDevice::new(0);
    let [x, velocity, gradient] = [1.0f32, 2.0, 4.0].map(|value| device.upload(&[value]));
    let [x_, velocity_, gradient_] = [x, velocity, gradient].map(|array| f32s(array, &[1]));
    let arguments = [x_, velocity_, gradient_, real(0.5), real(0.25)];
    device.launch("momentum", &arguments).unwrap();
    assert_eq!(device.read::<f32>(velocity).unwrap(), [-1.5]);
    assert_eq!(device.read::<f32>(x).unwrap(), [-0.5]);
    device.launch("sgd", &[x_, gradient_, real(0.5)]).unwrap();
    assert_eq!(device.read::<f32>(x).unwrap(), [-2.5]);
}

#[test]
fn cast_converts_between_types() {
    let device = OpenDevice::new(0);
    let (x, out) = (device.upload(&[1.9f32, -2.9]), device.allocate(16));
    device
        .launch("cast", &[f32s(x, &[2]), tensor(out, va_type::VA_I64, &[2])])
        .unwrap();
    assert_eq!(device.read::<i64>(out).unwrap(), [1, -2]);
}

#[test]
fn output_that_partly_overlaps_its_input_is_as_if_the_input_was_copied() {
    let device = OpenDevice::new(0);
    let array = device.upload(&[1.0f32, 2.0, 3.0]);
    let second = Array {
        address: array.address.wrapping_byte_add(4),
        size: 8,
    };
    device
        .launch("neg", &[f32s(array, &[2]), f32s(second, &[2])])
        .unwrap();
    assert_eq!(device.read::<f32>(array).unwrap(), [1.0, -1.0, -2.0]);
}

#[test]
fn overlapping_outputs_are_rejected() {
    let device = OpenDevice::new(0);
    let array = device.allocate(4);
    let x = f32s(array, &[1]);
    let launched = device.launch("momentum", &[x, x, x, real(0.1), real(0.1)]);
    assert_eq!(status(launched), va_status::VA_ERROR_INVALID_VALUE);
}
