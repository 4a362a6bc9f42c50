//! Checks a contract against the declarations of the header.

use std::collections::BTreeMap;

use sp_ir::{Item, Param, Signature, Type};

use super::owned::{Owners, is_address};
use super::unsafe_part::UnsafePart;
use super::{Contract, OwnedType, Role, creators, help, size_field};
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

impl SafeModel<'_> {
    /// Returns the names of the owned types that no function creates.
    pub fn never_created(&self) -> impl Iterator<Item = &str> {
        let is_created = |name: &&str| self.functions.iter().any(|it| it.creates(name));
        let names = self.owned.iter().map(|it| it.name);
        names.filter(move |name| !is_created(name))
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
    /// A number or an enumerator, also one that is no error of a status.
    Value,
    /// A C string that is valid forever, or null.
    Text,
    /// A value of the owned type with this name, which the function creates.
    New(String),
}

impl SafeFunction<'_> {
    /// Returns true if the function creates a value of the owned type `name`.
    pub fn creates(&self, name: &str) -> bool {
        let is_created = |role: &Role| matches!(role, Role::New(created) if created == name);
        let is_result = matches!(&self.answer, Answer::New(created) if created == name);
        is_result || self.roles.iter().any(is_created)
    }
}

impl Contract {
    /// Checks the contract against a model.
    ///
    /// # Errors
    /// Returns an error for a name that the header does not have, and for a role that does not fit its parameter.
    pub fn check<'a>(&'a self, model: &'a Model) -> Result<SafeModel<'a>, DriverError> {
        let owners = Owners::new(self, model)?;
        let owned = self.statements.owned.iter();
        let owned: Result<Vec<_>, _> = owned.map(|it| owners.owned_type(it)).collect();
        let mut owned = owned?;
        let checker = Checker {
            contract: self,
            model,
            owners,
        };
        if let Some(name) = &self.statements.host_function {
            self.function(model, name)?;
        }
        let functions = checker.functions()?;
        for it in &mut owned {
            it.parents = creators::parents(it.name, &functions);
        }
        let safe = SafeModel {
            file_name: &self.file_name,
            size_field: self.statements.size_field.as_deref(),
            owned,
            functions,
            host_function: self.statements.host_function.as_deref(),
        };
        creators::check(self, &safe)?;
        checker.host_function(&safe)?;
        size_field::check(self, model, &safe)?;
        Ok(safe)
    }

    /// Returns a bound function.
    pub(super) fn function<'a>(&self, model: &'a Model, name: &str) -> Checked<&'a Function> {
        let mut functions = model.functions.iter();
        let found = functions.find(|it| it.name == name);
        found.ok_or_else(|| {
            let what = format!("the header has no function `{name}` that is bound");
            self.error(what, help::function(model, name))
        })
    }

    pub(super) fn error(&self, what: String, help: String) -> DriverError {
        DriverError::Contract {
            name: self.file_name.clone(),
            what,
            help,
        }
    }
}

struct Checker<'a> {
    contract: &'a Contract,
    model: &'a Model,
    owners: Owners<'a>,
}

type Checked<T> = Result<T, DriverError>;

impl<'a> Checker<'a> {
    fn error(&self, what: String, help: String) -> DriverError {
        self.contract.error(what, help)
    }

    fn functions(&self) -> Checked<Vec<SafeFunction<'a>>> {
        let statements = &self.contract.statements.functions;
        for name in statements.keys() {
            self.contract.function(self.model, name)?;
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
            let what = format!("`{}` has no parameter `{unknown}`", function.name);
            return Err(self.error(what, help::parameter(function, unknown)));
        }
        if self
            .contract
            .statements
            .owned
            .values()
            .any(|it| it.destroy.as_ref() == Some(&function.name))
        {
            let what = format!(
                "`{}` destroys owned values, so it has no safe method",
                function.name
            );
            return Err(self.error(what, "remove its entry of [functions]".to_owned()));
        }
        let roles = params
            .iter()
            .map(|param| self.role(function, param, stated.get(&param.name)));
        let mut roles: Vec<Role> = roles.collect::<Checked<_>>()?;
        self.add_companions(function, &mut roles)?;
        for (param, role) in params.iter().zip(&roles) {
            self.check_role(function, param, role, &roles)?;
        }
        let answer = self.answer(function, stated.get("return"))?;
        let has_closure = roles.iter().any(|it| matches!(it, Role::Function(_)));
        if has_closure && matches!(answer, Answer::NotFalse(_) | Answer::New(_)) {
            let what = format!(
                "`{}` takes a function, so its result cannot be `false` or `new`: whether the driver then calls the function is not stated",
                function.name
            );
            return Err(self.error(what, help::result(function, self.model.status.as_ref())));
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
            let reason = if matches!(roles[other], Role::Handle(_)) {
                "is an owned value, so it is neither a length nor data"
            } else if roles[other] != Role::Value {
                "has two roles: a length belongs to one pointer, and needs no entry"
            } else if !is_data && !self.is_number(&param.ty) {
                "is no number, so it cannot be a length"
            } else {
                roles[other] = role;
                continue;
            };
            return Err(self.parameter_error(function, param, reason, help::roles()));
        }
        Ok(())
    }

    fn role(
        &self,
        function: &'a Function,
        param: &Param,
        stated: Option<&String>,
    ) -> Checked<Role> {
        let owners = self.owners.find(&param.ty);
        match (stated, owners) {
            (Some(text), _) => {
                let role = Role::parse(text, param, &function.signature.params);
                let role = role.map_err(|reason| {
                    let help = help::role(function, text, &self.numbers(function));
                    self.parameter_error(function, param, &reason, help)
                });
                let role = self.with_owner(role?, text, param);
                self.check_owned(function, param, &role, text)?;
                Ok(role)
            }
            (None, []) => Ok(Role::Value),
            (None, [name]) => Ok(Role::Handle((*name).to_owned())),
            (None, names) => {
                let reason = format!("is a value of several owned types: {}", names.join(", "));
                let help = "an address has the role `address`; leave the function out otherwise";
                Err(self.parameter_error(function, param, &reason, help.to_owned()))
            }
        }
    }

    /// Returns the role `new` with the owned type whose values the pointee has, if that has another name.
    fn with_owner(&self, role: Role, text: &str, param: &Param) -> Role {
        match (&role, &param.ty) {
            (Role::New(_), Type::Pointer { pointee, .. }) if text == "new" => {
                let owner = self.owners.find_one(pointee);
                owner.map_or(role, |name| Role::New(name.to_owned()))
            }
            _ => role,
        }
    }

    /// Rejects a role by which a safe caller could choose the value behind a pointer that is an owned value.
    fn check_owned(
        &self,
        function: &Function,
        param: &Param,
        role: &Role,
        text: &str,
    ) -> Checked<()> {
        let is_value = matches!(param.ty, Type::Pointer { .. });
        match self.owners.find(&param.ty) {
            [name, ..] if is_value && !matches!(role, Role::Address | Role::Null) => {
                let reason = format!("is an owned `{name}`, which cannot have the role `{text}`");
                let help = "remove the role: an owned value needs none. `null` and `address` are the others that it can have";
                Err(self.parameter_error(function, param, &reason, help.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn parameter_error(
        &self,
        function: &Function,
        param: &Param,
        reason: &str,
        help: String,
    ) -> DriverError {
        let (param, function) = (&param.name, &function.name);
        self.error(
            format!("parameter `{param}` of `{function}` {reason}"),
            help,
        )
    }

    /// Checks what a role demands of types.
    fn check_role(
        &self,
        function: &Function,
        param: &Param,
        role: &Role,
        roles: &[Role],
    ) -> Checked<()> {
        let error = |reason: &str, help| Err(self.parameter_error(function, param, reason, help));
        let problem = match role {
            Role::Value | Role::Length if !self.is_number(&param.ty) => Some(
                "is no number and no owned handle: state its role, or name its type in [owned]"
                    .to_owned(),
            ),
            Role::Address if !is_address(self.model, &param.ty) => {
                Some("is no pointer, and no integer as wide as one".to_owned())
            }
            Role::Out(ty) => self.find_problem_of_value(ty),
            Role::In(ty) | Role::InOut(ty) | Role::Optional(ty) | Role::Slice(ty, _) => {
                if let Some(part) = self.find_unsafe_part(ty) {
                    return error(&part, help::unsafe_method(function));
                }
                self.find_problem_of_value(ty)
            }
            Role::New(name) => {
                let problem = match &param.ty {
                    Type::Pointer { pointee, .. } => {
                        self.find_problem_of_new(name, "a pointer to", pointee)
                    }
                    _ => Some("is no pointer".to_owned()),
                };
                return problem.map_or(Ok(()), |problem| error(&problem, help::owned()));
            }
            Role::Function(data) if !self.is_callback(&param.ty, &function.signature, *data) => {
                Some("is no function of the type `void (*)(void*)`".to_owned())
            }
            Role::Source(_) | Role::Target(_) if !self.has_queue(function, roles) => {
                let reason = "needs a status as the result, and one parameter of the type of the first one of `host_function`";
                let host_function = self.contract.statements.host_function.as_deref();
                let status = self.model.status.as_ref();
                return error(reason, help::queue(function, status, host_function));
            }
            // The bytes behind a pointer to a type without a size are data.
            Role::Source(_) => {
                let part = match &param.ty {
                    Type::Pointer { pointee, .. } => self.find_unsafe_part(pointee),
                    _ => None,
                };
                return part.map_or(Ok(()), |it| error(&it, help::unsafe_method(function)));
            }
            _ => None,
        };
        problem.map_or(Ok(()), |problem| error(&problem, help::roles()))
    }

    /// Returns the reason why a value of the C type cannot be a new one of the owned type, or `None` if it can.
    /// `relation` is that of the parameter or result to the type.
    fn find_problem_of_new(&self, name: &str, relation: &str, ty: &Type) -> Option<String> {
        let Some(statement) = self.contract.statements.owned.get(name) else {
            return Some("creates a type that [owned] does not have".to_owned());
        };
        let owners = self.owners.find(ty);
        let is_other = !owners.is_empty() && !owners.contains(&name);
        let has_type = match &statement.r#type {
            Some(_) => is_address(self.model, ty),
            None => self.owners.has_values(name, ty),
        };
        let problem = || {
            let ty = sp_ir::c::spell(ty);
            format!("is {relation} `{ty}`, which is no `{name}`")
        };
        (is_other || !has_type).then(problem)
    }

    /// Returns the role of a result that the function creates: of the owned type `name`, or of that of the result's type.
    fn new_result(&self, function: &Function, name: &str) -> Checked<Answer> {
        let result = &function.signature.ret;
        let name = match name {
            "" => self.owners.find_one(result).unwrap_or_default(),
            name => name,
        };
        let problem = match name {
            "" => Some("is of no type, or of several, of [owned]: write `new NAME`".to_owned()),
            name => self.find_problem_of_new(name, "of the type", result),
        };
        match problem {
            None => Ok(Answer::New(name.to_owned())),
            Some(problem) => {
                let what = format!("the result of `{}` {problem}", function.name);
                Err(self.error(what, help::owned()))
            }
        }
    }

    /// Returns the reason why a safe caller must not choose a value of this type, or `None` if it can. A type without a size
    /// has no values.
    fn find_unsafe_part(&self, ty: &Type) -> Option<String> {
        let is_sized = self.has_size(ty);
        let part = is_sized.then(|| UnsafePart::find(self.model, &self.owners, ty));
        part.flatten().map(|part| part.to_string())
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

    /// Returns the reason why a safe method cannot have a value of this type, or `None` if it can.
    fn find_problem_of_value(&self, ty: &Type) -> Option<String> {
        if !self.has_size(ty) {
            return Some(
                "is a pointer to a type without a size: `void`, or one that the header does not define".to_owned(),
            );
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

    /// Returns the names of a function's parameters that are numbers.
    fn numbers(&self, function: &'a Function) -> Vec<&'a str> {
        let params = function.signature.params.iter();
        let is_number = |it: &&Param| self.is_number(&it.ty) && self.owners.find(&it.ty).is_empty();
        params
            .filter(is_number)
            .map(|it| it.name.as_str())
            .collect()
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
    fn has_queue(&self, function: &Function, roles: &[Role]) -> bool {
        let host_function = self.contract.statements.host_function.as_ref();
        let host_function =
            host_function.and_then(|name| self.contract.function(self.model, name).ok());
        let queue = host_function.and_then(|it| it.signature.params.first());
        let queue = queue.and_then(|it| self.owners.find_one(&it.ty));
        let is_queue =
            |role: &&Role| matches!(role, Role::Handle(name) if Some(name.as_str()) == queue);
        let queues = roles.iter().filter(is_queue);
        let is_status = |it: &Status| it.ty == function.signature.ret && !it.has_results;
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
                let error = || {
                    let what = format!("the header has no value `{name}`");
                    self.error(what, help::value(self.model, name))
                };
                Answer::NotFalse(value.ok_or_else(error)?)
            }
            (Some(("string", "")), Type::Pointer { pointee, .. }) if **pointee == Type::Char => {
                Answer::Text
            }
            (Some(("new", name)), _) if !is_status => self.new_result(function, name)?,
            (None, Type::Void) => Answer::Nothing,
            (None, _) if status.is_some_and(|it| is_status && !it.has_results) => Answer::Nothing,
            (None, ty) if self.is_number(ty) => Answer::Value,
            _ => {
                let name = &function.name;
                let reason =
                    "expected a status, a number, `string`, `new`, or `false VALUE` of a status";
                let what = format!("the result of `{name}` has no role: {reason}");
                return Err(self.error(what, help::result(function, status)));
            }
        })
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
            false => {
                let what = format!(
                    "host_function `{name}` is not among [functions] with an owned handle, a function and its data"
                );
                let function = self.contract.function(self.model, name)?;
                Err(self.error(what, help::host_function(function)))
            }
        }
    }
}
