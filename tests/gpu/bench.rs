//! The speed of the OpenCL device through the test host: `bench large` or `bench small` prints a line of JSON for each measurement.
//!
//! `tests/gpu/pack` builds it as a test of a scaffold over OpenCL. A time is that of one call among many that are enqueued one after
//! the other. `tests/gpu/torch_bench.py` measures the same with PyTorch.

#[allow(dead_code, reason = "each program uses a part of it")]
mod inputs;

use std::time::{Duration, Instant};

use inputs::Random;
use sp_host::{Host, Op, PreparedCall, Tensor};

/// Runs of each measurement, of which the fastest counts.
const RUNS: usize = 5;

/// The least time of the calls of a run.
const ENOUGH: Duration = Duration::from_millis(100);

/// The lengths of tensors.
struct Sizes {
    /// The bytes of copies.
    bytes: i64,
    /// The rows and columns of elementwise ops and reductions.
    rows: i64,
    /// The rows and columns of products.
    product: i64,
    /// The number of images of a convolution.
    images: i64,
}

const LARGE: Sizes = Sizes {
    bytes: 1 << 28,
    rows: 1 << 13,
    product: 1 << 12,
    images: 64,
};

const SMALL: Sizes = Sizes {
    bytes: 1 << 24,
    rows: 1 << 10,
    product: 1 << 8,
    images: 1,
};

fn main() {
    let sizes = match std::env::args().nth(1).as_deref() {
        Some("large") => LARGE,
        Some("small") => SMALL,
        _ => panic!("usage: bench large|small"),
    };
    let plugin = sp_host::plugin_beside_exe(env!("CARGO_PKG_NAME")).expect("the plugin is built");
    let host = Host::open(&inputs::apis(), &plugin).expect("the plugin has a device");
    let bench = Bench::new(&host);
    bench.copies(sizes.bytes);
    bench.kernels(&sizes);
}

struct Bench<'h> {
    host: &'h Host,
    random: Random,
    /// A call on one element: it waits for the earlier ones.
    last: PreparedCall<'h>,
}

impl<'h> Bench<'h> {
    fn new(host: &'h Host) -> Self {
        let last = host.prepare(&Op::new("Neg"), &[Tensor::scalar(1_f32)]);
        Self {
            host,
            random: Random::new(),
            last: last.expect("the plugin has a kernel for Neg"),
        }
    }

    /// Measures copies of memory that is not page-locked, with the device's allocation.
    fn copies(&self, bytes: i64) {
        let value = Tensor::from([bytes / 4], &vec![1_f32; bytes as usize / 4]);
        let variable = self.host.variable();
        let to_device = fastest(|| variable.assign(&value).expect("a copy to the device"));
        report("copy to device", to_device, bytes as f64, 0.0);
        let to_host = fastest(|| drop(variable.value().expect("a copy to the host")));
        report("copy to host", to_host, bytes as f64, 0.0);
    }

    fn kernels(mut self, sizes: &Sizes) {
        let square = [sizes.rows; 2];
        let tensor_bytes = (4 * sizes.rows * sizes.rows) as f64;
        let (x, y) = (self.random.floats(&square), self.random.floats(&square));
        self.kernel(
            "Relu",
            Op::new("Relu"),
            &[x.clone()],
            2.0 * tensor_bytes,
            0.0,
        );
        self.kernel(
            "AddV2",
            Op::new("AddV2"),
            &[x.clone(), y],
            3.0 * tensor_bytes,
            0.0,
        );
        self.kernel(
            "Tanh",
            Op::new("Tanh"),
            &[x.clone()],
            2.0 * tensor_bytes,
            0.0,
        );
        for (name, axes) in [
            ("Sum of rows", vec![1]),
            ("Sum of columns", vec![0]),
            ("Sum", vec![0, 1]),
        ] {
            let axes = Tensor::from([axes.len() as i64], &axes);
            self.kernel(name, Op::new("Sum"), &[x.clone(), axes], tensor_bytes, 0.0);
        }
        self.kernel("Softmax", Op::new("Softmax"), &[x], 2.0 * tensor_bytes, 0.0);
        let n = sizes.product;
        let [a, b] = [0, 1].map(|_| self.random.floats(&[n, n]));
        self.kernel(
            "MatMul",
            Op::new("MatMul"),
            &[a, b],
            0.0,
            2.0 * (n * n * n) as f64,
        );
        let (x, filter) = (
            self.random.floats(&[sizes.images, 56, 56, 64]),
            self.random.floats(&[3, 3, 64, 64]),
        );
        let convolution = Op::new("Conv2D").attr("padding", "SAME");
        let convolution = convolution.attr("strides", vec![1_i64; 4]);
        let operations = 2.0 * (sizes.images * 56 * 56 * 64 * 64 * 9) as f64;
        self.kernel("Conv2D", convolution, &[x, filter], 0.0, operations);
    }

    /// Measures a kernel that reads and writes so many bytes, or computes so many operations.
    fn kernel(&self, name: &str, op: Op, inputs: &[Tensor], bytes: f64, operations: f64) {
        let call = self
            .host
            .prepare(&op, inputs)
            .expect("the plugin has a kernel");
        self.seconds(&call, 1);
        let mut count = 1;
        while count < 1 << 12 && self.seconds(&call, count) < ENOUGH.as_secs_f64() {
            count *= 2;
        }
        // The time of one call more, without that of the wait.
        let [few, many] = [count, 3 * count].map(|count| {
            let runs = (0..RUNS).map(|_| self.seconds(&call, count));
            runs.fold(f64::INFINITY, f64::min)
        });
        report(name, (many - few) / (2 * count) as f64, bytes, operations);
    }

    /// Returns the time of so many calls until all are complete.
    fn seconds(&self, call: &PreparedCall<'_>, count: usize) -> f64 {
        let start = Instant::now();
        for _ in 0..count {
            call.compute().expect("the kernel computes");
        }
        self.last.outputs().expect("the kernel computes");
        start.elapsed().as_secs_f64()
    }
}

/// Returns the shortest time of a few runs, in seconds, after one that does not count.
fn fastest(mut run: impl FnMut()) -> f64 {
    run();
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

fn report(name: &str, seconds: f64, bytes: f64, operations: f64) {
    println!(
        r#"{{"name": "{name}", "seconds": {seconds:e}, "bytes": {bytes}, "operations": {operations}}}"#
    );
}
