//! Ownership transfer that follows from the names of constructors and destructors:
//!
//! - `create_stream(.., SP_Stream* stream, ..)` and `destroy_stream(.., SP_Stream stream)`, as in stream_executor.h;
//! - `TF_NewTensor` and `TF_DeleteTensor(TF_Tensor*)`, as in tf_tensor.h;
//! - `PJRT_Error_Destroy` and every function that returns a `PJRT_Error*`, as in pjrt_c_api.h.
//!
//! The constructor transfers ownership to the caller, the destructor takes it.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Direction, Evidence, Field, Item, Param, Signature, Transfer, Type};

use super::{Items, state};

/// Adds the ownership facts that follow from names.
pub fn annotate(items: &mut Items) {
    let handles = pointer_handles(items);
    let destructors = Destructors::find(items);
    for item in items.values_mut() {
        match item {
            Item::Function(item) => destructors.annotate_result(&item.symbol, &mut item.signature),
            Item::Callback(item) => destructors.annotate_result("", &mut item.signature),
            _ => {}
        }
        match item {
            Item::Struct(item) => annotate_slots(&mut item.fields, &handles),
            Item::Function(item) if item.symbol.contains("_Delete") => {
                let first = item.signature.params.first_mut();
                if let Some(param) = first.filter(|param| is_pointer(param)) {
                    state(&mut param.transfer, Transfer::Full, Evidence::Prefix);
                }
            }
            _ => {}
        }
    }
}

fn is_pointer(param: &Param) -> bool {
    matches!(param.ty, Type::Pointer { mutable: true, .. })
}

/// The types that have a destructor.
struct Destructors {
    /// The types that a function with `_Delete` takes.
    deleted: BTreeSet<String>,
    /// The types with a function of their own name and `_Destroy`.
    destroyed: BTreeSet<String>,
}

impl Destructors {
    fn find(items: &Items) -> Self {
        let deleted = items.values().filter_map(|item| match item {
            Item::Function(item) if item.symbol.contains("_Delete") => {
                Some(item.signature.params.first()?.ty.named()?.to_string())
            }
            _ => None,
        });
        let destroyed = items
            .keys()
            .filter_map(|name| name.strip_suffix("_Destroy"));
        Self {
            deleted: deleted.collect(),
            destroyed: destroyed.map(str::to_string).collect(),
        }
    }

    /// Adds that a function transfers ownership of its result.
    fn annotate_result(&self, symbol: &str, signature: &mut Signature) {
        let Type::Pointer {
            pointee,
            mutable: true,
        } = &signature.ret
        else {
            return;
        };
        let Type::Named(name) = &**pointee else {
            return;
        };
        let is_constructor = symbol.contains("_New") && self.deleted.contains(name);
        if is_constructor || self.destroyed.contains(name) {
            state(
                &mut signature.ret_transfer,
                Transfer::Full,
                Evidence::Prefix,
            );
        }
    }
}

fn pointer_handles(items: &Items) -> BTreeSet<String> {
    let handles = items
        .iter()
        .filter(|(_, item)| matches!(item, Item::Handle(handle) if handle.pointer));
    handles.map(|(name, _)| name.clone()).collect()
}

/// Adds the facts of `create_*` and `destroy_*` slots of one table.
fn annotate_slots(fields: &mut [Field], handles: &BTreeSet<String>) {
    let created: BTreeMap<String, String> = fields
        .iter_mut()
        .filter_map(|field| {
            let mut params = slot_params(&mut field.ty).iter();
            let handle = params.find_map(|param| out_handle(param, handles))?;
            Some((field.name.strip_prefix("create_")?.to_string(), handle))
        })
        .collect();
    for field in fields {
        let handle_of = |prefix: &str| created.get(field.name.strip_prefix(prefix)?);
        if let Some(handle) = handle_of("create_") {
            annotate_constructor(&mut field.ty, handle, handles);
        } else if let Some(handle) = handle_of("destroy_") {
            annotate_destructor(&mut field.ty, handle);
        }
    }
}

/// Returns the handle that a parameter `H* out` returns, or `None` for any other parameter.
fn out_handle(param: &Param, handles: &BTreeSet<String>) -> Option<String> {
    let Type::Pointer {
        pointee,
        mutable: true,
    } = &param.ty
    else {
        return None;
    };
    match &**pointee {
        Type::Named(name) => handles.get(name).cloned(),
        _ => None,
    }
}

fn annotate_constructor(ty: &mut Type, handle: &str, handles: &BTreeSet<String>) {
    for param in slot_params(ty) {
        if out_handle(param, handles).as_deref() == Some(handle) {
            state(&mut param.direction, Direction::Out, Evidence::Prefix);
            state(&mut param.transfer, Transfer::Full, Evidence::Prefix);
        }
    }
}

fn annotate_destructor(ty: &mut Type, handle: &str) {
    for param in slot_params(ty) {
        if param.ty == Type::Named(handle.into()) {
            state(&mut param.transfer, Transfer::Full, Evidence::Prefix);
        }
    }
}

/// Returns the parameters of a slot, or none for a type that is not a function.
fn slot_params(ty: &mut Type) -> &mut [Param] {
    match ty {
        Type::Function(signature) => &mut signature.params,
        _ => &mut [],
    }
}
