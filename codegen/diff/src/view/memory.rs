//! The side that allocates each struct, the side that calls each callback, and by-value uses.
//!
//! Headers seldom state who allocates a struct, so it is derived from how a pointer to it is passed. A callee
//! allocates what it returns, a caller what it passes, and the side that sets a pointer member its target. If the other
//! side is to set the target's members, the allocator of the enclosing struct allocates the target too.

use std::collections::BTreeSet;

use sp_ir::{Item, Param, Side, Signature, Struct, Type};

use super::SurfaceView;
use crate::name_map::NameMap;

/// The side that allocates each struct, by the struct's name.
#[derive(Debug, Default)]
pub struct MemoryOwners(NameMap<String, (AllocatorEvidence, Side)>);

/// The evidence for an allocator, from weakest to strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AllocatorEvidence {
    /// A note states who sets the members.
    Filled,
    /// A member points to the struct.
    Pointed,
    /// A pointer to the struct is passed as an argument.
    Passed,
    /// A pointer to the struct is returned.
    Returned,
}

impl MemoryOwners {
    /// Returns the side that allocates the struct; core if there is no evidence.
    pub fn side(&self, name: &str) -> Side {
        self.0.get(name).map_or(Side::Core, |(_, side)| *side)
    }

    /// Returns true if there is evidence that the struct is allocated alone, not only embedded.
    pub fn is_allocated_alone(&self, name: &str) -> bool {
        self.0
            .get(name)
            .is_some_and(|(evidence, _)| *evidence > AllocatorEvidence::Filled)
    }

    /// Derives the owners from all declarations of a side.
    ///
    /// Calls come first, because the owner of a pointer's target depends on the owner of the enclosing struct.
    pub fn new(view: &SurfaceView) -> Self {
        let mut owners = Self::default();
        for (name, entry) in &view.items {
            match &*entry.item {
                Item::Function(item) => {
                    let exporter = item.exported_by.as_ref();
                    let callee = exporter.map_or(Side::Core, |stated| stated.value);
                    owners.add_call(view, &item.signature, callee);
                }
                Item::Struct(item) => owners.add_struct(view, name, item),
                _ => {}
            }
        }
        for (name, side) in owners.pointer_targets(view) {
            owners.add(&name, AllocatorEvidence::Pointed, side);
        }
        owners.add_embedded(view);
        owners
    }

    fn add_struct(&mut self, view: &SurfaceView, name: &str, item: &Struct) {
        if let Some(stated) = &item.filled_by {
            self.add(name, AllocatorEvidence::Filled, stated.value);
        }
        for field in &item.fields {
            if let (Some(signature), Some(callee)) = (view.signature(&field.ty), item.filler(field))
            {
                self.add_call(view, signature, callee);
            }
        }
    }

    /// Returns the owners of the structs that members point to.
    fn pointer_targets(&self, view: &SurfaceView) -> Vec<(String, Side)> {
        let mut targets = Vec::new();
        for (name, entry) in &view.items {
            let Item::Struct(item) = &*entry.item else {
                continue;
            };
            for field in &item.fields {
                let Some((target, mutable)) = pointee(&field.ty) else {
                    continue;
                };
                let Some(target_struct) = view.structure(target) else {
                    continue;
                };
                let is_to_be_filled = mutable
                    && target_struct.struct_size.is_some()
                    && is_filled_by_plugin(target_struct);
                let side = match is_to_be_filled {
                    true => Some(self.side(name)),
                    false => item.filler(field),
                };
                targets.extend(side.map(|side| (target.to_string(), side)));
            }
        }
        targets
    }

    /// Gives embedded structs without other evidence the owner of the enclosing struct.
    fn add_embedded(&mut self, view: &SurfaceView) {
        for (name, uses) in view.by_value_uses.iter() {
            let mut enclosing = uses.embedded_in.iter();
            let owner = enclosing.find_map(|name| self.0.get(name).copied());
            if let (Some((_, side)), false) = (owner, self.0.contains_key(name)) {
                self.add(name, AllocatorEvidence::Filled, side);
            }
        }
    }

    fn add_call(&mut self, view: &SurfaceView, signature: &Signature, callee: Side) {
        if let Some((name, _)) = pointee(&signature.ret) {
            self.add(name, AllocatorEvidence::Returned, callee);
        }
        let pointees = signature.params.iter();
        let pointees = pointees.filter_map(|param| pointee(&param.ty));
        for (name, _) in pointees {
            if view.structure(name).is_some() {
                self.add(name, AllocatorEvidence::Passed, callee.other());
            }
        }
    }

    /// Records an owner. The strongest evidence counts; of equal evidence that for core, since a wrong access to core's
    /// memory is the worse error.
    fn add(&mut self, name: &str, evidence: AllocatorEvidence, side: Side) {
        let rank = |(evidence, side): (AllocatorEvidence, Side)| (evidence, side == Side::Core);
        match self.0.get_mut(name) {
            Some(owner) if rank(*owner) < rank((evidence, side)) => *owner = (evidence, side),
            Some(_) => {}
            None => drop(self.0.insert(name.into(), (evidence, side))),
        }
    }
}

fn is_filled_by_plugin(item: &Struct) -> bool {
    item.filled_by.as_ref().map(|stated| stated.value) == Some(Side::Plugin)
}

/// Returns the side that calls each callback, according to the structs that contain it.
pub fn callers(view: &SurfaceView) -> NameMap<String, Side> {
    let mut callers = NameMap::default();
    for entry in view.items.values() {
        let Item::Struct(item) = &*entry.item else {
            continue;
        };
        for field in &item.fields {
            if let (Type::Named(name), Some(filler)) = (&field.ty, item.filler(field))
                && matches!(view.item(name), Some(Item::Callback(_)))
            {
                callers.insert(name.clone(), filler.other());
            }
        }
    }
    callers
}

/// Returns the name behind one pointer, and true if the pointer is to non-const.
fn pointee(ty: &Type) -> Option<(&str, bool)> {
    match ty {
        Type::Pointer { pointee, mutable } => match &**pointee {
            Type::Named(name) => Some((name, *mutable)),
            _ => None,
        },
        _ => None,
    }
}

/// The by-value uses of a struct or union.
#[derive(Debug, Default)]
pub struct ByValueUses {
    /// The structs and unions that have it as a member.
    pub embedded_in: BTreeSet<String>,
    /// True if it is passed by value or is an array element, so that its own size matters.
    pub needs_fixed_size: bool,
}

type UsesByName = NameMap<String, ByValueUses>;

/// The name and type of a member or parameter.
type NamedType<'t> = (&'t str, &'t Type);

/// Returns the by-value uses of all structs and unions.
pub fn by_value_uses(view: &SurfaceView) -> UsesByName {
    let mut uses = NameMap::default();
    for (name, entry) in &view.items {
        let fields = entry.item.fields().unwrap_or_default();
        for field in fields {
            if let Some(embedded) = by_value(view, &field.ty) {
                let embedded_in = &mut entry_of(&mut uses, embedded).embedded_in;
                embedded_in.insert((*name).to_string());
            }
            if let Type::Function(signature) = &field.ty {
                add_signature(view, signature, &mut uses);
            }
        }
        let named_types = fields.iter().map(|field| (&*field.name, &field.ty));
        add_arrays(&named_types.collect::<Vec<_>>(), &mut uses);
        match &*entry.item {
            Item::Function(item) => add_signature(view, &item.signature, &mut uses),
            Item::Callback(item) => add_signature(view, &item.signature, &mut uses),
            _ => {}
        }
    }
    uses
}

fn entry_of<'u>(uses: &'u mut UsesByName, name: &str) -> &'u mut ByValueUses {
    uses.entry(name.into()).or_default()
}

fn add_signature(view: &SurfaceView, signature: &Signature, uses: &mut UsesByName) {
    let params: &[Param] = &signature.params;
    for ty in params.iter().map(|param| &param.ty).chain([&signature.ret]) {
        if let Some(name) = by_value(view, ty) {
            entry_of(uses, name).needs_fixed_size = true;
        }
    }
    let named_types = params.iter().map(|param| (&*param.name, &param.ty));
    add_arrays(&named_types.collect::<Vec<_>>(), uses);
}

fn by_value<'t>(view: &SurfaceView, ty: &'t Type) -> Option<&'t str> {
    match ty {
        Type::Named(name) => view
            .item(name)
            .and_then(Item::fields)
            .map(|_| name.as_str()),
        _ => None,
    }
}

/// Adds the elements of arrays, and of pointers next to a number called `num_..`.
fn add_arrays(members: &[NamedType], uses: &mut UsesByName) {
    for (index, (_, ty)) in members.iter().enumerate() {
        if let Type::Array { elem, .. } = ty {
            if let Some(name) = elem.named() {
                entry_of(uses, name).needs_fixed_size = true;
            }
            continue;
        }
        let Some((name, _)) = pointee(ty) else {
            continue;
        };
        let previous = index.checked_sub(1).and_then(|index| members.get(index));
        let mut neighbors = previous.into_iter().chain(members.get(index + 1));
        if neighbors.any(is_count) {
            entry_of(uses, name).needs_fixed_size = true;
        }
    }
}

fn is_count((name, ty): &NamedType) -> bool {
    name.starts_with("num_") && matches!(ty, Type::Int { .. } | Type::Size)
}
