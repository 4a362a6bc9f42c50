//! The host knows only the address of a tensor on a device.

use sp_plugin::Device;
use sp_plugin::kernel::In;

struct Myaccel;

fn of_one_device(features: In<'_, f32, Myaccel>) -> f32 {
    features.data()[0]
}

fn of_any_device<D: Device>(features: In<'_, f32, D>) -> f32 {
    features.data()[0]
}

fn main() {}
