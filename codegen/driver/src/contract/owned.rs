//! Owned types: the C types of their values, the parameters that take them, and the functions that destroy them.

use std::collections::BTreeMap;

use sp_ir::{Item, Param, Type, c};

use super::pointee::{self, Pointees};
use super::{Contract, OwnedStatement, help};
use crate::error::DriverError;
use crate::model::{Function, Model};

/// A type whose values have one owner.
#[derive(Debug)]
pub struct OwnedType<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type of a value.
    pub ty: Type,
    /// The form of a value.
    pub form: Form,
    /// True if the contract states the type of an address.
    pub is_address: bool,
    /// The function that destroys a value when it is dropped; `None` if nothing does.
    pub destroy: Option<Destroy<'a>>,
    /// The owned types of the handles that every function that creates a value takes.
    pub parents: Vec<String>,
}

impl OwnedType<'_> {
    /// Returns true if a value is stored as a `usize`: an address, and a pointer, which is neither `Send` nor `Sync`.
    pub fn is_stored_as_usize(&self) -> bool {
        self.is_address || matches!(self.form, Form::Pointer { .. })
    }
}

/// The form of a value that has an absent value: null or 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A handle, which is a struct of the bindings.
    Handle,
    /// A pointer.
    Pointer {
        /// True if the pointee is not `const`.
        mutable: bool,
    },
    /// An integer.
    Integer,
}

impl Form {
    /// Returns the form of a type's values, or `None` if they have no absent value.
    pub fn find(model: &Model, ty: &Type) -> Option<Self> {
        match model.resolve(ty) {
            Type::Pointer { mutable, .. } => Some(Self::Pointer { mutable: *mutable }),
            Type::Int { .. } | Type::Size | Type::Address { .. } => Some(Self::Integer),
            Type::Named(name) => match model.item(name) {
                Some(Item::Handle(handle)) if handle.pointer => Some(Self::Handle),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The function that destroys a value.
#[derive(Debug)]
pub struct Destroy<'a> {
    /// The function.
    pub function: &'a Function,
    /// The index of the value among its parameters.
    pub value: usize,
    /// The other parameters: the names of their owned types.
    pub others: Vec<&'a str>,
}

/// Finds the owned types of C types.
pub struct Owners<'a> {
    contract: &'a Contract,
    model: &'a Model,
    /// The names of handles and typedefs, each with the owned types of its values.
    names: BTreeMap<&'a str, Vec<&'a str>>,
    /// The structs whose pointers are values of an owned type.
    pointees: Pointees<'a>,
}

impl<'a> Owners<'a> {
    /// Finds the names of the C types.
    ///
    /// # Errors
    /// Returns an error for a name that is no identifier, and for a function that cannot destroy a value.
    pub fn new(contract: &'a Contract, model: &'a Model) -> Result<Self, DriverError> {
        let by_name = contract.statements.owned.iter();
        let by_name = by_name.filter(|(_, statement)| statement.r#type.is_none());
        let mut owners = Self {
            contract,
            model,
            names: BTreeMap::new(),
            pointees: Pointees::new(model, by_name.map(|(name, _)| name.as_str())),
        };
        for (name, statement) in &contract.statements.owned {
            if let Some(c_name) = owners.c_name(name, statement)? {
                owners.names.entry(c_name).or_default().push(name);
            }
        }
        Ok(owners)
    }

    /// Returns the owned types of the values of a handle, a typedef or a pointer to a struct: more than one if the contract
    /// states several for it.
    pub fn find(&self, ty: &Type) -> &[&'a str] {
        let mut names = self.model.names(ty);
        let found = names.find_map(|name| self.names.get(name));
        found.map_or_else(|| self.pointees.find(self.model, ty), Vec::as_slice)
    }

    /// Returns the owned type of a type's values, or `None` if there is not exactly one.
    pub fn find_one(&self, ty: &Type) -> Option<&'a str> {
        match self.find(ty) {
            [name] => Some(name),
            _ => None,
        }
    }

    /// Returns the typedef of an integer or a pointer that has owned values, among the names of a type, or the struct behind
    /// pointers that a value of the type is or points to.
    pub fn find_invented<'t>(&'t self, ty: &'t Type) -> Option<&'t str> {
        let mut names = self.model.names(ty);
        let is_typedef = |name: &str| matches!(self.model.item(name), Some(Item::Alias(_)));
        let found = names.find(|name| self.names.contains_key(name) && is_typedef(name));
        found.or_else(|| self.pointees.find_struct(self.model, ty))
    }

    /// Returns true if the values of a C type are those of the owned type `name`, which states no `type`.
    pub fn has_values(&self, name: &str, ty: &Type) -> bool {
        let named = Type::Named(name.to_owned());
        let is_same = || self.model.resolve(ty) == self.model.resolve(&named);
        let is_pointer = self.pointees.find(self.model, ty).contains(&name);
        is_pointer || self.pointees.value_type(name).is_none() && is_same()
    }

    /// Checks an owned type. Its parents are not known yet.
    ///
    /// # Errors
    /// Returns an error if the type has no absent value, and for a function that cannot destroy a value.
    pub fn owned_type(
        &self,
        (name, statement): (&'a String, &'a OwnedStatement),
    ) -> Result<OwnedType<'a>, DriverError> {
        let destroy = self.destroy(name, statement)?;
        let ty = match (&destroy, &statement.r#type) {
            (Some(it), Some(_)) => it.function.signature.params[it.value].ty.clone(),
            _ => self.named_type(name),
        };
        let form = Form::find(self.model, &ty);
        let is_unknown = destroy.is_none() && (statement.r#type.is_some() || form.is_none());
        let form = match form {
            _ if is_unknown => Err(format!(
                "`{name}` has no `destroy`, and is no handle of the header and no typedef of an integer or pointer"
            )),
            None => Err(format!(
                "`{name}` is no handle, and no typedef of an integer or pointer"
            )),
            Some(_) if statement.r#type.is_some() && !is_address(self.model, &ty) => Err(format!(
                "the type of `{name}` is `{}`, which is no address: no pointer, and no integer as wide as one",
                c::spell(&ty)
            )),
            Some(form) => Ok(form),
        };
        Ok(OwnedType {
            name,
            ty,
            form: form.map_err(|what| self.error(what))?,
            is_address: statement.r#type.is_some(),
            destroy,
            parents: Vec::new(),
        })
    }

    /// Returns the name of the C type whose values are owned, or `None` for a type without a name, such as `void*`.
    fn c_name(
        &self,
        name: &'a str,
        statement: &'a OwnedStatement,
    ) -> Result<Option<&'a str>, DriverError> {
        let is_identifier = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if !name.chars().all(is_identifier) || name.starts_with(|it: char| it.is_ascii_digit()) {
            return Err(self.error(format!("`{name}` is no name of a type")));
        }
        if statement.r#type.is_none() {
            if let Some(function) = pointee::find_passing(self.model, name) {
                let function = &function.name;
                let what =
                    format!("`{name}` is no handle: `{function}` passes the struct by value");
                return Err(self.error(what));
            }
            return Ok(self.pointees.value_type(name).is_none().then_some(name));
        }
        let found = self.destroyed(name, statement)?;
        Ok(found.and_then(|(function, value)| {
            let ty = &function.signature.params[value].ty;
            self.model.names(ty).next()
        }))
    }

    /// Returns the function that destroys a value of an owned type, and the index of the value among its parameters.
    fn destroyed(
        &self,
        name: &str,
        statement: &'a OwnedStatement,
    ) -> Result<Option<(&'a Function, usize)>, DriverError> {
        let Some(destroy) = &statement.destroy else {
            return Ok(None);
        };
        let function = self.contract.function(self.model, destroy)?;
        let params = function.signature.params.iter();
        let values = params.enumerate().filter(|(_, param)| {
            let stated = statement.r#type.as_deref();
            stated.map_or_else(
                || self.is_named(name, &param.ty),
                |ty| self.is_stated(param, ty),
            )
        });
        let values: Vec<usize> = values.map(|(index, _)| index).collect();
        let ty = statement.r#type.as_deref();
        let what = match (values[..].first(), ty) {
            (Some(_), Some(ty)) if values.len() > 1 => format!(
                "`{destroy}` takes several values of the type `{ty}` of `{name}`: state the typedef of the one that it destroys"
            ),
            (Some(value), _) => return Ok(Some((function, *value))),
            (None, Some(ty)) => format!("`{destroy}` takes no `{ty}`, the type of `{name}`"),
            (None, None) if self.pointees.value_type(name).is_some() => {
                format!("`{destroy}` takes no pointer to `{name}`")
            }
            (None, None) => format!("`{destroy}` takes no `{name}`"),
        };
        let declaration = help::declaration(function);
        let help = match ty.and_then(|_| self.find_address(function)) {
            Some(name) => format!("state `type = \"{name}\"`; {declaration}"),
            None => format!("{declaration}; {}", help::owned()),
        };
        Err(self.contract.error(what, help))
    }

    /// Returns the typedef of an address that a function takes, if [owned] does not have it by its own name.
    fn find_address(&self, function: &'a Function) -> Option<&'a str> {
        let owned = &self.contract.statements.owned;
        let params = function.signature.params.iter();
        let mut params = params.filter(|param| is_address(self.model, &param.ty));
        params.find_map(|param| {
            let name = self.model.names(&param.ty).next()?;
            (!owned.contains_key(name)).then_some(name)
        })
    }

    /// Returns true if a parameter has the type that the contract states: a typedef's name, `void*` for any pointer, or an
    /// integer type of C. A type that [owned] has by its own name is another one.
    fn is_stated(&self, param: &Param, ty: &str) -> bool {
        let is_named = |name: &str| self.is_named(name, &param.ty);
        let is_spelled = match self.model.resolve(&param.ty) {
            Type::Pointer { .. } => ty.split_whitespace().eq(["void", "*"]) || ty == "void*",
            resolved => c::spell(resolved) == ty,
        };
        let owned = &self.contract.statements.owned;
        let mut by_name = owned.iter().filter(|(_, it)| it.r#type.is_none());
        is_named(ty) || is_spelled && !by_name.any(|(name, _)| is_named(name))
    }

    /// Returns true if a type has the name, is a typedef of a type with it, or a pointer to a struct that is owned by it.
    fn is_named(&self, name: &str, ty: &Type) -> bool {
        let is_pointer = self.pointees.find(self.model, ty).contains(&name);
        let is_struct = self.pointees.value_type(name).is_some();
        is_pointer || !is_struct && self.model.names(ty).any(|it| it == name)
    }

    /// Returns the type of the values of an owned type that states no `type`.
    fn named_type(&self, name: &str) -> Type {
        let pointer = self.pointees.value_type(name);
        pointer.unwrap_or_else(|| Type::Named(name.to_owned()))
    }

    fn destroy(
        &self,
        name: &str,
        statement: &'a OwnedStatement,
    ) -> Result<Option<Destroy<'a>>, DriverError> {
        let Some((function, value)) = self.destroyed(name, statement)? else {
            return Ok(None);
        };
        let others = function.signature.params.iter().enumerate();
        let others = others.filter(|(index, _)| *index != value);
        let others: Option<Vec<_>> = others.map(|(_, param)| self.find_one(&param.ty)).collect();
        let others = others.ok_or_else(|| {
            let what = format!(
                "`{}` cannot destroy an owned value: it also takes a value that is no handle of [owned]",
                function.name
            );
            self.contract.error(what, help::declaration(function))
        })?;
        Ok(Some(Destroy {
            function,
            value,
            others,
        }))
    }

    fn error(&self, what: String) -> DriverError {
        self.contract.error(what, help::owned())
    }
}

/// Returns true for a pointer, and for an integer as wide as one. Layouts are those of 64-bit Linux.
pub fn is_address(model: &Model, ty: &Type) -> bool {
    matches!(
        model.resolve(ty),
        Type::Pointer { .. } | Type::Int { bits: 64, .. } | Type::Size | Type::Address { .. }
    )
}
