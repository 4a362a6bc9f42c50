//! A visitor of all source positions and evidences in an item, at any depth.

use crate::{Evidence, Field, Function, Item, Loc, Param, Signature, Stated, Struct, Type};

/// A part of an item that [`Item::visit_mut`] visits.
#[derive(Debug)]
pub enum Visited<'a> {
    /// The position of a declaration.
    Loc(&'a mut Loc),
    /// The evidence of a fact.
    Evidence(&'a mut Evidence),
}

type Visit<'s> = &'s mut dyn FnMut(Visited<'_>);

impl Item {
    /// Calls `visit` for every position and every evidence. The position inside an evidence is not visited
    /// separately.
    pub fn visit_mut(&mut self, visit: Visit) {
        match self {
            Item::Struct(item) => structure(item, visit),
            Item::Union(item) => {
                fact(&mut item.discriminator, visit);
                item.fields.iter_mut().for_each(|it| field(it, visit));
                visit(Visited::Loc(&mut item.loc));
            }
            Item::Callback(item) => {
                signature(&mut item.signature, visit);
                visit(Visited::Loc(&mut item.loc));
            }
            Item::Function(item) => function(item, visit),
            Item::Enum(item) => visit(Visited::Loc(&mut item.loc)),
            Item::Handle(item) => visit(Visited::Loc(&mut item.loc)),
            Item::Alias(item) => visit(Visited::Loc(&mut item.loc)),
            Item::Constant(item) => visit(Visited::Loc(&mut item.loc)),
        }
    }
}

fn structure(item: &mut Struct, visit: Visit) {
    fact(&mut item.filled_by, visit);
    fact(&mut item.receiver, visit);
    fact(&mut item.author_trait, visit);
    fact(&mut item.discriminator, visit);
    item.fields.iter_mut().for_each(|it| field(it, visit));
    visit(Visited::Loc(&mut item.loc));
}

fn function(item: &mut Function, visit: Visit) {
    signature(&mut item.signature, visit);
    fact(&mut item.exported_by, visit);
    fact(&mut item.instead, visit);
    visit(Visited::Loc(&mut item.loc));
}

fn field(item: &mut Field, visit: Visit) {
    ty(&mut item.ty, visit);
    fact(&mut item.filled_by, visit);
    fact(&mut item.direction, visit);
    fact(&mut item.presence, visit);
    fact(&mut item.default_return, visit);
    visit(Visited::Loc(&mut item.loc));
}

fn ty(item: &mut Type, visit: Visit) {
    match item {
        Type::Pointer { pointee, .. } => ty(pointee, visit),
        Type::Array { elem, .. } => ty(elem, visit),
        Type::Function(inner) => signature(inner, visit),
        _ => {}
    }
}

fn signature(item: &mut Signature, visit: Visit) {
    item.params.iter_mut().for_each(|it| param(it, visit));
    ty(&mut item.ret, visit);
    fact(&mut item.ret_transfer, visit);
}

fn param(item: &mut Param, visit: Visit) {
    ty(&mut item.ty, visit);
    fact(&mut item.direction, visit);
    fact(&mut item.transfer, visit);
    fact(&mut item.scope, visit);
}

fn fact<T>(fact: &mut Option<Stated<T>>, visit: Visit) {
    if let Some(fact) = fact {
        visit(Visited::Evidence(&mut fact.evidence));
    }
}
