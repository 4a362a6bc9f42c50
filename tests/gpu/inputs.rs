//! The release that the test host emulates, and random tensors.

use std::env;
use std::fs;
use std::path::Path;

use sp_host::Tensor;
use sp_ir::Api;

/// The newest final release in which plugins can change variables.
const RELEASE: &str = "2.18";

/// Returns the API of the emulated release. `tests/gpu/pack` copies it to the folder that the variable names.
pub fn apis() -> Vec<Api> {
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("tests/gpu/run sets CARGO_MANIFEST_DIR");
    let folder = fs::read_dir(Path::new(&package).join("vendor/sp-abi/ir"))
        .expect("the folder has the snapshots");
    folder
        .flatten()
        .filter_map(|api| fs::read_to_string(api.path().join(format!("{RELEASE}.json"))).ok())
        .map(|text| Api::from_json(&text).expect("a valid snapshot"))
        .collect()
}

/// A generator of numbers that are the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new() -> Self {
        Self(1)
    }

    /// Returns the next number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        // The constants are those of Knuth's MMIX.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Returns the next number from -2 to 2.
    fn float(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 18) as f32 - 2.0
    }

    /// Returns a tensor with numbers from -2 to 2.
    pub fn floats(&mut self, dims: &[i64]) -> Tensor {
        self.map(dims, |x| x)
    }

    /// Returns a tensor with numbers from 0.1 to 2.1.
    pub fn positive(&mut self, dims: &[i64]) -> Tensor {
        self.map(dims, |x| x.abs() + 0.1)
    }

    /// Returns a tensor with a function of numbers from -2 to 2.
    pub fn map(&mut self, dims: &[i64], function: impl Fn(f32) -> f32) -> Tensor {
        let count = dims.iter().product::<i64>();
        let values: Vec<f32> = (0..count).map(|_| function(self.float())).collect();
        Tensor::from(dims, &values)
    }

    /// Returns a tensor with integers from -1,000 to 1,000.
    pub fn integers(&mut self, dims: &[i64]) -> Tensor {
        let count = dims.iter().product::<i64>();
        let values: Vec<i64> = (0..count).map(|_| self.below(2001) as i64 - 1000).collect();
        Tensor::from(dims, &values)
    }
}
