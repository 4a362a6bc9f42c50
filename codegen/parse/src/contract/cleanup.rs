//! `create_stream(.., SP_Stream* stream, ..)` makes what `destroy_stream(.., SP_Stream stream)` ends,
//! as in stream_executor.h; `TF_DeleteTensor(TF_Tensor*)` ends what `TF_NewTensor` returned, as in
//! tf_tensor.h; `PJRT_Error_Destroy` ends every `PJRT_Error*` that is returned, as in pjrt_c_api.h.
//!
//! So the one hands a handle out and the other takes it back, for good.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Direction, Evidence, Field, Item, Param, Signature, Transfer, Type};

use super::{Items, state};

/// States the ownership that follows from names.
pub fn annotate(items: &mut Items) {
    let handles = pointer_handles(items);
    let ended = Ended::of(items);
    for item in items.values_mut() {
        match item {
            Item::Function(item) => ended.hand_back(&item.symbol, &mut item.signature),
            Item::Callback(item) => ended.hand_back("", &mut item.signature),
            _ => {}
        }
        match item {
            Item::Struct(item) => pair_up(&mut item.fields, &handles),
            Item::Function(item) if item.symbol.contains("_Delete") => {
                if let Some(param) = item
                    .signature
                    .params
                    .first_mut()
                    .filter(|one| is_pointer(one))
                {
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

/// The types that the caller must end, by what ends them.
struct Ended {
    /// Those that a `_Delete` takes.
    deleted: BTreeSet<String>,
    /// Those with a function of their own name and `_Destroy`.
    destroyed: BTreeSet<String>,
}

impl Ended {
    fn of(items: &Items) -> Self {
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

    fn hand_back(&self, symbol: &str, signature: &mut Signature) {
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
        let made = symbol.contains("_New") && self.deleted.contains(name);
        if made || self.destroyed.contains(name) {
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
        .filter(|(_, item)| matches!(item, Item::Handle(one) if one.pointer));
    handles.map(|(name, _)| name.clone()).collect()
}

fn pair_up(fields: &mut [Field], handles: &BTreeSet<String>) {
    let made: BTreeMap<String, String> = fields
        .iter()
        .filter_map(|field| {
            let handle = params(&field.ty)?
                .iter()
                .find_map(|param| handed_out(param, handles))?;
            Some((field.name.strip_prefix("create_")?.to_string(), handle))
        })
        .collect();
    for field in fields {
        if let Some(handle) = field
            .name
            .strip_prefix("create_")
            .and_then(|noun| made.get(noun))
        {
            hand_out(&mut field.ty, handle, handles);
        } else if let Some(handle) = field
            .name
            .strip_prefix("destroy_")
            .and_then(|noun| made.get(noun))
        {
            take_back(&mut field.ty, handle);
        }
    }
}

/// The handle that a parameter `H* out` gives.
fn handed_out(param: &Param, handles: &BTreeSet<String>) -> Option<String> {
    match &param.ty {
        Type::Pointer {
            pointee,
            mutable: true,
        } => match &**pointee {
            Type::Named(name) => handles.get(name).cloned(),
            _ => None,
        },
        _ => None,
    }
}

fn hand_out(ty: &mut Type, handle: &str, handles: &BTreeSet<String>) {
    for param in params_mut(ty) {
        if handed_out(param, handles).as_deref() == Some(handle) {
            state(&mut param.direction, Direction::Out, Evidence::Prefix);
            state(&mut param.transfer, Transfer::Full, Evidence::Prefix);
        }
    }
}

fn take_back(ty: &mut Type, handle: &str) {
    for param in params_mut(ty) {
        if param.ty == Type::Named(handle.into()) {
            state(&mut param.transfer, Transfer::Full, Evidence::Prefix);
        }
    }
}

fn params(ty: &Type) -> Option<&[Param]> {
    match ty {
        Type::Function(signature) => Some(&signature.params),
        _ => None,
    }
}

fn params_mut(ty: &mut Type) -> &mut [Param] {
    match ty {
        Type::Function(signature) => &mut signature.params,
        _ => &mut [],
    }
}
