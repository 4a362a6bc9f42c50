//! The runtime of the layer. It is compiled here for its tests, and again by the generated library, of which it is a part:
//! so it has no dependencies, and names its modules below `runtime` only.

pub mod call;
pub mod callback;
pub mod capture;
pub mod check;
mod core;
pub mod description;
mod elf;
mod exchange;
pub mod filter;
mod guard;
mod host;
pub mod interpose;
mod log;
pub mod record;
mod report;
pub mod settings;
mod shared;
mod signals;
mod system;
pub mod tables;
mod value;

use tables::Tables;

/// The tail of the layer's `dlsym`: the dynamic loader's own function.
pub fn real_dlsym() -> usize {
    host::real_dlsym()
}

/// Prepares the layer, when the library is loaded. Without settings it does nothing.
pub fn start(tables: &'static Tables) {
    let settings = settings::settings();
    if !settings.is_active() {
        return;
    }
    tables::set_tables(tables);
    tables.apply(settings);
    system::register(at_exit, in_child);
}

extern "C" fn at_exit() {
    if !system::is_child() {
        check::at_exit();
        if settings::settings().capture.is_some() {
            capture::at_exit();
        }
    }
    log::flush_all(false);
}

extern "C" fn in_child() {
    system::set_child();
    log::reset_in_child();
}
