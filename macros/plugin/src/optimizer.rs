//! A graph optimizer: what an author writes, and how TensorFlow learns of it.
//!
//! TensorFlow runs its own passes over a graph first, then those of the plugins whose devices the
//! graph has nodes on. An error of a plugin's costs nothing but a line in TensorFlow's log: the
//! graph goes on as it was.

mod declined;
mod pass;

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, PoisonError};

pub use sp_abi::grappler::TP_OptimizerRegistrationParams as RegistrationParams;
use sp_abi::grappler::{
    DECLARED, TF_GrapplerItem, TP_Optimizer, TP_Optimizer__optimize_func, TP_OptimizerConfigs,
};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_status::TF_Status;
use sp_runtime::declared::Api;
use sp_runtime::host::Clue;
use sp_runtime::{PrefixMut, RawStatus, guard, handle};

pub use self::pass::{Pass, Switch};
use crate::graph::{self, Item};
use crate::part::{self, Offer};
use crate::platform::{About, present};
use crate::{Error, Result};

/// A graph optimizer. TensorFlow makes one for each graph, runs it on that graph, twice as a rule,
/// with its own passes between, and drops it. Graphs of fewer than four nodes it leaves alone.
pub trait Optimizer: Default + Send + 'static {
    /// Which of TensorFlow's own passes to switch, for graphs that have nodes on the device.
    const PASSES: &'static [(Pass, Switch)] = &[];

    /// The graph that is to run instead, a serialized `GraphDef`; nothing where it is good as it is.
    /// It computes the same, and has the nodes that [`Item::preserved`] names.
    ///
    /// # Errors
    /// TensorFlow logs the error and leaves the graph as it is.
    fn optimize(&mut self, item: &Item<'_>) -> Result<Option<Vec<u8>>>;
}

/// Registers `O` for the graphs of the plugin's devices: the body of `TF_InitGraph`.
///
/// # Safety
/// `params` and `status` are what TensorFlow passed to `TF_InitGraph`.
pub unsafe fn register<O: Optimizer>(
    about: About,
    params: *mut RegistrationParams,
    status: *mut RawStatus,
) {
    // SAFETY: TensorFlow sets struct_size before the call and lends the structs for it.
    let offer = || unsafe { Handed::<O>::of(params) };
    // SAFETY: the status is TensorFlow's own.
    unsafe { guard::status("TF_InitGraph", status, || part::register(&about, offer)) }
}

/// What TensorFlow hands to `TF_InitGraph`: three structs of its own to fill in.
struct Handed<'a, O> {
    params: PrefixMut<'a, RegistrationParams>,
    configs: PrefixMut<'a, TP_OptimizerConfigs>,
    table: PrefixMut<'a, TP_Optimizer>,
    of: PhantomData<O>,
}

impl<O> Handed<'_, O> {
    /// # Safety
    /// `params` is what TensorFlow passed, lent for the value's life.
    unsafe fn of(params: *mut RegistrationParams) -> Result<Self> {
        // SAFETY: the caller vouches for it.
        let mut params = unsafe { PrefixMut::new(params) };
        let fixed = params.fixed();
        let configs = fixed.get(RegistrationParams::optimizer_configs);
        let configs = present(configs, "optimizer_configs")?;
        let table = present(fixed.get(RegistrationParams::optimizer), "optimizer")?;
        // SAFETY: TensorFlow lends both for the call, with their struct_size set.
        let (configs, table) = unsafe { (PrefixMut::new(configs), PrefixMut::new(table)) };
        Ok(Self {
            params,
            configs,
            table,
            of: PhantomData,
        })
    }
}

impl<O: Optimizer> Offer for Handed<'_, O> {
    const PART: &'static str = "graph optimizer";
    const API: &'static Api = &DECLARED;

    fn clues(&self) -> [Clue; 3] {
        [
            self.params.releases(),
            self.configs.releases(),
            self.table.releases(),
        ]
    }

    fn accept(&mut self, about: &About) -> Result<()> {
        TP_Optimizer::set_optimize_func::<Slots<O>>(&mut self.table)?;
        self.table.announce();
        self.table.set(TP_Optimizer::create_func, Some(create::<O>));
        self.table
            .set(TP_Optimizer::destroy_func, Some(destroy::<O>));
        self.params.announce();
        let name = about.device_type.as_ptr();
        self.params.set(RegistrationParams::device_type, name);
        self.configs.announce();
        for (pass, switch) in O::PASSES {
            pass.set(*switch, &mut self.configs);
        }
        Ok(())
    }

    /// An optimizer for a device type that no graph can have, so that it is never asked.
    fn decline(&mut self, about: &About) {
        let name = declined::device_type(about.device_type).as_ptr();
        let mut params = self.params.fixed();
        params.set(RegistrationParams::device_type, name);
        // SAFETY: a table of functions; no graph has a device of the type that is registered.
        unsafe { part::fill_with_stubs(&mut self.table) };
        declined::fill(&mut self.table.fixed());
    }
}

unsafe extern "C" fn create<O: Optimizer>() -> *mut c_void {
    guard::value("TP_Optimizer.create_func", ptr::null_mut(), || {
        handle::give(Mutex::new(O::default()))
    })
}

unsafe extern "C" fn destroy<O: Optimizer>(optimizer: *mut c_void) {
    guard::value("TP_Optimizer.destroy_func", (), || {
        if !optimizer.is_null() {
            // SAFETY: `create` gave it, and TensorFlow gives it back once.
            drop(unsafe { handle::take::<Mutex<O>>(optimizer) });
        }
    });
}

/// The slot of `O` whose signature depends on the release.
struct Slots<O>(PhantomData<fn() -> O>);

impl<O: Optimizer> TP_Optimizer__optimize_func for Slots<O> {
    unsafe extern "C" fn call(
        optimizer: *mut c_void,
        graph: *const TF_Buffer,
        item: *const TF_GrapplerItem,
        optimized: *mut TF_Buffer,
        status: *mut TF_Status,
    ) {
        let body = || {
            if optimizer.is_null() {
                return Err(Error::internal("the optimizer could not be made"));
            }
            // SAFETY: `create` gave it, and TensorFlow gives it back after its calls.
            let optimizer = unsafe { handle::borrow::<Mutex<O>>(optimizer) };
            let mut optimizer = optimizer.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: TensorFlow lends both for the call.
            let item = unsafe { Item::new(graph, item)? };
            let better = optimizer.optimize(&item)?;
            // SAFETY: TensorFlow lends an empty buffer for the call.
            unsafe { graph::fill(optimized, better.unwrap_or_else(|| item.bytes().to_vec())) }
        };
        // SAFETY: the status is TensorFlow's own.
        unsafe { guard::status("TP_Optimizer.optimize_func", status, body) }
    }
}
