//! `TF_OpKernelConstruction`: the construction of a kernel.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};
use std::sync::{Arc, Mutex};

use super::argument::{Arg, CStringArgument, Out};
use super::attr::{Attr, Scalar};
use super::failure::{CallError, StatusResult, invalid};
use super::functions::functions;
use super::tensor::{TensorHandle, View};
use crate::StatusCode;
use crate::lock;
use crate::memory::HostMemory;
use crate::objects::{HostObject, ObjectKind};
use crate::status_object::StatusObject;
use crate::tensor_buffer::TensorBuffer;

/// The object behind `TF_OpKernelConstruction*`.
pub(crate) struct KernelConstruction {
    pub name: String,
    pub op: String,
    pub attrs: BTreeMap<String, Attr>,
    failure: Mutex<Option<(StatusCode, String)>>,
}

impl HostObject for KernelConstruction {
    const KIND: ObjectKind = ObjectKind::Construction;
}

/// `TF_StringView`: a borrowed string of the host or of the plugin.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct StringView {
    data: *const c_char,
    len: usize,
}

impl StringView {
    pub fn new(text: &str) -> Self {
        Self {
            data: text.as_ptr().cast(),
            len: text.len(),
        }
    }

    /// Returns the text.
    ///
    /// # Safety
    /// - The view's text is alive.
    pub unsafe fn text(&self) -> String {
        let bytes: &[u8] = match self.data.is_null() {
            true => &[],
            // SAFETY: the caller guarantees that the text is alive, which has `len` bytes.
            false => unsafe { std::slice::from_raw_parts(self.data.cast(), self.len) },
        };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl KernelConstruction {
    pub fn new(name: String, op: String, attrs: BTreeMap<String, Attr>) -> Self {
        Self {
            name,
            op,
            attrs,
            failure: Mutex::new(None),
        }
    }

    /// Returns the status that the kernel reported, if it failed.
    pub fn failure(&self) -> Option<(StatusCode, String)> {
        lock(&self.failure).clone()
    }

    fn attr(&self, name: &str) -> StatusResult<&Attr> {
        let missing = || format!("No attr named '{name}' in NodeDef");
        let attr = self.attrs.get(name);
        attr.ok_or_else(|| (StatusCode::NOT_FOUND, missing()))
    }

    fn copy_scalar<T: Scalar>(
        &self,
        name: &CStringArgument,
        out: &Out<T>,
    ) -> Result<(), CallError> {
        out.set(scalar(self.attr(&name.string())?)?);
        Ok(())
    }

    /// Copies as many items of a list as fit into the plugin's buffer.
    fn copy_list<T: Copy>(
        &self,
        name: &CStringArgument,
        (out, room): (&Out<T>, c_int),
        read: impl Fn(&Attr) -> StatusResult<T>,
    ) -> Result<(), CallError> {
        let items = self.list(&name.string())?.iter().take(room.max(0) as usize);
        let items: Vec<T> = items.map(read).collect::<StatusResult<_>>()?;
        out.fill(&items);
        Ok(())
    }

    fn list(&self, name: &str) -> StatusResult<&[Attr]> {
        match self.attr(name)? {
            Attr::List(items) => Ok(items),
            other => Err(mismatch(other, "list")),
        }
    }

    fn text(&self, name: &str) -> StatusResult<&str> {
        text(self.attr(name)?)
    }
}

fn scalar<T: Scalar>(attr: &Attr) -> StatusResult<T> {
    T::read(attr)?.ok_or_else(|| mismatch(attr, T::KIND))
}

fn text(attr: &Attr) -> StatusResult<&str> {
    match attr {
        Attr::Text(text) => Ok(text),
        other => Err(mismatch(other, "string")),
    }
}

fn tensor(attr: &Attr) -> StatusResult<*mut TensorHandle> {
    let Attr::Tensor(value) = attr else {
        return Err(mismatch(attr, "tensor"));
    };
    let buffer = Arc::new(TensorBuffer::from_host_memory(HostMemory::from_bytes(
        value.bytes(),
    )));
    Ok(View {
        dtype: value.dtype(),
        dims: value.dims().to_vec(),
        buffer,
    }
    .into_plugin_handle())
}

fn mismatch(attr: &Attr, wanted: &str) -> (StatusCode, String) {
    let kind = attr.kind();
    invalid(format!(
        "AttrValue had value with type '{kind}' when '{wanted}' expected"
    ))
}

type Ctx = Arg<KernelConstruction>;

/// Copies the strings into `storage` and stores the address and length of each.
fn copy_strings(
    items: &[Attr],
    name: &str,
    (values, lengths): (&Out<*mut c_char>, &Out<usize>),
    (storage, room): (&Out<u8>, usize),
) -> StatusResult<()> {
    let texts: Vec<&str> = items.iter().map(text).collect::<Result<_, _>>()?;
    let all: Vec<u8> = texts.iter().flat_map(|text| text.bytes()).collect();
    if all.len() > room {
        let needed = all.len();
        return Err(invalid(format!("{name} needs {needed} bytes, not {room}")));
    }
    storage.fill(&all);
    let mut at = storage.address();
    let begin = |text: &&str| {
        let here = at;
        at = at.wrapping_add(text.len());
        here.cast()
    };
    values.fill(&texts.iter().map(begin).collect::<Vec<*mut c_char>>());
    lengths.fill(&texts.iter().map(|text| text.len()).collect::<Vec<_>>());
    Ok(())
}

functions! {
    fn TF_OpKernelConstruction_Failure(ctx: Ctx, status: Arg<StatusObject>) {
        if let (Some(ctx), Some(status)) = (ctx.get(CALL), status.get(CALL)) {
            *lock(&ctx.failure) = Some(status.get());
        }
    }

    fn TF_OpKernelConstruction_GetName(ctx: Ctx) -> StringView {
        StringView::new(ctx.get(CALL).map_or("", |ctx| &ctx.name))
    }

    fn TF_OpKernelConstruction_HasAttr(ctx: Ctx, name: CStringArgument; status) -> bool {
        Ok(ctx.live(CALL)?.attrs.contains_key(&name.string()))
    }

    fn TF_OpKernelConstruction_GetAttrSize(
        ctx: Ctx, name: CStringArgument, list_size: Out<i32>, total_size: Out<i32>; status
    ) {
        let ctx = ctx.live(CALL)?;
        let found = ctx.attr(&name.string());
        let (list, total) = found.as_ref().map_or((-1, -1), |attr| attr.sizes());
        list_size.set(list);
        total_size.set(total);
        found.map_err(|(_, text)| invalid(text))?;
        Ok(())
    }

    fn TF_OpKernelConstruction_GetAttrType(ctx: Ctx, name: CStringArgument, out: Out<u32>; status) {
        ctx.live(CALL)?.copy_scalar(&name, &out)
    }

    fn TF_OpKernelConstruction_GetAttrInt32(ctx: Ctx, name: CStringArgument, out: Out<i32>; status) {
        ctx.live(CALL)?.copy_scalar(&name, &out)
    }

    fn TF_OpKernelConstruction_GetAttrInt64(ctx: Ctx, name: CStringArgument, out: Out<i64>; status) {
        ctx.live(CALL)?.copy_scalar(&name, &out)
    }

    fn TF_OpKernelConstruction_GetAttrFloat(ctx: Ctx, name: CStringArgument, out: Out<f32>; status) {
        ctx.live(CALL)?.copy_scalar(&name, &out)
    }

    fn TF_OpKernelConstruction_GetAttrBool(ctx: Ctx, name: CStringArgument, out: Out<u8>; status) {
        ctx.live(CALL)?.copy_scalar(&name, &out)
    }

    fn TF_OpKernelConstruction_GetAttrString(
        ctx: Ctx, name: CStringArgument, out: Out<u8>, room: usize; status
    ) {
        let text = ctx.live(CALL)?.text(&name.string())?.as_bytes();
        out.fill(&text[..text.len().min(room)]);
        Ok(())
    }

    fn TF_OpKernelConstruction_GetAttrTensor(
        ctx: Ctx, name: CStringArgument, out: Out<*mut TensorHandle>; status
    ) {
        out.set(tensor(ctx.live(CALL)?.attr(&name.string())?)?);
        Ok(())
    }

    fn TF_OpKernelConstruction_GetAttrTypeList(
        ctx: Ctx, name: CStringArgument, out: Out<u32>, room: c_int; status
    ) {
        ctx.live(CALL)?.copy_list(&name, (&out, room), scalar)
    }

    fn TF_OpKernelConstruction_GetAttrInt32List(
        ctx: Ctx, name: CStringArgument, out: Out<i32>, room: c_int; status
    ) {
        ctx.live(CALL)?.copy_list(&name, (&out, room), scalar)
    }

    fn TF_OpKernelConstruction_GetAttrInt64List(
        ctx: Ctx, name: CStringArgument, out: Out<i64>, room: c_int; status
    ) {
        ctx.live(CALL)?.copy_list(&name, (&out, room), scalar)
    }

    fn TF_OpKernelConstruction_GetAttrFloatList(
        ctx: Ctx, name: CStringArgument, out: Out<f32>, room: c_int; status
    ) {
        ctx.live(CALL)?.copy_list(&name, (&out, room), scalar)
    }

    fn TF_OpKernelConstruction_GetAttrBoolList(
        ctx: Ctx, name: CStringArgument, out: Out<u8>, room: c_int; status
    ) {
        ctx.live(CALL)?.copy_list(&name, (&out, room), scalar)
    }

    fn TF_OpKernelConstruction_GetAttrTensorList(
        ctx: Ctx, name: CStringArgument, out: Out<*mut TensorHandle>, room: c_int; status
    ) {
        ctx.live(CALL)?.copy_list(&name, (&out, room), tensor)
    }

    fn TF_OpKernelConstruction_GetAttrStringList(
        ctx: Ctx, name: CStringArgument, values: Out<*mut c_char>, lengths: Out<usize>, room: c_int,
        storage: Out<u8>, storage_size: usize; status
    ) {
        let (ctx, name) = (ctx.live(CALL)?, name.string());
        let items = ctx.list(&name)?;
        let items = &items[..items.len().min(room.max(0) as usize)];
        Ok(copy_strings(items, &name, (&values, &lengths), (&storage, storage_size))?)
    }
}
