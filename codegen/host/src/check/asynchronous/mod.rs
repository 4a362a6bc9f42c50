//! Checks of work that is enqueued without waiting for it, as TensorFlow does: the host runs ahead of several streams, and
//! uses memory again as soon as their order permits.
//!
//! Most checks hold a stream with a callback ([`hold`]) and look for work that does not wait.

mod callback;
mod dependency;
mod error;
mod hold;
mod interleaving;
mod kernels;
mod order;
mod queued_work;
mod reuse;
mod schedule;
mod second_device;
mod wait;

pub(super) use dependency::dependencies;
pub(super) use error::stream_errors;
pub(super) use interleaving::interleaved_streams;
pub(super) use kernels::{find_op, kernels};
pub(super) use order::{callbacks, order};
pub(super) use reuse::{device_memory, host_memory};
pub(super) use second_device::two_devices;
pub(super) use wait::{events, waits};
