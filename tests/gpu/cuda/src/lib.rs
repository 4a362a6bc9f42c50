//! Bindings of the CUDA driver, which `sp-gen new --driver` writes with the contract `cuda.toml`.

#[rustfmt::skip] // generated
pub mod driver;
