//! Checks a contract against the declarations of the header.

use std::collections::BTreeMap;

use sp_ir::{Item, Param, Signature, Type};

use super::role::ROLES;
use super::unsafe_part::UnsafePart;
use super::{Contract, OwnedStatement, Role};
use crate::error::DriverError;
use crate::model::{Function, Model, StatedSizes};
use crate::status::Status;

/// Largest number of assignments of sizes for one value, as the message states it.
const MAX_ASSIGNMENTS: usize = 1_000;

/// The safe methods of the bindings.
#[derive(Debug)]
pub struct SafeModel<'a> {
    /// The contract's file.
    pub file_name: &'a str,
    /// The field of structs that has the struct's size.
    pub size_field: Option<&'a str>,
    /// The types whose values have one owner.
    pub owned: Vec<OwnedType<'a>>,
    /// The functions, in the order of the header.
    pub functions: Vec<SafeFunction<'a>>,
    /// The function that enqueues a host function.
    pub host_function: Option<&'a str>,
}

/// A type whose values have one owner.
#[derive(Debug)]
pub struct OwnedType<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type of a value.
    pub ty: Type,
    /// The function that destroys a value when it is dropped; `None` if nothing does.
    pub destroy: Option<Destroy<'a>>,
    /// The owned types of the handles that every function that creates a value takes.
    pub parents: Vec<String>,
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

impl OwnedType<'_> {
    /// Returns true if a value is an address instead of a handle.
    pub fn is_address(&self) -> bool {
        matches!(self.ty, Type::Pointer { .. })
    }
}

/// A function with a safe method.
#[derive(Debug)]
pub struct SafeFunction<'a> {
    /// The function.
    pub function: &'a Function,
    /// The role of each parameter.
    pub roles: Vec<Role>,
    /// The results of the method besides `Out` and `New`.
    pub answer: Answer,
}

/// The result of a function, by its C result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A status, or nothing.
    Nothing,
    /// A status. One other value than success means `false`.
    NotFalse(i64),
    /// A number or an enumerator.
    Value,
    /// A C string that is valid forever, or null.
    Text,
}

impl Contract {
    /// Checks the contract against a model.
    ///
    /// # Errors
    /// Returns an error for a name that the header does not have, and for a role that does not fit its parameter.
    pub fn check<'a>(&'a self, model: &'a Model) -> Result<SafeModel<'a>, DriverError> {
        let checker = Checker {
            contract: self,
            model,
        };
        let owned: Result<Vec<_>, _> = self
            .statements
            .owned
            .iter()
            .map(|it| checker.owned(it))
            .collect();
        let mut owned = owned?;
        let functions = checker.functions()?;
        for it in &mut owned {
            it.parents = parents(it.name, &functions);
        }
        let safe = SafeModel {
            file_name: &self.file_name,
            size_field: self.statements.size_field.as_deref(),
            owned,
            functions,
            host_function: self.statements.host_function.as_deref(),
        };
        checker.creators(&safe)?;
        checker.host_function(&safe)?;
        Ok(safe)
    }
}

struct Checker<'a> {
    contract: &'a Contract,
    model: &'a Model,
}

type Checked<T> = Result<T, DriverError>;

impl<'a> Checker<'a> {
    fn error(&self, what: String) -> DriverError {
        DriverError::Contract {
            name: self.contract.file_name.clone(),
            what,
            help: format!(
                "the roles are {ROLES}; docs/driver.md of sp-gen's repository explains them"
            ),
        }
    }

    fn function(&self, name: &str) -> Checked<&'a Function> {
        let mut functions = self.model.functions.iter();
        let found = functions.find(|it| it.name == name);
        found
            .ok_or_else(|| self.error(format!("the header has no function `{name}` that is bound")))
    }

    fn owned(&self, (name, statement): (&'a String, &'a OwnedStatement)) -> Checked<OwnedType<'a>> {
        let is_identifier = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if !name.chars().all(is_identifier) || name.starts_with(|it: char| it.is_ascii_digit()) {
            return Err(self.error(format!("`{name}` is no name of a type")));
        }
        if let Some(other) = statement.r#type.as_deref().filter(|it| *it != "void*") {
            return Err(self.error(format!("the type of `{name}` is {other}, expected `void*`")));
        }
        let destroy = self.destroy(name, statement)?;
        let ty = match &destroy {
            Some(it) => it.function.signature.params[it.value].ty.clone(),
            None => self.handle(name, statement)?,
        };
        Ok(OwnedType {
            name,
            ty,
            destroy,
            parents: Vec::new(),
        })
    }

    /// Returns the type of a handle that no function destroys.
    fn handle(&self, name: &str, statement: &OwnedStatement) -> Checked<Type> {
        let item = self.item(name);
        let is_handle = matches!(item, Some(Item::Handle(handle)) if handle.pointer);
        match is_handle && statement.r#type.is_none() {
            true => Ok(Type::Named(name.to_owned())),
            false => Err(self.error(format!(
                "`{name}` has no `destroy`, and is no handle of the header"
            ))),
        }
    }

    /// Returns the function that destroys a value of an owned type.
    fn destroy(&self, name: &str, statement: &OwnedStatement) -> Checked<Option<Destroy<'a>>> {
        let Some(destroy) = &statement.destroy else {
            return Ok(None);
        };
        let destroy = self.function(destroy)?;
        let is_value = |param: &Param| match &statement.r#type {
            None => param.ty == Type::Named(name.to_owned()),
            Some(_) => matches!(param.ty, Type::Pointer { .. }),
        };
        let params = &destroy.signature.params;
        let value = params.iter().position(is_value);
        let value =
            value.ok_or_else(|| self.error(format!("`{}` takes no `{name}`", destroy.name)))?;
        let others = params
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != value);
        let others: Option<Vec<_>> = others
            .map(|(_, param)| self.owned_name(&param.ty))
            .collect();
        let others = others.ok_or_else(|| {
            let name = &destroy.name;
            self.error(format!(
                "`{name}` cannot destroy an owned value: it also takes a value that is no handle of [owned]"
            ))
        })?;
        Ok(Some(Destroy {
            function: destroy,
            value,
            others,
        }))
    }

    /// Returns the owned type of a handle.
    fn owned_name(&self, ty: &Type) -> Option<&'a str> {
        let Type::Named(name) = ty else {
            return None;
        };
        let (name, statement) = self.contract.statements.owned.get_key_value(name)?;
        statement.r#type.is_none().then_some(name.as_str())
    }

    fn functions(&self) -> Checked<Vec<SafeFunction<'a>>> {
        let statements = &self.contract.statements.functions;
        for name in statements.keys() {
            self.function(name)?;
        }
        let bound = self.model.functions.iter();
        let stated = bound.filter_map(|function| Some((function, statements.get(&function.name)?)));
        stated
            .map(|(function, roles)| self.safe_function(function, roles))
            .collect()
    }

    fn safe_function(
        &self,
        function: &'a Function,
        stated: &BTreeMap<String, String>,
    ) -> Checked<SafeFunction<'a>> {
        let params = &function.signature.params;
        let known = |name: &str| name == "return" || params.iter().any(|it| it.name == name);
        if let Some(unknown) = stated.keys().find(|name| !known(name)) {
            return Err(self.error(format!("`{}` has no parameter `{unknown}`", function.name)));
        }
        if self
            .contract
            .statements
            .owned
            .values()
            .any(|it| it.destroy.as_ref() == Some(&function.name))
        {
            let name = &function.name;
            return Err(self.error(format!(
                "`{name}` destroys owned values, so it has no safe method"
            )));
        }
        let roles = params
            .iter()
            .map(|param| self.role(function, param, stated.get(&param.name)));
        let mut roles: Vec<Role> = roles.collect::<Checked<_>>()?;
        self.add_companions(function, &mut roles)?;
        for (param, role) in params.iter().zip(&roles) {
            self.check_role(function, param, role)?;
        }
        let answer = self.answer(function, stated.get("return"))?;
        let has_closure = roles.iter().any(|it| matches!(it, Role::Function(_)));
        if has_closure && matches!(answer, Answer::NotFalse(_)) {
            let name = &function.name;
            return Err(self.error(format!(
                "`{name}` takes a function, so its result cannot be `false`: whether the driver then calls the function is not stated"
            )));
        }
        Ok(SafeFunction {
            function,
            roles,
            answer,
        })
    }

    /// Adds the roles of lengths and of a function's data, which follow from those of the pointers.
    fn add_companions(&self, function: &Function, roles: &mut [Role]) -> Checked<()> {
        for index in 0..roles.len() {
            let Some((other, role)) = roles[index].companion() else {
                continue;
            };
            let param = &function.signature.params[other];
            let is_data = matches!(roles[index], Role::Function(_));
            let reason = if roles[other] != Role::Value {
                "has two roles: a length belongs to one pointer, and needs no entry"
            } else if !is_data && !self.is_number(&param.ty) {
                "is no number, so it cannot be a length"
            } else {
                roles[other] = role;
                continue;
            };
            let (param, function) = (&param.name, &function.name);
            return Err(self.error(format!("parameter `{param}` of `{function}` {reason}")));
        }
        Ok(())
    }

    fn role(&self, function: &Function, param: &Param, stated: Option<&String>) -> Checked<Role> {
        let error = |reason: String| {
            self.error(format!(
                "parameter `{}` of `{}` {reason}",
                param.name, function.name
            ))
        };
        match stated {
            Some(text) => Role::parse(text, param, &function.signature.params).map_err(error),
            None => Ok(match self.owned_name(&param.ty) {
                Some(name) => Role::Handle(name.to_owned()),
                None => Role::Value,
            }),
        }
    }

    /// Checks what a role demands of types.
    fn check_role(&self, function: &Function, param: &Param, role: &Role) -> Checked<()> {
        let owned = &self.contract.statements.owned;
        let error = |reason: &str| {
            let (param, function) = (&param.name, &function.name);
            self.error(format!("parameter `{param}` of `{function}` {reason}"))
        };
        let reason = match role {
            Role::Value | Role::Length if !self.is_number(&param.ty) => {
                "is no number and no owned handle: state its role, or name its type in [owned]"
            }
            Role::Address if !self.is_address(&param.ty) => {
                "is no pointer, and no integer as wide as one"
            }
            Role::Out(ty) | Role::In(ty) | Role::Optional(ty) | Role::Slice(ty, _) => {
                match self.find_problem_of_value(ty, !matches!(role, Role::Out(_))) {
                    Some(problem) => return Err(error(&problem)),
                    None => return Ok(()),
                }
            }
            Role::New(name) if !owned.contains_key(name) => {
                "creates a type that [owned] does not have"
            }
            Role::Function(data) if !self.is_callback(&param.ty, &function.signature, *data) => {
                "is no function of the type `void (*)(void*)`"
            }
            Role::Source(_) | Role::Target(_) if !self.has_queue(function) => {
                "needs a status as the result, and one parameter of the type of the first one of `host_function`"
            }
            _ => return Ok(()),
        };
        Err(error(reason))
    }

    fn item(&self, name: &str) -> Option<&'a Item> {
        self.model.item(name)
    }

    /// Returns the type that a typedef names.
    fn resolve<'t>(&'t self, ty: &'t Type) -> &'t Type {
        self.model.resolve(ty)
    }

    /// Returns true if a variable can have the type: its size is that of the driver's values.
    fn has_size(&self, ty: &Type) -> bool {
        match self.resolve(ty) {
            Type::Void => false,
            Type::Array { elem, len } => *len > 0 && self.has_size(elem),
            Type::Named(name) => match self.item(name) {
                Some(Item::Handle(handle)) => handle.pointer,
                Some(Item::Struct(_) | Item::Union(_) | Item::Enum(_) | Item::Callback(_)) => true,
                Some(_) => false,
                None => self.model.opaque_values.contains_key(name),
            },
            _ => true,
        }
    }

    /// Returns the reason why a safe method cannot have a value of this type, or `None` if it can. `is_chosen` is true for
    /// a value that the caller chooses.
    fn find_problem_of_value(&self, ty: &Type, is_chosen: bool) -> Option<String> {
        if !self.has_size(ty) {
            return Some(
                "is a pointer to a type without a size: `void`, or one that the header does not define".to_owned(),
            );
        }
        if is_chosen && let Some(part) = UnsafePart::find(self.model, ty) {
            return Some(part.to_string());
        }
        let field = self.contract.statements.size_field.as_deref()?;
        let sizes = StatedSizes::new(self.model, field).find(ty);
        if sizes.is_hidden {
            return Some(
                "has a type in which no assignment sets the `size_field` of each struct: one with a union, a bit-field or bytes".to_owned(),
            );
        }
        let has_many = sizes.assignments > MAX_ASSIGNMENTS;
        has_many
            .then(|| "has a type that contains the `size_field` more than 1,000 times".to_owned())
    }

    /// Returns true for a pointer, and for an integer as wide as one. Layouts are those of 64-bit Linux.
    fn is_address(&self, ty: &Type) -> bool {
        matches!(
            self.resolve(ty),
            Type::Pointer { .. } | Type::Int { bits: 64, .. } | Type::Size | Type::Address { .. }
        )
    }

    fn is_number(&self, ty: &Type) -> bool {
        match self.resolve(ty) {
            Type::Named(name) => matches!(self.item(name), Some(Item::Enum(_))),
            Type::Void | Type::Pointer { .. } | Type::Array { .. } | Type::Function(_) => false,
            _ => true,
        }
    }

    fn is_callback(&self, ty: &Type, signature: &Signature, data: usize) -> bool {
        let void = |ty: &Type| matches!(ty, Type::Pointer { pointee, mutable: true } if **pointee == Type::Void);
        let callback = match ty {
            Type::Function(callback) => &**callback,
            Type::Named(name) => match self.item(name) {
                Some(Item::Callback(callback)) => &callback.signature,
                _ => return false,
            },
            _ => return false,
        };
        let takes_data = matches!(&callback.params[..], [param] if void(&param.ty));
        takes_data && callback.ret == Type::Void && void(&signature.params[data].ty)
    }

    /// Returns true if host functions can be enqueued behind the function.
    fn has_queue(&self, function: &Function) -> bool {
        let host_function = self.contract.statements.host_function.as_ref();
        let host_function = host_function.and_then(|name| self.function(name).ok());
        let queue = host_function.and_then(|it| Some(&it.signature.params.first()?.ty));
        let is_queue = |param: &&Param| Some(&param.ty) == queue;
        let queues = function.signature.params.iter().filter(is_queue);
        let is_status = |it: &Status| it.ty == function.signature.ret;
        let has_status = self.model.status.as_ref().is_some_and(is_status);
        has_status && queues.count() == 1
    }

    fn answer(&self, function: &Function, stated: Option<&String>) -> Checked<Answer> {
        let result = &function.signature.ret;
        let status = self.model.status.as_ref();
        let is_status = status.is_some_and(|it| it.ty == *result);
        let text = stated.map(String::as_str);
        let words = text.map(|it| it.split_once(' ').unwrap_or((it, "")));
        Ok(match (words, result) {
            (Some(("false", name)), _) if is_status => {
                let value = self.model.value(name);
                let error = || self.error(format!("the header has no value `{name}`"));
                Answer::NotFalse(value.ok_or_else(error)?)
            }
            (Some(("string", "")), Type::Pointer { pointee, .. }) if **pointee == Type::Char => {
                Answer::Text
            }
            (None, Type::Void) => Answer::Nothing,
            (None, _) if is_status => Answer::Nothing,
            (None, ty) if self.is_number(ty) => Answer::Value,
            _ => {
                let name = &function.name;
                let reason = "expected a status, a number, `string`, or `false VALUE` of a status";
                return Err(self.error(format!("the result of `{name}` has no role: {reason}")));
            }
        })
    }

    /// Checks that each function that creates an owned value has the handles that destroy it.
    fn creators(&self, safe: &SafeModel) -> Checked<()> {
        for it in &safe.owned {
            let Some(destroy) = &it.destroy else {
                continue;
            };
            let is_missing = |parent: &&&str| !it.parents.iter().any(|known| known == **parent);
            if let Some(parent) = destroy.others.iter().find(is_missing) {
                let (name, destroy) = (it.name, &destroy.function.name);
                let what = format!(
                    "not each function that creates `{name}` has a `{parent}`, which `{destroy}` needs"
                );
                return Err(self.error(what));
            }
            self.has_one_of_each(it.name, destroy, &safe.functions)?;
        }
        Ok(())
    }

    /// Checks that no function creates the owned type with two handles of a type of which `destroy` needs one.
    fn has_one_of_each(
        &self,
        name: &str,
        destroy: &Destroy,
        functions: &[SafeFunction],
    ) -> Checked<()> {
        let created = Role::New(name.to_owned());
        for creator in functions.iter().filter(|it| it.roles.contains(&created)) {
            let count = |parent: &&str| {
                let is_parent = |it: &&Role| matches!(it, Role::Handle(name) if name == parent);
                creator.roles.iter().filter(is_parent).count()
            };
            let mut needed = destroy.others.iter().copied();
            if let Some(parent) = needed.find(|parent| count(parent) > 1) {
                let (creator, destroy) = (&creator.function.name, &destroy.function.name);
                return Err(self.error(format!(
                    "`{creator}` creates `{name}` with several `{parent}`, and `{destroy}` needs one of them"
                )));
            }
        }
        Ok(())
    }

    fn host_function(&self, safe: &SafeModel) -> Checked<()> {
        let Some(name) = safe.host_function else {
            return Ok(());
        };
        let stated = safe.functions.iter().find(|it| it.function.name == name);
        let is_usable = stated.is_some_and(|it| {
            matches!(
                it.roles[..],
                [Role::Handle(_), Role::Function(_), Role::Implied]
            )
        });
        match is_usable {
            true => Ok(()),
            false => Err(self.error(format!(
                "host_function `{name}` is not among [functions] with an owned handle, a function and its data"
            ))),
        }
    }
}

/// Returns the owned types of the handles that each function takes that creates the owned type `name`.
fn parents(name: &str, functions: &[SafeFunction]) -> Vec<String> {
    let created = Role::New(name.to_owned());
    let mut creators = functions.iter().filter(|it| it.roles.contains(&created));
    let Some(first) = creators.next() else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for role in &first.roles {
        let Role::Handle(parent) = role else {
            continue;
        };
        let is_common = creators.clone().all(|it| it.roles.contains(role));
        if is_common && !found.contains(parent) {
            found.push(parent.clone());
        }
    }
    found
}
