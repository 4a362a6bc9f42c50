//! What a function table means to an author: each slot's parameters get a role, from the IR's facts
//! alone. [`super::traits`] prints the trait of it and [`super::shims`] the callbacks, so both see
//! the same roles.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_expand::structure::presence;
use sp_expand::ty::ident;
use sp_ir::{Direction, Field, Item, Param, Presence, Receiver, Signature, Struct, Transfer, Type};

use super::catalog::Catalog;

/// A function table that an author fills.
pub struct Table<'a> {
    /// Its C name.
    pub name: &'a str,
    /// The trait.
    pub author: Ident,
    /// The struct itself.
    pub item: &'a Struct,
    /// Its callbacks.
    pub slots: Vec<Slot<'a>>,
    /// The handles that they use, in the order of first use.
    pub handles: Vec<&'a str>,
}

/// One callback of a table.
pub struct Slot<'a> {
    /// The field that holds it.
    pub field: &'a Field,
    /// What it returns in C.
    pub ret: &'a Type,
    /// Its parameters in order.
    pub params: Vec<Parameter<'a>>,
    /// Whether an author may leave it out.
    pub optional: bool,
    /// What it returns after a panic, where no status carries an error.
    pub neutral: TokenStream,
}

/// A parameter and what becomes of it.
pub struct Parameter<'a> {
    /// Its Rust name.
    pub name: Ident,
    /// As the header has it.
    pub param: &'a Param,
    /// What it is to the author.
    pub role: Role<'a>,
}

/// What a parameter is to the author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<'a> {
    /// The struct that holds the author's object: `&self`.
    Receiver(&'a Receiver),
    /// Where an error goes: the method returns a `Result`.
    Status,
    /// Where a new handle goes: the method returns its value.
    Made(&'a str),
    /// A handle, lent.
    Lent(&'a str),
    /// A handle whose value comes back to the author for good.
    Taken(&'a str),
    /// A struct to look at, or to fill.
    View(&'a str, bool),
    /// Anything else, as it is.
    Plain,
}

impl<'a> Table<'a> {
    /// The tables among `items` that have an author trait; `problems` gets what their facts lack.
    pub fn all(
        items: impl Iterator<Item = (&'a String, &'a Item)>,
        catalog: &Catalog<'a>,
        problems: &mut Vec<String>,
    ) -> Vec<Self> {
        let structs = items.filter_map(|(name, item)| match item {
            Item::Struct(item) => Some((name.as_str(), item, item.author_trait.as_ref()?)),
            _ => None,
        });
        let made = structs.map(|(name, item, author)| {
            Self::of(name, item, ident(&author.value), catalog, problems)
        });
        made.collect()
    }

    fn of(
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

/// The handles that `slots` use, each once.
fn handles<'a>(slots: &[Slot<'a>]) -> Result<Vec<&'a str>, String> {
    let mut handles: Vec<&str> = Vec::new();
    for handle in slots.iter().flat_map(Slot::handles) {
        match handles
            .iter()
            .find(|other| associated(other) == associated(handle))
        {
            Some(other) if *other == handle => {}
            Some(other) => {
                let both = associated(handle);
                return Err(format!(
                    "`{other}` and `{handle}` would both be its type `{both}`"
                ));
            }
            None => handles.push(handle),
        }
    }
    Ok(handles)
}

/// The field as a slot, if it is one.
fn slot<'a>(
    field: &'a Field,
    receiver: Option<&'a Receiver>,
    catalog: &Catalog<'a>,
) -> Result<Option<Slot<'a>>, String> {
    match (&field.ty, catalog.named(&field.ty)) {
        (Type::Function(signature), _) => Slot::of(field, signature, receiver, catalog).map(Some),
        (_, Some((name, Item::Callback(_)))) => Err(format!(
            "its type is `{name}`; a slot whose type has a name has no shim"
        )),
        _ => Ok(None),
    }
}

impl<'a> Slot<'a> {
    fn of(
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
            optional: presence(field) == Presence::Optional,
            neutral: neutral(field)?,
        };
        slot.check()?;
        // Without it there would be no handle, and no status to say so.
        slot.optional &= slot.made().is_none() || slot.fails();
        Ok(slot)
    }

    /// The facts that the shim and the default body cannot do without.
    fn check(&self) -> Result<(), String> {
        if *self.ret != Type::Void && self.field.neutral.is_none() {
            return Err("it returns a value; the notes must state its `neutral`".into());
        }
        Ok(())
    }

    /// The Rust name.
    pub fn name(&self) -> Ident {
        ident(&self.field.name)
    }

    /// The constant that says whether an optional slot is there.
    pub fn presence_constant(&self) -> Ident {
        format_ident!("HAS_{}", self.field.name.to_uppercase())
    }

    /// Whether a status carries its errors.
    pub fn fails(&self) -> bool {
        self.params.iter().any(|it| it.role == Role::Status)
    }

    /// Whether the author's method has a `&self`.
    pub fn has_receiver(&self) -> bool {
        self.params
            .iter()
            .any(|it| matches!(it.role, Role::Receiver(_)))
    }

    /// The handle that it makes.
    pub fn made(&self) -> Option<&'a str> {
        self.params.iter().find_map(|it| match it.role {
            Role::Made(handle) => Some(handle),
            _ => None,
        })
    }

    /// The parameters that the author's method has.
    pub fn arguments(&self) -> impl Iterator<Item = &Parameter<'a>> {
        let hidden = |role| matches!(role, Role::Receiver(_) | Role::Status | Role::Made(_));
        self.params.iter().filter(move |it| !hidden(it.role))
    }

    /// Whether the author's method must trust its arguments.
    pub fn is_unsafe(&self, catalog: &Catalog<'a>) -> bool {
        self.arguments().any(|it| match it.role {
            Role::View(name, _) => holds_pointers(name, catalog),
            Role::Plain => is_trusted(&it.param.ty, catalog),
            _ => false,
        })
    }

    fn handles(&self) -> impl Iterator<Item = &'a str> {
        self.params.iter().filter_map(|it| match it.role {
            Role::Made(handle) | Role::Lent(handle) | Role::Taken(handle) => Some(handle),
            _ => None,
        })
    }
}

/// The name of the associated type for a handle: what follows its prefix.
pub fn associated(handle: &str) -> Ident {
    ident(handle.split_once('_').map_or(handle, |(_, name)| name))
}

fn neutral(field: &Field) -> Result<TokenStream, String> {
    let Some(stated) = &field.neutral else {
        return Ok(quote!(()));
    };
    let expression = syn::parse_str::<syn::Expr>(&stated.value)
        .map_err(|error| format!("`neutral` is not a Rust expression: {error}"))?;
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
    // A second pointer to the owner is another object, not the one the method is called on.
    receivers
        .skip(1)
        .for_each(|it| it.role = Role::View(owner(receiver), false));
    params
}

fn owner(receiver: Option<&Receiver>) -> &str {
    receiver.map_or("", |it| &it.owner)
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
        let full = param
            .transfer
            .as_ref()
            .is_some_and(|it| it.value == Transfer::Full);
        return if full {
            Role::Taken(handle)
        } else {
            Role::Lent(handle)
        };
    }
    let Type::Pointer { pointee, mutable } = catalog.resolve(&param.ty) else {
        return Role::Plain;
    };
    if is_last && *mutable && catalog.is_status(pointee) {
        return Role::Status;
    }
    if let Some(handle) = catalog.pointer_handle(pointee) {
        let out = param
            .direction
            .as_ref()
            .is_some_and(|it| it.value == Direction::Out);
        return if out && is_void {
            Role::Made(handle)
        } else {
            Role::Plain
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

/// Whether the struct has a data pointer besides the `ext` that every struct reserves.
fn holds_pointers(name: &str, catalog: &Catalog<'_>) -> bool {
    let Some(Item::Struct(item)) = catalog.item(name) else {
        return true;
    };
    let mut fields = item.fields.iter().filter(|field| field.name != "ext");
    fields.any(|field| matches!(catalog.resolve(&field.ty), Type::Pointer { .. }))
}

/// Whether a value of this type is only as good as whoever passes it.
fn is_trusted<'a>(ty: &'a Type, catalog: &Catalog<'a>) -> bool {
    match catalog.resolve(ty) {
        Type::Pointer { .. } | Type::Function(_) | Type::Array { .. } => true,
        Type::Named(name) => match catalog.item(name) {
            Some(Item::Struct(_)) => holds_pointers(name, catalog),
            Some(Item::Enum(_)) => false,
            _ => true,
        },
        _ => false,
    }
}
