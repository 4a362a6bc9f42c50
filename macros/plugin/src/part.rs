//! Registration of one part of a plugin: its devices, its graph optimizer or its profiler.
//!
//! A part accepts the host, or declines it such that TensorFlow continues without the part. A status error
//! would end the process.

use sp_runtime::declarations::KnownApi;
use sp_runtime::host::{Host, SizeEvidence};
use sp_runtime::{PrefixMut, Versioned};

use crate::Result;
use crate::plugin_info::PluginInfo;
use crate::registered;

/// The structs that a host passes to the entry point of a part.
pub trait PartStructs: Sized {
    /// The part's name in messages; empty for the devices, whose rejection is that of the whole plugin.
    const PART: &'static str;
    /// The declarations of these structs.
    const API: &'static KnownApi;

    /// Returns the releases that the sizes of the structs allow.
    fn size_evidence(&self) -> [SizeEvidence; 3];

    /// Fills in the structs.
    ///
    /// # Errors
    /// Returns an error with the reason if the plugin has to decline the host.
    fn accept(&mut self, info: &PluginInfo) -> Result<()>;

    /// Fills in the fields that TensorFlow requires of a part without function, as far as the layouts are
    /// known.
    fn decline(&mut self, info: &PluginInfo);
}

/// Accepts the host, or declines it and reports the reason.
///
/// `structs` returns views of the host's structs. It is called again after the decision about their layouts.
///
/// # Errors
/// Returns an error if the host passes no structs.
pub fn register<S: PartStructs>(info: &PluginInfo, structs: impl Fn() -> Result<S>) -> Result<()> {
    let known = &sp_abi::KNOWN_RELEASES;
    // SAFETY: sp-abi has the facts of TensorFlow's headers, and `structs` returns views of the structs that the host passed.
    let host =
        unsafe { Host::get_or_decide(&info.requirements(), known, || size_evidence(&structs)) };
    let is_accepted = host.check_accepted().is_ok();
    let layouts = host
        .check_accepted()
        .and_then(|()| host.read_layouts(S::API));
    let mut structs = structs()?;
    if !registered::is_first_call(S::PART) {
        if S::PART.is_empty() {
            registered::report_loaded_again();
        }
        structs.decline(info);
        return Ok(());
    }
    let known = layouts.and_then(|()| check_sizes(&structs));
    let Err(reason) = known.and_then(|()| structs.accept(info)) else {
        return Ok(());
    };
    match S::PART {
        "" if is_accepted => host.decline(reason),
        "" => host.report_declined(),
        // The registration of the devices has reported the reason.
        _ if !is_accepted => {}
        part => host.report_declined_part(part, &reason),
    }
    if !host.is_too_old() {
        structs.decline(info);
    }
    Ok(())
}

/// Checks that the layout of every struct is known.
fn check_sizes<S: PartStructs>(structs: &S) -> Result<()> {
    let mut evidence = structs.size_evidence().into_iter();
    evidence.try_for_each(|releases| releases.map(drop))
}

/// Returns the evidence of the structs, or the error for which there are no structs.
fn size_evidence<S: PartStructs>(structs: &impl Fn() -> Result<S>) -> Vec<SizeEvidence> {
    match structs() {
        Ok(structs) => structs.size_evidence().into(),
        Err(reason) => vec![Err(reason)],
    }
}

/// Stores a stub in every slot of a table, independent of its layout. TensorFlow also rejects a table with a
/// null slot if it never calls the part.
///
/// # Safety
/// - `T` is a table that consists of functions after `struct_size` and `ext`.
/// - The host calls none of its slots before they are replaced: it has no device, graph or session of this
///   plugin.
pub unsafe fn fill_with_stubs<T: Versioned>(table: &mut PrefixMut<'_, T>) {
    const FIRST_SLOT: usize = 2 * size_of::<usize>();
    // SAFETY: the caller guarantees that functions follow the first two fields, whose size is a multiple of a
    // pointer's, and that the host does not call the stub.
    unsafe { table.fill_slots(FIRST_SLOT, stub) }
}

/// Stub for a slot that TensorFlow requires and does not call.
unsafe extern "C" fn stub() -> usize {
    0
}
