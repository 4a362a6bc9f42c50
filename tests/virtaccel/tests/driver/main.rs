//! The driver's C functions, through bindings that `sp-gen new --driver` writes for its header.
//!
//! `generated/bindings.rs` is a golden file of sp-driver: `SP_BLESS=1 cargo test -p sp-driver --test virtaccel` writes it.

#[rustfmt::skip]
#[path = "../../generated/bindings.rs"]
mod bindings;
mod fault;
mod fence;
mod kernels;
mod memory;
mod open_device;
mod queue;
mod safe;
mod threads;
