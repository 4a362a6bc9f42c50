//! Edits of functions, function pointers and callbacks.

use sp_diff::Surface;
use sp_ir::{Function, Item, Param, Scope, Side, Signature, Transfer, Type};

use super::scene::{
    Edit, Random, callback, function, int, loc, pick_field, pointer, select_items, stated,
    structure,
};

edits! {
    compatible "a function added", function_added: added;
    reversed of breaking "a function removed", function_removed: added;
    breaking "a first parameter", parameter_added:
        called(|it| it.params.insert(0, Param::new("edited", pointer(Type::Void))));
    breaking "a last parameter", parameter_added:
        called(|it| it.params.push(Param::new("edited", int(32))));
    breaking "a parameter less", parameter_removed: called(|it| drop(it.params.remove(0)));
    breaking "parameters swapped", parameter_moved: called(|it| it.params.swap(0, 1));
    breaking "a parameter retyped", parameter_retyped:
        called(|it| it.params[0].ty = Type::Float { bits: 32 });
    compatible "a parameter renamed", parameter_renamed:
        called(|it| it.params[0].name += "_edited");
    compatible "a parameter made const", constness_changed: called(constness);
    breaking "another return type", return_retyped: called(|it| it.ret = Type::Float { bits: 32 });
    breaking "another calling convention", calling_convention_changed:
        called(|it| it.convention = Some("ms_abi".into()));
    breaking "a slot with another calling convention", callback_signature_changed:
        slot(|it| it.convention = Some("vectorcall".into()));
    breaking "a slot with a parameter more", callback_signature_changed:
        slot(|it| it.params.insert(0, Param::new("edited", int(32))));
    breaking "a slot with a parameter less", callback_signature_changed:
        slot(|it| drop(it.params.remove(0)));
    breaking "a slot that returns something else", callback_signature_changed:
        slot(|it| it.ret = Type::Float { bits: 64 });
    breaking "a callback with another parameter", callback_signature_changed: typedef;
    breaking "a function made inline", function_inlined: made(|it| it.inline = true);
    reversed of compatible "an inline function exported", function_outlined:
        made(|it| it.inline = true);
    breaking "the other side defines it", exporter_changed:
        made(|it| it.exported_by = stated(Side::Plugin));
    breaking "another symbol", symbol_renamed: made(|it| it.symbol += "_v2");
    breaking "another ownership transfer", transfer_changed: fact(|it| match &mut it.params[0].transfer {
        Some(stated) if stated.value == Transfer::None => stated.value = Transfer::Full,
        Some(stated) => stated.value = Transfer::None,
        None => {}
    });
    breaking "stored, not only used", scope_changed: fact(|it| match &mut it.params[0].scope {
        Some(stated) if stated.value == Scope::Call => stated.value = Scope::Stored,
        Some(stated) => stated.value = Scope::Call,
        None => {}
    });
}

fn added(side: &mut Surface, random: &mut Random) -> Option<String> {
    let api = random.below(side.apis.len());
    let signature = Signature::new(vec![Param::new("count", int(32))], Type::Void);
    let item = Function::new(signature, "Edited", loc());
    side.apis[api]
        .items
        .insert("Edited".into(), Item::Function(item));
    Some(side.apis[api].name.clone())
}

/// Selects functions that core exports, with at least two parameters, all named, the first one a pointer.
fn fits(item: &Item) -> Option<()> {
    let item = item.as_function()?;
    let params = &item.signature.params;
    let named = params.iter().all(|one| !one.name.is_empty());
    let core = item.exported_by.as_ref();
    let core = core.is_none_or(|stated| stated.value == Side::Core);
    let pointer = matches!(params.first()?.ty, Type::Pointer { .. });
    (params.len() > 1 && named && core && pointer && !item.inline).then_some(())
}

fn made(side: &mut Surface, random: &mut Random, to: fn(&mut Function)) -> Option<String> {
    let (api, name, ()) = random.pick(select_items(side, |_, item| fits(item)))?;
    to(function(side, api, &name));
    Some(name)
}

fn called(side: &mut Surface, random: &mut Random, to: fn(&mut Signature)) -> Option<String> {
    let (api, name, ()) = random.pick(select_items(side, |_, item| fits(item)))?;
    to(&mut function(side, api, &name).signature);
    Some(name)
}

fn constness(signature: &mut Signature) {
    if let Type::Pointer { mutable, .. } = &mut signature.params[0].ty {
        *mutable = !*mutable;
    }
}

fn slot(side: &mut Surface, random: &mut Random, to: fn(&mut Signature)) -> Option<String> {
    let (api, name, index) = pick_field(side, random, |field| match &field.ty {
        Type::Function(inner) => inner.params.len() > 1,
        _ => false,
    })?;
    let field = &mut structure(side, api, &name).fields[index];
    if let Type::Function(inner) = &mut field.ty {
        to(inner);
    }
    Some(format!("{name}.{}", field.name))
}

fn typedef(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = select_items(side, |_, item| {
        matches!(item, Item::Callback(_)).then_some(())
    });
    let (api, name, ()) = random.pick(all)?;
    callback(side, api, &name)
        .signature
        .params
        .insert(0, Param::new("edited", int(32)));
    Some(name)
}

/// Edits a function whose first parameter has a stated transfer or scope.
fn fact(side: &mut Surface, random: &mut Random, to: fn(&mut Signature)) -> Option<String> {
    let all = select_items(side, |_, item| match item {
        Item::Function(item) => {
            let first = item.signature.params.first()?;
            let mut edited = item.signature.clone();
            to(&mut edited);
            (first.transfer.is_some() || first.scope.is_some()).then_some(())?;
            (edited != item.signature).then_some(())
        }
        _ => None,
    });
    let (api, name, ()) = random.pick(all)?;
    to(&mut function(side, api, &name).signature);
    Some(name)
}
