//! Registration of one part of a plugin (its devices, graph optimizer or profiler): it accepts the host,
//! or declines it in a way that TensorFlow survives. A status error would end the process.

use std::ffi::{CStr, CString};

use sp_runtime::declared::Api;
use sp_runtime::host::{Clue, Host};
use sp_runtime::{PrefixMut, Versioned, report};

use crate::Result;
use crate::platform::About;

/// The structs that a host passes to the entry point of a part.
pub trait Offer: Sized {
    /// The part's name in messages; empty for the devices, whose rejection is that of the whole plugin.
    const PART: &'static str;
    /// The declarations of these structs.
    const API: &'static Api;

    /// What the structs' sizes tell of the release.
    fn clues(&self) -> [Clue; 3];

    /// Fills the structs in.
    ///
    /// # Errors
    /// Returns an error if the host is to be declined.
    fn accept(&mut self, about: &About) -> Result<()>;

    /// Fills in what TensorFlow requires of a part that does nothing, as far as the layouts are known.
    fn decline(&mut self, about: &About);
}

/// Accepts the host, or declines it and reports the reason.
///
/// `offer` gives views of the structs. It is called again once the layouts are decided.
///
/// # Errors
/// Returns an error if the host passes no structs.
pub fn register<O: Offer>(about: &About, offer: impl Fn() -> Result<O>) -> Result<()> {
    let host = Host::enter(&about.terms(), &sp_abi::KNOWLEDGE, || clues(&offer));
    let is_served = host.serve().is_ok();
    let layouts = host.serve().and_then(|()| host.read_layouts(O::API));
    let mut offer = offer()?;
    let known = layouts.and_then(|()| offer.clues().into_iter().try_for_each(|it| it.map(drop)));
    let Err(reason) = known.and_then(|()| offer.accept(about)) else {
        return Ok(());
    };
    match O::PART {
        "" if is_served => host.decline(reason),
        "" => host.report_declined(),
        // The devices have reported it.
        _ if !is_served => {}
        part => report!(
            Warn,
            "declined {} for its {part}: {}",
            host.name(),
            reason.message()
        ),
    }
    if !host.is_too_old() {
        offer.decline(about);
    }
    Ok(())
}

/// Returns the clues of the structs, or the reason for which there are none.
fn clues<O: Offer>(offer: &impl Fn() -> Result<O>) -> Vec<Clue> {
    match offer() {
        Ok(offer) => offer.clues().into(),
        Err(reason) => vec![Err(reason)],
    }
}

/// Makes every slot of a table a stub, whatever its layout. TensorFlow rejects a table with a null slot
/// also from a part that it never calls.
///
/// # Safety
/// `T` is a table of functions behind `struct_size` and `ext`, and the host calls none of its slots
/// before they are replaced: it has no device, graph or session of this plugin.
pub unsafe fn fill_with_stubs<T: Versioned>(table: &mut PrefixMut<'_, T>) {
    const FIRST_SLOT: usize = 2 * size_of::<usize>();
    // SAFETY: the caller vouches for the table; two words are a multiple of a pointer's size.
    unsafe { table.occupy(FIRST_SLOT, nothing) }
}

/// Stub for a slot that TensorFlow requires and does not call.
unsafe extern "C" fn nothing() -> usize {
    0
}

/// Returns a name for what is registered and never used: `NAME_DECLINED`.
pub fn declined_name(name: &CStr) -> CString {
    let name = [name.to_bytes(), b"_DECLINED"].concat();
    // A C string with a suffix holds no NUL.
    CString::new(name).unwrap_or_default()
}
