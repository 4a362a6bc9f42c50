//! What TensorFlow hands to an optimizer: a graph and what it knows of it.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::{ptr, slice};

use sp_abi::grappler::{
    TF_GetFetchNodesList, TF_GetFetchNodesListSize, TF_GetGrapplerItem, TF_GetNodesToPreserveList,
    TF_GetNodesToPreserveListSize, TF_GrapplerItem,
};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Function, Status};

use super::{Functions, Graph, Inference, Properties, buffer};
use crate::{Error, Result, limit};

type Size = unsafe extern "C" fn(*const TF_GrapplerItem, *mut i32, *mut usize, *mut TF_Status);
type List = unsafe extern "C" fn(
    *const TF_GrapplerItem,
    *mut *mut c_char,
    *mut usize,
    i32,
    *mut c_void,
    usize,
    *mut TF_Status,
);

/// A graph of TensorFlow's, for one call of an optimizer.
pub struct Item<'a> {
    graph: *const TF_Buffer,
    handed: *const TF_GrapplerItem,
    lent: PhantomData<&'a ()>,
}

impl<'a> Item<'a> {
    /// # Safety
    /// Both are what TensorFlow passed to `optimize_func`, lent for `'a`; 2.5 passes no item.
    pub(crate) unsafe fn new(
        graph: *const TF_Buffer,
        handed: *const TF_GrapplerItem,
    ) -> Result<Self> {
        if graph.is_null() {
            return Err(Error::internal("TensorFlow passed no graph"));
        }
        // SAFETY: not null, so the caller vouches for it.
        unsafe { buffer::check(graph)? };
        Ok(Self {
            graph,
            handed,
            lent: PhantomData,
        })
    }

    /// The graph, a serialized `GraphDef`. Of the functions that it calls only the signatures are
    /// in it: each function's body comes as a graph of its own.
    pub fn bytes(&self) -> &'a [u8] {
        // SAFETY: TensorFlow lends the buffer for `'a`, and nobody changes it.
        unsafe { buffer::bytes(self.graph) }
    }

    /// The graph, to look at and to change.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn graph(&self) -> Result<Graph> {
        Graph::parse(self.bytes())
    }

    /// The names of the nodes that must stay in the graph under their names.
    ///
    /// # Errors
    /// Where the running TensorFlow cannot say.
    pub fn preserved(&self) -> Result<BTreeSet<String>> {
        let (size, list) = (&TF_GetNodesToPreserveListSize, &TF_GetNodesToPreserveList);
        Ok(self.names(size, list)?.into_iter().collect())
    }

    /// What is fetched: names of nodes, or of their outputs (`node:1`).
    ///
    /// # Errors
    /// Where the running TensorFlow cannot say.
    pub fn fetched(&self) -> Result<Vec<String>> {
        self.names(&TF_GetFetchNodesListSize, &TF_GetFetchNodesList)
    }

    /// The ops and functions that the graph can use.
    ///
    /// # Errors
    /// Where TensorFlow cannot read the graph.
    pub fn functions(&self) -> Result<Functions> {
        // SAFETY: the buffer is live, and only read during the call.
        unsafe { Functions::of(self.graph) }
    }

    /// The shapes and types of the graph's tensors, as far as TensorFlow can infer them.
    ///
    /// # Errors
    /// What the inference says.
    pub fn infer(&self, inference: Inference) -> Result<Properties<'a>> {
        // SAFETY: TensorFlow lends the item for `'a`.
        unsafe { Properties::infer(self.item()?, inference) }
    }

    /// The item: handed, or in 2.5 the one that belongs to the buffer.
    fn item(&self) -> Result<*const TF_GrapplerItem> {
        if !self.handed.is_null() {
            return Ok(self.handed);
        }
        let (get, status) = (TF_GetGrapplerItem.get()?, Status::new()?);
        // SAFETY: the buffer is the one that TensorFlow passed, and it only looks for it.
        let item = unsafe { get(self.graph.cast_mut(), status.as_ptr()) };
        status.check()?;
        match item.is_null() {
            true => Err(Error::internal("TensorFlow has no item for its graph")),
            false => Ok(item),
        }
    }

    /// Asks for the size of a list of names, then for the list.
    fn names(&self, size: &Function<Size>, list: &Function<List>) -> Result<Vec<String>> {
        let (item, status) = (self.item()?, Status::new()?);
        let (mut count, mut bytes) = (0, 0);
        // SAFETY: the item is live, and both places are ours.
        unsafe { size.get()?(item, &mut count, &mut bytes, status.as_ptr()) };
        status.check()?;
        let len = limit::count("a list of nodes", count)?;
        let bytes = limit::count("the bytes of names", bytes)?;
        let (mut starts, mut lengths) = (vec![ptr::null_mut(); len], vec![0; len]);
        let mut storage = vec![0_u8; bytes];
        let (start, status_ptr) = (storage.as_mut_ptr().cast(), status.as_ptr());
        let (values, lens) = (starts.as_mut_ptr(), lengths.as_mut_ptr());
        // SAFETY: the item is live, and the arrays hold as many as they are said to.
        unsafe { list.get()?(item, values, lens, count, start, bytes, status_ptr) };
        status.check()?;
        let names = starts.iter().zip(&lengths);
        names.map(|(start, len)| name(*start, *len)).collect()
    }
}

/// A name of a list that was just filled.
fn name(start: *mut c_char, len: usize) -> Result<String> {
    if start.is_null() {
        return Ok(String::new());
    }
    // SAFETY: TensorFlow put `len` bytes there, into storage that is still live.
    let bytes = unsafe { slice::from_raw_parts(start.cast::<u8>(), len) };
    let text = String::from_utf8(bytes.to_vec());
    text.map_err(|_| Error::internal("a node's name is not text"))
}
