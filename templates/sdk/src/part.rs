//! Registration of one part of a plugin: its devices, its graph optimizer or its profiler.
//!
//! A part accepts the host, or declines it such that TensorFlow continues without the part. A status error
//! would end the process.

use sp_runtime::declarations::KnownApi;
use sp_runtime::host::{Host, SizeEvidence};
use sp_runtime::{Field, PrefixMut, RawStatus, Versioned, guard, writer};

use crate::plugin_info::PluginInfo;
use crate::registered;
use crate::{Error, Result};

/// A field of `S` that points to a struct of the host, and its name.
pub type StructField<S, T> = (Field<S, *mut T, writer::TensorFlow>, &'static str);

/// A part, whose entry point gets three structs of the host: parameters, and two to which these point.
///
/// # Safety
/// - TensorFlow passes `Params` to the entry point. It and the structs that it points to have their `struct_size` set, and
///   TensorFlow accesses none of them during the call.
pub unsafe trait Part: Sized {
    /// The part's name in messages; empty for the devices, whose rejection is that of the whole plugin.
    const NAME: &'static str;
    /// The name of the entry point.
    const ENTRY_POINT: &'static str;
    /// The declarations of the structs.
    const API: &'static KnownApi;
    /// The parameters.
    type Params: Versioned;
    /// A struct to which the parameters point.
    type First: Versioned;
    /// The other one.
    type Second: Versioned;
    /// The field that points to the first struct.
    const FIRST: StructField<Self::Params, Self::First>;
    /// The field that points to the second struct.
    const SECOND: StructField<Self::Params, Self::Second>;

    /// Fills in the structs.
    ///
    /// # Errors
    /// Returns an error with the reason if the plugin has to decline the host.
    fn accept(structs: &mut PartStructs<'_, Self>, info: &PluginInfo) -> Result<()>;

    /// Fills in the fields that TensorFlow requires of a part without function, as far as the layouts are
    /// known.
    fn decline(structs: &mut PartStructs<'_, Self>, info: &PluginInfo);
}

/// Views of the structs that a host passes to the entry point of a part.
pub struct PartStructs<'a, P: Part> {
    pub params: PrefixMut<'a, P::Params>,
    pub first: PrefixMut<'a, P::First>,
    pub second: PrefixMut<'a, P::Second>,
}

impl<P: Part> PartStructs<'_, P> {
    /// # Safety
    /// - `params` is the argument that TensorFlow passed to the entry point.
    /// - The value does not outlive the call of the entry point, and no other views of the structs are used meanwhile.
    unsafe fn new(params: *mut P::Params) -> Result<Self> {
        // SAFETY: `Part` states that TensorFlow has set up the struct; the caller guarantees the rest.
        let mut params = unsafe { PrefixMut::new(params) };
        // SAFETY: as above.
        let (first, second) = unsafe {
            (
                lent_struct(&mut params, P::FIRST)?,
                lent_struct(&mut params, P::SECOND)?,
            )
        };
        Ok(Self {
            params,
            first,
            second,
        })
    }

    /// Returns the releases that the sizes of the structs allow.
    fn size_evidence(&self) -> [SizeEvidence; 3] {
        [
            self.params.releases(),
            self.first.releases(),
            self.second.releases(),
        ]
    }
}

/// Returns the struct to which a field of TensorFlow's parameters points.
///
/// # Safety
/// - TensorFlow sets up the struct to which the field points, and lends it during `'a`.
pub unsafe fn lent_struct<'a, S: Versioned, T: Versioned>(
    params: &mut PrefixMut<'_, S>,
    (field, name): StructField<S, T>,
) -> Result<PrefixMut<'a, T>> {
    let pointer = params.fixed_fields().get(field);
    let pointer = pointer.filter(|pointer| !pointer.is_null());
    let none = || Error::internal(format!("TensorFlow passed no {name}"));
    // SAFETY: the caller has the same obligations.
    pointer
        .map(|it| unsafe { PrefixMut::new(it) })
        .ok_or_else(none)
}

/// Registers a part: the body of its entry point.
///
/// # Safety
/// - `params` and `status` are the arguments that TensorFlow passed to the entry point of the part.
pub unsafe fn register_part<P: Part>(
    info: PluginInfo,
    params: *mut P::Params,
    status: *mut RawStatus,
) {
    // SAFETY: the caller guarantees that `params` is TensorFlow's argument. Each view is dropped before the next one is made.
    let structs = || unsafe { PartStructs::<P>::new(params) };
    // SAFETY: the caller guarantees that `status` is TensorFlow's argument, a live status object.
    unsafe { guard::run_with_status(P::ENTRY_POINT, status, || register(&info, structs)) }
}

/// Accepts the host, or declines it and reports the reason.
///
/// `structs` returns views of the host's structs. It is called again after the decision about their layouts.
///
/// # Errors
/// Returns an error if the host passes no structs.
fn register<'a, P: Part + 'a>(
    info: &PluginInfo,
    structs: impl Fn() -> Result<PartStructs<'a, P>>,
) -> Result<()> {
    let known = &sp_abi::KNOWN_RELEASES;
    // SAFETY: sp-abi has the facts of TensorFlow's headers, and `structs` returns views of the structs that the host passed.
    let host =
        unsafe { Host::get_or_decide(&info.requirements(), known, || size_evidence(&structs)) };
    let is_accepted = host.check_accepted().is_ok();
    let layouts = host
        .check_accepted()
        .and_then(|()| host.read_layouts(P::API));
    let mut structs = structs()?;
    if !registered::is_first_call(P::NAME) {
        if P::NAME.is_empty() {
            registered::report_loaded_again();
        }
        P::decline(&mut structs, info);
        return Ok(());
    }
    let known = layouts.and_then(|()| check_sizes(&structs));
    let Err(reason) = known.and_then(|()| P::accept(&mut structs, info)) else {
        return Ok(());
    };
    match P::NAME {
        "" if is_accepted => host.decline(reason),
        "" => host.report_declined(),
        // The registration of the devices has reported the reason.
        _ if !is_accepted => {}
        part => host.report_declined_part(part, &reason),
    }
    if !host.is_too_old() {
        P::decline(&mut structs, info);
    }
    Ok(())
}

/// Checks that the layout of every struct is known.
fn check_sizes<P: Part>(structs: &PartStructs<'_, P>) -> Result<()> {
    let mut evidence = structs.size_evidence().into_iter();
    evidence.try_for_each(|releases| releases.map(drop))
}

/// Returns the evidence of the structs, or the error for which there are no structs.
fn size_evidence<'a, P: Part + 'a>(
    structs: &impl Fn() -> Result<PartStructs<'a, P>>,
) -> Vec<SizeEvidence> {
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
