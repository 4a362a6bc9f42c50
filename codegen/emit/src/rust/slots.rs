//! Function tables from an author's point of view: the facts of the IR determine a role for each parameter of
//! a slot. [`super::traits`] prints the author trait and [`super::shims`] the callbacks, from the same roles.
//!
//! An author's trait has typed handles: `SP_Stream` is `Self::Stream`, which `create_stream` returns, other slots
//! borrow, and `destroy_stream` consumes. The `transfer` facts of the IR determine which, so most slots are safe
//! functions.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ident;
use sp_ir::{Direction, Field, Item, Param, Receiver, Signature, Struct, Transfer, Type};

use crate::model::catalog::Catalog;
use crate::model::context::Context;

/// A function table that an author fills.
pub struct FunctionTable<'a> {
    /// Its C name.
    pub name: &'a str,
    /// The name of the author trait.
    pub author: Ident,
    /// The struct.
    pub item: &'a Struct,
    /// Its callbacks.
    pub slots: Vec<Slot<'a>>,
    /// The handles in their signatures, in the order of first use.
    pub handles: Vec<&'a str>,
}

/// A callback of a table.
pub struct Slot<'a> {
    /// Its field.
    pub field: &'a Field,
    /// Its return type in C.
    pub ret: &'a Type,
    /// Its parameters in order.
    pub params: Vec<Parameter<'a>>,
    /// True if an author may omit it.
    pub optional: bool,
    /// Its return value after a panic, if it has no status.
    pub default_return: TokenStream,
}

/// A parameter of a slot.
pub struct Parameter<'a> {
    /// Its Rust name.
    pub name: Ident,
    /// Its declaration.
    pub param: &'a Param,
    /// Its role.
    pub role: Role<'a>,
}

/// The role of a parameter in the author's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<'a> {
    /// The struct that contains the author's object: `&self`.
    Receiver(&'a Receiver),
    /// The status: the method returns a `Result`.
    Status,
    /// The out parameter of a new handle: the method returns the object behind it.
    CreatedHandle(&'a str),
    /// A borrowed handle: the method borrows the object behind it.
    BorrowedHandle(&'a str),
    /// A handle whose ownership is transferred: the method takes the object behind it.
    OwnedHandle(&'a str),
    /// A struct with a `struct_size`: a view of it, which is mutable if the flag is true.
    View(&'a str, bool),
    /// Any other parameter, passed unchanged.
    Plain,
}

impl<'a> FunctionTable<'a> {
    /// Returns the tables of an API that have an author trait.
    pub fn find_all(context: &Context<'a>) -> Vec<Self> {
        let items = context.api.items.iter();
        let items = items.map(|(name, item)| (name.as_str(), item));
        Self::collect(items, context.catalog, &mut Vec::new())
    }

    /// Returns the tables among `items` that have an author trait. Adds a message to `problems` for each fact that
    /// is missing.
    pub fn collect(
        items: impl Iterator<Item = (&'a str, &'a Item)>,
        catalog: &Catalog<'a>,
        problems: &mut Vec<String>,
    ) -> Vec<Self> {
        let tables = items.filter_map(|(name, item)| {
            let item = item.as_struct()?;
            let author = ident(&item.author_trait.as_ref()?.value);
            Some(Self::new(name, item, author, catalog, problems))
        });
        tables.collect()
    }

    fn new(
        name: &'a str,
        item: &'a Struct,
        author: Ident,
        catalog: &Catalog<'a>,
        problems: &mut Vec<String>,
    ) -> Self {
        let receiver = item.receiver.as_ref().map(|it| &it.value);
        let mut slots = Vec::new();
        for field in &item.fields {
            match slot(field, receiver, catalog) {
                Ok(slot) => slots.extend(slot),
                Err(problem) => problems.push(format!("{name}.{}: {problem}", field.name)),
            }
        }
        let handles = handles(&slots).unwrap_or_else(|problem| {
            problems.push(format!("{name}: {problem}"));
            Vec::new()
        });
        Self {
            name,
            author,
            item,
            slots,
            handles,
        }
    }
}

/// Returns the slots of the table `name` that an author must implement. The derive of the table stores these without a
/// look at the trait, so that this is the only rule for optional slots.
pub fn required_slots<'a>(name: &'a str, catalog: &Catalog<'a>) -> BTreeSet<&'a str> {
    let item = catalog.item(name).map(|item| (name, item));
    let tables = FunctionTable::collect(item.into_iter(), catalog, &mut Vec::new());
    let slots = tables.into_iter().flat_map(|table| table.slots);
    let required = slots.filter(|slot| !slot.optional);
    required.map(|slot| slot.field.name.as_str()).collect()
}

/// Returns the handles in the signatures of `slots`, each once.
fn handles<'a>(slots: &[Slot<'a>]) -> Result<Vec<&'a str>, String> {
    let mut handles: Vec<&str> = Vec::new();
    for handle in slots.iter().flat_map(Slot::handles) {
        match handles
            .iter()
            .find(|other| associated(other) == associated(handle))
        {
            Some(other) if *other == handle => {}
            Some(other) => {
                let ty = associated(handle);
                return Err(format!(
                    "the handles `{other}` and `{handle}` have the same associated type `{ty}`"
                ));
            }
            None => handles.push(handle),
        }
    }
    Ok(handles)
}

/// Returns the field as a slot, or `None` if it is not a function.
fn slot<'a>(
    field: &'a Field,
    receiver: Option<&'a Receiver>,
    catalog: &Catalog<'a>,
) -> Result<Option<Slot<'a>>, String> {
    match (&field.ty, catalog.named(&field.ty)) {
        (Type::Function(signature), _) => Slot::new(field, signature, receiver, catalog).map(Some),
        (_, Some((name, Item::Callback(_)))) => Err(format!(
            "its type is the callback `{name}`; only a slot with an unnamed function type has a shim"
        )),
        _ => Ok(None),
    }
}

impl<'a> Slot<'a> {
    fn new(
        field: &'a Field,
        signature: &'a Signature,
        receiver: Option<&'a Receiver>,
        catalog: &Catalog<'a>,
    ) -> Result<Self, String> {
        let params = parameters(signature, receiver, catalog);
        let mut slot = Self {
            field,
            ret: &signature.ret,
            params,
            optional: field.is_optional(),
            default_return: default_return(field)?,
        };
        slot.check()?;
        // The default body of an optional method has no object to return, and no status to return an error in.
        slot.optional &= slot.created_handle().is_none() || slot.has_status();
        Ok(slot)
    }

    /// Checks the facts that the shim and the default body need.
    fn check(&self) -> Result<(), String> {
        if *self.ret != Type::Void && self.field.default_return.is_none() {
            return Err(
                "it returns a value; state its default return value in the notes as `default_return`"
                    .into(),
            );
        }
        Ok(())
    }

    /// Returns the Rust name.
    pub fn name(&self) -> Ident {
        ident(&self.field.name)
    }

    /// Returns the name of the constant that is true if the author implements an optional slot.
    pub fn presence_constant(&self) -> Ident {
        format_ident!("HAS_{}", self.field.name.to_uppercase())
    }

    /// Returns true if it has a status for its errors.
    pub fn has_status(&self) -> bool {
        self.params.iter().any(|it| it.role == Role::Status)
    }

    /// Returns true if the author's method has a `&self`.
    pub fn has_receiver(&self) -> bool {
        self.params
            .iter()
            .any(|it| matches!(it.role, Role::Receiver(_)))
    }

    /// Returns the handle that it creates.
    pub fn created_handle(&self) -> Option<&'a str> {
        self.params.iter().find_map(|it| match it.role {
            Role::CreatedHandle(handle) => Some(handle),
            _ => None,
        })
    }

    /// Returns the parameters of the author's method.
    pub fn arguments(&self) -> impl Iterator<Item = &Parameter<'a>> {
        let hidden = |role| {
            matches!(
                role,
                Role::Receiver(_) | Role::Status | Role::CreatedHandle(_)
            )
        };
        self.params.iter().filter(move |it| !hidden(it.role))
    }

    /// Returns true if the author's method must rely on its arguments, such as pointers.
    pub fn is_unsafe(&self, catalog: &Catalog<'a>) -> bool {
        self.arguments().any(|it| match it.role {
            Role::View(name, _) => has_pointers(name, catalog),
            Role::Plain => needs_validity(&it.param.ty, catalog),
            _ => false,
        })
    }

    fn handles(&self) -> impl Iterator<Item = &'a str> {
        self.params.iter().filter_map(|it| match it.role {
            Role::CreatedHandle(handle)
            | Role::BorrowedHandle(handle)
            | Role::OwnedHandle(handle) => Some(handle),
            _ => None,
        })
    }
}

/// Returns the name of a handle's associated type: the handle's name without its prefix.
pub fn associated(handle: &str) -> Ident {
    ident(handle.split_once('_').map_or(handle, |(_, name)| name))
}

fn default_return(field: &Field) -> Result<TokenStream, String> {
    let Some(stated) = &field.default_return else {
        return Ok(quote!(()));
    };
    let expression = syn::parse_str::<syn::Expr>(&stated.value)
        .map_err(|error| format!("`default_return` is not a Rust expression: {error}"))?;
    Ok(quote!(#expression))
}

fn parameters<'a>(
    signature: &'a Signature,
    receiver: Option<&'a Receiver>,
    catalog: &Catalog<'a>,
) -> Vec<Parameter<'a>> {
    let last = signature.params.len().saturating_sub(1);
    let describe = |(index, param): (usize, &'a Param)| Parameter {
        name: parameter_name(index, param),
        param,
        role: role(
            param,
            index == last,
            signature.ret == Type::Void,
            receiver,
            catalog,
        ),
    };
    let mut params: Vec<_> = signature.params.iter().enumerate().map(describe).collect();
    let receivers = params
        .iter_mut()
        .filter(|it| matches!(it.role, Role::Receiver(_)));
    // A second pointer to the owner is an argument: the method is called on the first.
    receivers
        .skip(1)
        .for_each(|it| it.role = Role::View(receiver.map_or("", |it| &it.owner), false));
    params
}

fn parameter_name(index: usize, param: &Param) -> Ident {
    if param.name.is_empty() {
        format_ident!("arg{index}")
    } else {
        ident(&param.name)
    }
}

fn role<'a>(
    param: &'a Param,
    is_last: bool,
    is_void: bool,
    receiver: Option<&'a Receiver>,
    catalog: &Catalog<'a>,
) -> Role<'a> {
    if let Some(handle) = catalog.pointer_handle(&param.ty) {
        return match param.transfer.as_ref().map(|it| it.value) {
            Some(Transfer::Full) => Role::OwnedHandle(handle),
            _ => Role::BorrowedHandle(handle),
        };
    }
    let Type::Pointer { pointee, mutable } = catalog.resolve(&param.ty) else {
        return Role::Plain;
    };
    if is_last && *mutable && catalog.is_status(pointee) {
        return Role::Status;
    }
    if let Some(handle) = catalog.pointer_handle(pointee) {
        return match param.direction.as_ref().map(|it| it.value) {
            Some(Direction::Out) if is_void => Role::CreatedHandle(handle),
            _ => Role::Plain,
        };
    }
    match (catalog.versioned(pointee), receiver) {
        (Some((name, _)), Some(receiver)) if !mutable && receiver.owner == name => {
            Role::Receiver(receiver)
        }
        (Some((name, _)), _) => Role::View(name, *mutable && is_written(param)),
        (None, _) => Role::Plain,
    }
}

/// Returns true if the callee writes what the parameter points to.
fn is_written(param: &Param) -> bool {
    let direction = param.direction.as_ref().map(|it| it.value);
    matches!(direction, Some(Direction::Out | Direction::InOut))
}

/// Returns true if the struct has a data pointer besides `ext`, which every struct reserves.
fn has_pointers(name: &str, catalog: &Catalog<'_>) -> bool {
    let Some(Item::Struct(item)) = catalog.item(name) else {
        return true;
    };
    let mut fields = item.fields.iter().filter(|field| field.name != "ext");
    fields.any(|field| matches!(catalog.resolve(&field.ty), Type::Pointer { .. }))
}

/// Returns true if the caller must guarantee that a value of this type is valid.
fn needs_validity<'a>(ty: &'a Type, catalog: &Catalog<'a>) -> bool {
    match catalog.resolve(ty) {
        Type::Pointer { .. } | Type::Function(_) | Type::Array { .. } => true,
        Type::Named(name) => match catalog.item(name) {
            Some(Item::Struct(_)) => has_pointers(name, catalog),
            Some(Item::Enum(_)) => false,
            _ => true,
        },
        _ => false,
    }
}
