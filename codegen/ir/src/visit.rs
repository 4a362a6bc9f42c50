//! Every place and every evidence in an item, however deep it stands.

use crate::{Evidence, Field, Function, Item, Loc, Param, Signature, Stated, Struct, Type};

/// What [`Item::visit_mut`] meets.
#[derive(Debug)]
pub enum Mark<'a> {
    /// Where something is declared.
    Loc(&'a mut Loc),
    /// How something is known.
    Evidence(&'a mut Evidence),
}

type See<'s> = &'s mut dyn FnMut(Mark<'_>);

impl Item {
    /// Shows `see` every place and every evidence. The place inside an evidence is not shown again.
    pub fn visit_mut(&mut self, see: See) {
        match self {
            Item::Struct(item) => structure(item, see),
            Item::Union(item) => {
                fact(&mut item.discriminator, see);
                item.fields.iter_mut().for_each(|one| field(one, see));
                see(Mark::Loc(&mut item.loc));
            }
            Item::Callback(item) => {
                signature(&mut item.signature, see);
                see(Mark::Loc(&mut item.loc));
            }
            Item::Function(item) => function(item, see),
            Item::Enum(item) => see(Mark::Loc(&mut item.loc)),
            Item::Handle(item) => see(Mark::Loc(&mut item.loc)),
            Item::Alias(item) => see(Mark::Loc(&mut item.loc)),
            Item::Constant(item) => see(Mark::Loc(&mut item.loc)),
        }
    }
}

fn structure(item: &mut Struct, see: See) {
    fact(&mut item.filled_by, see);
    fact(&mut item.receiver, see);
    fact(&mut item.author_trait, see);
    fact(&mut item.discriminator, see);
    item.fields.iter_mut().for_each(|one| field(one, see));
    see(Mark::Loc(&mut item.loc));
}

fn function(item: &mut Function, see: See) {
    signature(&mut item.signature, see);
    fact(&mut item.exported_by, see);
    fact(&mut item.instead, see);
    see(Mark::Loc(&mut item.loc));
}

fn field(item: &mut Field, see: See) {
    ty(&mut item.ty, see);
    fact(&mut item.filled_by, see);
    fact(&mut item.direction, see);
    fact(&mut item.presence, see);
    fact(&mut item.neutral, see);
    see(Mark::Loc(&mut item.loc));
}

fn ty(item: &mut Type, see: See) {
    match item {
        Type::Pointer { pointee, .. } => ty(pointee, see),
        Type::Array { elem, .. } => ty(elem, see),
        Type::Function(inner) => signature(inner, see),
        _ => {}
    }
}

fn signature(item: &mut Signature, see: See) {
    item.params.iter_mut().for_each(|one| param(one, see));
    ty(&mut item.ret, see);
    fact(&mut item.ret_transfer, see);
}

fn param(item: &mut Param, see: See) {
    ty(&mut item.ty, see);
    fact(&mut item.direction, see);
    fact(&mut item.transfer, see);
    fact(&mut item.scope, see);
}

fn fact<T>(fact: &mut Option<Stated<T>>, see: See) {
    if let Some(fact) = fact {
        see(Mark::Evidence(&mut fact.evidence));
    }
}
