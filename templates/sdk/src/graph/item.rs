//! The input of an optimizer: a graph, and TensorFlow's facts about it.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::ptr;

use sp_abi::grappler::{
    TF_GetFetchNodesList, TF_GetFetchNodesListSize, TF_GetGrapplerItem, TF_GetNodesToPreserveList,
    TF_GetNodesToPreserveListSize, TF_GrapplerItem,
};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Function, Status};

use super::{Functions, Graph, Inference, Properties, buffer};
use crate::c_string;
use crate::{Error, Result, limit};

type Size =
    unsafe extern "C-unwind" fn(*const TF_GrapplerItem, *mut i32, *mut usize, *mut TF_Status);
type List = unsafe extern "C-unwind" fn(
    *const TF_GrapplerItem,
    *mut *mut c_char,
    *mut usize,
    i32,
    *mut c_void,
    usize,
    *mut TF_Status,
);

/// A graph of TensorFlow, borrowed for one call of an optimizer.
pub struct Item<'a> {
    graph: *const TF_Buffer,
    /// The item that TensorFlow passed, or null in 2.5.
    item: *const TF_GrapplerItem,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Item<'a> {
    /// Creates the input from the arguments of `optimize_func`. 2.5 passes no item.
    ///
    /// # Safety
    /// - `graph` is null or a live buffer, and `item` is null or a live item.
    /// - No other code changes them during `'a`.
    pub(crate) unsafe fn new(
        graph: *const TF_Buffer,
        item: *const TF_GrapplerItem,
    ) -> Result<Self> {
        if graph.is_null() {
            return Err(Error::internal("TensorFlow passed no graph"));
        }
        // SAFETY: `graph` is not null, so the caller guarantees that it is live.
        unsafe { buffer::check(graph)? };
        Ok(Self {
            graph,
            item,
            lifetime: PhantomData,
        })
    }

    /// Returns the graph, a serialized `GraphDef`. It contains only the signatures of the functions that it
    /// calls: TensorFlow passes each function's body as a graph of its own.
    pub fn bytes(&self) -> &'a [u8] {
        // SAFETY: the caller of `new` guarantees that the buffer is live and unchanged during `'a`, and `new`
        // has checked its length.
        unsafe { buffer::bytes(self.graph) }
    }

    /// Parses the graph.
    ///
    /// # Errors
    /// Returns an error if TensorFlow passed a malformed graph.
    pub fn graph(&self) -> Result<Graph> {
        Graph::parse(self.bytes())
    }

    /// Returns the names of the nodes that must stay in the graph with their names.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow cannot list them.
    pub fn preserved_nodes(&self) -> Result<BTreeSet<String>> {
        let (size, list) = (&TF_GetNodesToPreserveListSize, &TF_GetNodesToPreserveList);
        Ok(self.names(size, list)?.into_iter().collect())
    }

    /// Returns the fetched outputs: names of nodes, or of their outputs (`node:1`).
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow cannot list them.
    pub fn fetched_outputs(&self) -> Result<Vec<String>> {
        self.names(&TF_GetFetchNodesListSize, &TF_GetFetchNodesList)
    }

    /// Returns the ops and functions that the graph can use.
    ///
    /// # Errors
    /// Returns an error if TensorFlow cannot parse the graph.
    pub fn functions(&self) -> Result<Functions> {
        // SAFETY: the caller of `new` guarantees that the buffer is live and unchanged.
        unsafe { Functions::new(self.graph) }
    }

    /// Returns the shapes and types of the graph's tensors, as far as TensorFlow can infer them.
    ///
    /// # Errors
    /// Returns an error if the inference fails.
    pub fn infer(&self, inference: Inference) -> Result<Properties<'a>> {
        // SAFETY: the item is live during `'a`: TensorFlow passed it, or it belongs to the graph's buffer.
        unsafe { Properties::infer(self.item()?, inference) }
    }

    /// Returns the item that TensorFlow passed, or in 2.5 the one that belongs to the buffer.
    fn item(&self) -> Result<*const TF_GrapplerItem> {
        if !self.item.is_null() {
            return Ok(self.item);
        }
        let (get, status) = (TF_GetGrapplerItem.get()?, Status::new()?);
        // SAFETY: the buffer is the one that TensorFlow passed. The function uses its address as a key only.
        let item = unsafe { get(self.graph.cast_mut(), status.as_ptr()) };
        status.check()?;
        match item.is_null() {
            true => Err(Error::internal("TensorFlow has no item for its graph")),
            false => Ok(item),
        }
    }

    /// Requests the size of a list of names, then the list.
    fn names(&self, size: &Function<Size>, list: &Function<List>) -> Result<Vec<String>> {
        let (item, status) = (self.item()?, Status::new()?);
        let (mut count, mut bytes) = (0, 0);
        // SAFETY: the item is live, and the output parameters are locals.
        unsafe { size.get()?(item, &mut count, &mut bytes, status.as_ptr()) };
        status.check()?;
        let len = limit::check_count("a list of nodes", count)?;
        let bytes = limit::check_count("the bytes of names", bytes)?;
        let (mut starts, mut lengths) = (vec![ptr::null_mut(); len], vec![0; len]);
        let mut storage = vec![0_u8; bytes];
        let (start, status_ptr) = (storage.as_mut_ptr().cast(), status.as_ptr());
        let (values, lens) = (starts.as_mut_ptr(), lengths.as_mut_ptr());
        // SAFETY: the item is live. `values` and `lens` have `count` elements, and `start` has `bytes` bytes.
        unsafe { list.get()?(item, values, lens, count, start, bytes, status_ptr) };
        status.check()?;
        let invalid = |_| Error::internal("TensorFlow passed a node name that is not UTF-8");
        let names = c_string::texts_in(&storage, &starts, &lengths);
        names
            .map(|bytes| String::from_utf8(bytes.to_vec()).map_err(invalid))
            .collect()
    }
}
