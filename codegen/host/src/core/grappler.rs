//! The C functions for graph optimizers: nodes to preserve, inferred shapes, and definitions of ops and
//! functions.

use std::ffi::{c_char, c_int};
use std::sync::Mutex;

use super::argument::{Arg, CStringArgument, List, Out};
use super::buffer::{BufferObject, fill};
use super::failure::{CallError, StatusResult, invalid};
use super::functions::functions;
use super::op_def;
use crate::StatusCode;
use crate::graph::{self, GraphDef, NodeDef};
use crate::lock;
use crate::objects::{self, HostObject, ObjectKind, Owner};

/// The object behind `TF_GrapplerItem*`.
pub(crate) struct GrapplerItem(pub GraphDef);

/// Addresses of the graphs that optimizers are processing, each with its item. In 2.5 an optimizer is not
/// passed its item and looks it up by the graph.
static ITEMS_BY_GRAPH: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Registers `item` under its graph until the result is dropped.
pub(crate) fn register_item(graph: *mut BufferObject, item: *mut GrapplerItem) -> RegisteredItem {
    lock(&ITEMS_BY_GRAPH).push((graph.addr(), item.expose_provenance()));
    RegisteredItem(graph.addr())
}

/// A registration of an item.
pub(crate) struct RegisteredItem(usize);

impl Drop for RegisteredItem {
    fn drop(&mut self) {
        lock(&ITEMS_BY_GRAPH).retain(|(graph, _)| *graph != self.0);
    }
}

/// The object behind `TF_GraphProperties*`; without properties until they are inferred.
struct GraphProperties {
    graph: GraphDef,
    inferred: Mutex<bool>,
}

/// The object behind `TF_FunctionLibraryDefinition*`: definitions by name.
struct FunctionLibrary(Vec<(String, Vec<u8>)>);

impl HostObject for GrapplerItem {
    const KIND: ObjectKind = ObjectKind::GrapplerItem;
}

impl HostObject for GraphProperties {
    const KIND: ObjectKind = ObjectKind::GraphProperties;
}

impl HostObject for FunctionLibrary {
    const KIND: ObjectKind = ObjectKind::FunctionLibrary;
}

impl GraphProperties {
    fn known(&self, name: &str) -> Option<&NodeDef> {
        let inferred = *lock(&self.inferred);
        self.graph.node(name).filter(|_| inferred)
    }

    fn inputs(&self, name: &str) -> Vec<&NodeDef> {
        let inputs = self.known(name).map_or(&[][..], |node| &node.inputs);
        let inputs = inputs.iter().filter_map(|input| self.graph.node(input));
        inputs.collect()
    }

    fn outputs(&self, name: &str) -> Vec<&NodeDef> {
        self.known(name).into_iter().collect()
    }
}

/// Stores the number of names and their total length.
fn set_sizes(
    names: &[String],
    (count, bytes): (&Out<c_int>, &Out<usize>),
) -> Result<(), CallError> {
    count.set(names.len() as c_int);
    bytes.set(names.iter().map(String::len).sum());
    Ok(())
}

/// Copies the names into `storage` and stores the address of each.
fn put(
    names: &[String],
    (values, lengths, room): (&Out<*mut c_char>, &Out<usize>, c_int),
    (storage, size): (&Out<u8>, usize),
) -> StatusResult<()> {
    let names = &names[..names.len().min(room.max(0) as usize)];
    let text = names.concat();
    if text.len() > size {
        let needed = text.len();
        return Err(invalid(format!(
            "the names take {needed} bytes, and there are {size}"
        )));
    }
    storage.fill(text.as_bytes());
    let lens: Vec<usize> = names.iter().map(String::len).collect();
    let starts = lens.iter().scan(storage.address(), |at, len| {
        let start = *at;
        *at = at.wrapping_add(*len);
        Some(start.cast())
    });
    values.fill(&starts.collect::<Vec<_>>());
    lengths.fill(&lens);
    Ok(())
}

/// Fills one buffer with the properties of each node.
fn put_properties(
    nodes: &[&NodeDef],
    buffers: &List<Arg<BufferObject>>,
    room: c_int,
) -> Result<(), CallError> {
    let mut pairs = nodes.iter().zip(buffers.values(room));
    Ok(pairs.try_for_each(|(node, buffer)| fill(buffer, &node.properties()))?)
}

functions! {
    fn TF_GetGrapplerItem(graph: Arg<BufferObject>; status) -> *mut GrapplerItem {
        let address = graph.address().addr();
        let found = lock(&ITEMS_BY_GRAPH).iter().find(|(known, _)| *known == address).map(|(_, item)| *item);
        let missing = || (StatusCode::NOT_FOUND, "GrapplerItem is not found".to_owned());
        Ok(std::ptr::with_exposed_provenance_mut(found.ok_or_else(missing)?))
    }

    fn TF_GetNodesToPreserveListSize(item: Arg<GrapplerItem>, count: Out<c_int>, bytes: Out<usize>; status) {
        set_sizes(&item.live(CALL)?.0.fetch, (&count, &bytes))
    }

    fn TF_GetNodesToPreserveList(
        item: Arg<GrapplerItem>, values: Out<*mut c_char>, lengths: Out<usize>, room: c_int,
        storage: Out<u8>, size: usize; status
    ) {
        Ok(put(&item.live(CALL)?.0.fetch, (&values, &lengths, room), (&storage, size))?)
    }

    fn TF_GetFetchNodesListSize(item: Arg<GrapplerItem>, count: Out<c_int>, bytes: Out<usize>; status) {
        set_sizes(&item.live(CALL)?.0.fetch, (&count, &bytes))
    }

    fn TF_GetFetchNodesList(
        item: Arg<GrapplerItem>, values: Out<*mut c_char>, lengths: Out<usize>, room: c_int,
        storage: Out<u8>, size: usize; status
    ) {
        Ok(put(&item.live(CALL)?.0.fetch, (&values, &lengths, room), (&storage, size))?)
    }

    fn TF_NewGraphProperties(item: Arg<GrapplerItem>) -> *mut GraphProperties {
        let Some(item) = item.get(CALL) else { return std::ptr::null_mut() };
        let made = GraphProperties { graph: item.0.clone(), inferred: Mutex::new(false) };
        objects::create(made, Owner::Plugin)
    }

    fn TF_DeleteGraphProperties(properties: Arg<GraphProperties>) {
        drop(properties.take(CALL));
    }

    fn TF_InferStatically(
        properties: Arg<GraphProperties>, _assume_valid_feeds: u8, _aggressive_shape_inference: u8,
        _include_input_tensor_values: u8, _include_output_tensor_values: u8; status
    ) {
        *lock(&properties.live(CALL)?.inferred) = true;
        Ok(())
    }

    fn TF_GetInputPropertiesListSize(
        properties: Arg<GraphProperties>, name: CStringArgument, count: Out<c_int>; status
    ) {
        count.set(properties.live(CALL)?.inputs(&name.string()).len() as c_int);
        Ok(())
    }

    fn TF_GetOutputPropertiesListSize(
        properties: Arg<GraphProperties>, name: CStringArgument, count: Out<c_int>; status
    ) {
        count.set(properties.live(CALL)?.outputs(&name.string()).len() as c_int);
        Ok(())
    }

    fn TF_GetInputPropertiesList(
        properties: Arg<GraphProperties>, name: CStringArgument, buffers: List<Arg<BufferObject>>, room: c_int; status
    ) {
        put_properties(&properties.live(CALL)?.inputs(&name.string()), &buffers, room)
    }

    fn TF_GetOutputPropertiesList(
        properties: Arg<GraphProperties>, name: CStringArgument, buffers: List<Arg<BufferObject>>, room: c_int; status
    ) {
        put_properties(&properties.live(CALL)?.outputs(&name.string()), &buffers, room)
    }

    fn TF_NewFunctionLibraryDefinition(graph: Arg<BufferObject>; status) -> *mut FunctionLibrary {
        let functions = graph::functions(graph.live(CALL)?.bytes());
        Ok(objects::create(FunctionLibrary(functions), Owner::Plugin))
    }

    fn TF_DeleteFunctionLibraryDefinition(library: Arg<FunctionLibrary>) {
        drop(library.take(CALL));
    }

    fn TF_GetAllOpList() -> *mut BufferObject {
        objects::create(BufferObject::from_bytes(&op_def::all()), Owner::Plugin)
    }

    fn TF_LookUpOpDef(
        library: Arg<FunctionLibrary>, name: CStringArgument, buffer: Arg<BufferObject>; status
    ) {
        let (library, name) = (library.live(CALL)?, name.string());
        let own = library.0.iter().find(|(found, _)| *found == name);
        let found = own.map(|(_, bytes)| bytes.clone()).or_else(|| op_def::bytes(&name));
        let missing = || (StatusCode::NOT_FOUND, format!("Op type not registered '{name}'"));
        Ok(fill(&buffer, &found.ok_or_else(missing)?)?)
    }
}
