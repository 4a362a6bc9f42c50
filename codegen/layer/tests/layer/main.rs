//! The layer between hosts and plugins in C: what it shows, the defects that it finds, and that it finds none elsewhere.
//!
//! `SP_TENSORFLOW_2_21=PYTHON` runs the plugins in TensorFlow too.

#[path = "../../../host/tests/c/mod.rs"]
mod c;
mod captured;
mod defects;
mod hosts;
mod process;
mod releases;
#[path = "../../../../tests/src/rows.rs"]
mod rows;
mod shown;
#[allow(dead_code, reason = "the test of sp-host uses the rest")]
#[path = "../../../host/tests/tensorflow/uses.rs"]
mod uses;

/// The releases in which plugins run.
const RELEASES: [&str; 2] = ["2.12", "2.21"];

fn main() {
    if let Some(release) = uses::release() {
        uses::run_steps(&c::apis_of(&release));
    }
    if c::Compiler::find(&c::apis()).is_none() {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("skipped: the layer was tried on x86-64 Linux only");
        return;
    }
    releases::libraries_of_all_releases_compile();
    for release in RELEASES {
        shown::trace_shows_calls_of_both_sides(release);
        shown::a_crash_shows_the_call_that_has_not_returned(release);
        shown::another_plugin_is_not_shown(release);
        shown::library_that_a_plugin_loads_is_shown(release);
        captured::capture_has_inputs_and_outputs_by_value(release);
        captured::asynchronous_kernel_is_omitted_with_its_reason(release);
        captured::capture_ends_at_its_limit_and_states_it(release);
        hosts::defects_of_hosts_are_found(release);
        defects::plugins_without_defect_give_no_finding(release);
        defects::planted_defects_are_found(release);
    }
}
