//! Whose memory a struct stands in. The headers seldom say; how it travels does: what comes back from
//! a call is the callee's, what is passed by pointer is the caller's, and what a table's filler puts
//! into a pointer is the filler's, unless it is there to be filled by the other side.

use std::collections::BTreeSet;

use sp_ir::{Item, Param, Side, Signature, Struct, Type};

use super::{View, fields};
use crate::names::Names;

/// The side whose memory each struct stands in, by the struct's name.
#[derive(Debug, Default)]
pub struct Memory(Names<String, (Weight, Side)>);

/// How good a reason is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Filled,
    Pointed,
    Passed,
    Returned,
}

impl Memory {
    /// The side that gives the memory; core's where nothing tells.
    pub fn side(&self, name: &str) -> Side {
        self.0.get(name).map_or(Side::Core, |(_, side)| *side)
    }

    /// Reads it off all that a side declares: first off calls, since what a struct points to is
    /// judged by whose the struct is.
    pub fn of(view: &View) -> Self {
        let mut memory = Self::default();
        for (name, entry) in &view.items {
            match &*entry.item {
                Item::Function(item) => {
                    let callee = item.exported_by.as_ref().map_or(Side::Core, |it| it.value);
                    memory.called(view, &item.signature, callee);
                }
                Item::Struct(item) => {
                    if let Some(said) = &item.filled_by {
                        memory.vote(name, Weight::Filled, said.value);
                    }
                    for field in &item.fields {
                        if let (Some(signature), Some(callee)) =
                            (view.signature(&field.ty), item.filler(field))
                        {
                            memory.called(view, signature, callee);
                        }
                    }
                }
                _ => {}
            }
        }
        let pointed = memory.pointed(view);
        for (name, side) in pointed {
            memory.vote(&name, Weight::Pointed, side);
        }
        memory.inherit(view);
        memory
    }

    /// What members point to: the filler's; or, where there is a struct to be filled in, the side's
    /// whose memory has the pointer.
    fn pointed(&self, view: &View) -> Vec<(String, Side)> {
        let mut found = Vec::new();
        for (name, entry) in &view.items {
            let Item::Struct(item) = &*entry.item else {
                continue;
            };
            for field in &item.fields {
                let Some((target, mutable)) = pointee(&field.ty) else {
                    continue;
                };
                let Some(inner) = view.structure(target) else {
                    continue;
                };
                let to_fill = mutable && inner.struct_size.is_some() && filled_by_plugin(inner);
                let side = match to_fill {
                    true => Some(self.side(name)),
                    false => item.filler(field),
                };
                found.extend(side.map(|side| (target.to_string(), side)));
            }
        }
        found
    }

    /// What is held by value stands where its holder does.
    fn inherit(&mut self, view: &View) {
        for (name, held) in view.held.iter() {
            let holder = held
                .within
                .iter()
                .find_map(|holder| self.0.get(holder).copied());
            if let (Some((_, side)), false) = (holder, self.0.contains_key(name)) {
                self.vote(name, Weight::Filled, side);
            }
        }
    }

    /// Whether anything tells of memory of its own.
    pub fn is_told(&self, name: &str) -> bool {
        self.0
            .get(name)
            .is_some_and(|(weight, _)| *weight > Weight::Filled)
    }

    fn called(&mut self, view: &View, signature: &Signature, callee: Side) {
        if let Some((name, _)) = pointee(&signature.ret) {
            self.vote(name, Weight::Returned, callee);
        }
        let params = signature.params.iter();
        for name in params
            .filter_map(|param| pointee(&param.ty))
            .map(|(name, _)| name)
        {
            if view.structure(name).is_some() {
                self.vote(name, Weight::Passed, callee.other());
            }
        }
    }

    /// The best reason counts; of equal ones core's, whose memory is the more dangerous to misjudge.
    fn vote(&mut self, name: &str, weight: Weight, side: Side) {
        let vote = (weight, side);
        let worth = |(weight, side): (Weight, Side)| (weight, side == Side::Core);
        match self.0.get_mut(name) {
            Some(standing) if worth(*standing) < worth(vote) => *standing = vote,
            Some(_) => {}
            None => drop(self.0.insert(name.into(), vote)),
        }
    }
}

fn filled_by_plugin(item: &Struct) -> bool {
    item.filled_by.as_ref().map(|said| said.value) == Some(Side::Plugin)
}

/// The side that calls each callback, as the tables that hold it say.
pub fn callers(view: &View) -> Names<String, Side> {
    let mut callers = Names::default();
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

/// The name behind one pointer, and whether it may be written through it.
fn pointee(ty: &Type) -> Option<(&str, bool)> {
    match ty {
        Type::Pointer { pointee, mutable } => match &**pointee {
            Type::Named(name) => Some((name, *mutable)),
            _ => None,
        },
        _ => None,
    }
}

/// How others have a struct or union by value.
#[derive(Debug, Default)]
pub struct Held {
    /// The structs and unions that have it as a member.
    pub within: BTreeSet<String>,
    /// Whether it is passed by value, or comes in arrays: then its size counts for itself.
    pub strided: bool,
}

/// What others hold, pass or count out by value, by its name.
pub fn held(view: &View) -> Names<String, Held> {
    let mut held = Names::default();
    for (name, entry) in &view.items {
        for (index, field) in fields(&entry.item).unwrap_or_default().iter().enumerate() {
            let all = fields(&entry.item).unwrap_or_default();
            if let Some(inner) = by_value(view, &field.ty) {
                note(&mut held, inner).within.insert((*name).to_string());
            }
            let beside =
                |at: Option<usize>| at.and_then(|at| all.get(at)).map(|it| (&*it.name, &it.ty));
            strided(
                &field.ty,
                [beside(index.checked_sub(1)), beside(Some(index + 1))],
                &mut held,
            );
            if let Type::Function(signature) = &field.ty {
                passed(view, signature, &mut held);
            }
        }
        match &*entry.item {
            Item::Function(item) => passed(view, &item.signature, &mut held),
            Item::Callback(item) => passed(view, &item.signature, &mut held),
            _ => {}
        }
    }
    held
}

fn note<'h>(held: &'h mut Names<String, Held>, name: &str) -> &'h mut Held {
    held.entry(name.into()).or_default()
}

fn passed(view: &View, signature: &Signature, held: &mut Names<String, Held>) {
    let params: &[Param] = &signature.params;
    for ty in params.iter().map(|param| &param.ty).chain([&signature.ret]) {
        if let Some(name) = by_value(view, ty) {
            note(held, name).strided = true;
        }
    }
    for (index, param) in params.iter().enumerate() {
        let beside = |at: Option<usize>| {
            at.and_then(|at| params.get(at))
                .map(|it| (&*it.name, &it.ty))
        };
        strided(
            &param.ty,
            [beside(index.checked_sub(1)), beside(Some(index + 1))],
            held,
        );
    }
}

fn by_value<'t>(view: &View, ty: &'t Type) -> Option<&'t str> {
    match ty {
        Type::Named(name) => view.item(name).and_then(fields).map(|_| name.as_str()),
        _ => None,
    }
}

/// An array; or a pointer beside a number called `num_..`, which points to the first of that many.
fn strided(ty: &Type, beside: [Option<(&str, &Type)>; 2], held: &mut Names<String, Held>) {
    if let Type::Array { elem, .. } = ty {
        if let Some(name) = elem.named() {
            note(held, name).strided = true;
        }
        return;
    }
    let Some((name, _)) = pointee(ty) else { return };
    let is_number = |ty: &Type| matches!(ty, Type::Int { .. } | Type::Size);
    let mut beside = beside.into_iter().flatten();
    if beside.any(|(name, ty)| name.starts_with("num_") && is_number(ty)) {
        note(held, name).strided = true;
    }
}
