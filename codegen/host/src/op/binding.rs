//! Attributes that follow from the inputs of a call: element types, and the lengths of lists.

use super::argument::{ArgumentTypes, OpArgument};
use super::{ArgumentSource, Op};
use crate::core::{ArgumentPlacement, Attr};
use crate::{DType, Error, Tensor};

impl Op {
    /// Returns the op with the attributes that follow from `inputs`, and the defaults of others.
    pub(crate) fn with_types_of(&self, inputs: &[Tensor]) -> Result<Self, Error> {
        let mut bound = self.clone();
        let mut rest = inputs;
        for (argument, count) in self.inputs.iter().zip(self.input_counts(inputs.len())?) {
            let (tensors, after) = rest.split_at(count);
            bound.bind_argument(argument, tensors)?;
            rest = after;
        }
        for (name, value) in &self.defaults {
            bound
                .attrs
                .entry(name.clone())
                .or_insert_with(|| value.clone());
        }
        match self
            .required
            .iter()
            .find(|name| !bound.attrs.contains_key(*name))
        {
            Some(name) => Err(self.missing_attr(name)),
            None => Ok(bound),
        }
    }

    /// Returns the number of tensors of each input. Lists whose length no attribute states share what remains.
    fn input_counts(&self, given: usize) -> Result<Vec<usize>, Error> {
        let counts = self.inputs.iter();
        let counts = counts.map(|it| it.types.tensor_count(&self.attrs));
        let counts: Vec<Option<usize>> = counts.collect();
        let known = counts.iter().flatten();
        let known = known.fold(0_usize, |sum, it| sum.saturating_add(*it));
        let open = counts.iter().filter(|it| it.is_none()).count();
        let rest = given
            .checked_sub(known)
            .ok_or_else(|| self.wrong_count(given))?;
        if open == 0 && rest > 0 {
            return Err(self.wrong_count(given));
        }
        let undecided = self.undecided_lists();
        if undecided.len() > 1 || open > 0 && rest % open != 0 {
            return Err(self.missing_attr(undecided.first().copied().unwrap_or_default()));
        }
        let share = rest.checked_div(open).unwrap_or(0);
        Ok(counts.into_iter().map(|it| it.unwrap_or(share)).collect())
    }

    /// Returns the attributes that would decide the lengths of lists, and are not set.
    fn undecided_lists(&self) -> Vec<&str> {
        let open = self
            .inputs
            .iter()
            .filter(|it| it.types.tensor_count(&self.attrs).is_none());
        let mut attrs: Vec<&str> = open.filter_map(|it| it.types.count_attr()).collect();
        attrs.dedup();
        attrs
    }

    fn bind_argument(&mut self, argument: &OpArgument, tensors: &[Tensor]) -> Result<(), Error> {
        match &argument.types {
            ArgumentTypes::List(attr) => {
                let types = tensors.iter().map(|it| Attr::Type(it.dtype()));
                let types = Attr::List(types.collect());
                let bound = self.attrs.entry(attr.clone());
                let bound = bound.or_insert_with(|| types.clone());
                let matches = *bound == types;
                let (bound, name) = (bound.to_string(), &argument.name);
                self.check(matches, || format!("takes {bound} for {name}, not {types}"))
            }
            ArgumentTypes::Repeated { count, element } => {
                let length = i64::try_from(tensors.len()).unwrap_or(i64::MAX);
                self.attrs.entry(count.clone()).or_insert(Attr::Int(length));
                let mut tensors = tensors.iter();
                tensors.try_for_each(|it| self.bind(&argument.name, element, it.dtype()))
            }
            single => {
                let mut tensors = tensors.iter();
                tensors.try_for_each(|it| self.bind(&argument.name, single, it.dtype()))
            }
        }
    }

    fn bind(&mut self, name: &str, types: &ArgumentTypes, dtype: DType) -> Result<(), Error> {
        let expected = match types {
            ArgumentTypes::Fixed(expected) => *expected,
            ArgumentTypes::Attr(attr) => {
                let bound = self.attrs.entry(attr.clone()).or_insert(Attr::Type(dtype));
                match bound {
                    Attr::Type(expected) => *expected,
                    _ => dtype,
                }
            }
            // The elements of lists are one of the above.
            _ => dtype,
        };
        self.check(expected == dtype, || {
            format!("takes {expected} for {name}, not {dtype}")
        })
    }

    fn check(&self, holds: bool, text: impl FnOnce() -> String) -> Result<(), Error> {
        match holds {
            true => Ok(()),
            false => Err(Error::Misuse(format!("{} {}", self.name, text()))),
        }
    }

    /// Returns the inputs, those in `host_memory` in host memory.
    pub(crate) fn input_placements(
        &self,
        host_memory: &[String],
    ) -> Result<Vec<ArgumentPlacement>, Error> {
        self.placements(&self.inputs, host_memory)
    }

    /// Returns the outputs, those in `host_memory` in host memory.
    pub(crate) fn output_placements(
        &self,
        host_memory: &[String],
    ) -> Result<Vec<ArgumentPlacement>, Error> {
        self.placements(&self.outputs, host_memory)
    }

    fn placements(
        &self,
        arguments: &[OpArgument],
        host_memory: &[String],
    ) -> Result<Vec<ArgumentPlacement>, Error> {
        let mut placements = Vec::new();
        for argument in arguments {
            let dtypes = argument.dtypes(&self.attrs);
            let dtypes = dtypes.map_err(|attr| self.missing_attr(attr))?;
            let placement = |dtype: &DType| placement(&argument.name, *dtype, host_memory);
            placements.extend(dtypes.iter().map(placement));
        }
        Ok(placements)
    }

    fn missing_attr(&self, attr: &str) -> Error {
        let text = format!("needs its attribute {attr}: add .attr(\"{attr}\", VALUE)");
        Error::Misuse(format!("{} {text}", self.name))
    }

    fn wrong_count(&self, given: usize) -> Error {
        let (name, expected) = (&self.name, self.inputs.len());
        if let ArgumentSource::Undefined(reason) = &self.source {
            return Error::Misuse(format!(
                "the arguments of {name} are not known: {reason}; add them as in Op::new(\"{name}\").input(\"x\", \"T\")\
                 .output(\"y\", \"T\"), where T is the attribute with the element type"
            ));
        }
        let names: Vec<&str> = self.inputs.iter().map(|it| it.name.as_str()).collect();
        let names = match names.is_empty() {
            true => String::new(),
            false => format!(" ({})", names.join(", ")),
        };
        Error::Misuse(format!(
            "{name} takes {expected} inputs{names}, not {given}"
        ))
    }
}

fn placement(name: &str, dtype: DType, host_memory: &[String]) -> ArgumentPlacement {
    // Resource handles, strings and variants are always in host memory.
    let always = [DType::RESOURCE, DType::STRING, DType::VARIANT];
    ArgumentPlacement {
        name: name.to_owned(),
        dtype,
        on_host: always.contains(&dtype) || host_memory.iter().any(|it| it == name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(count: usize) -> Vec<Tensor> {
        vec![Tensor::from([1], &[1f32]); count]
    }

    fn error(op: &Op, inputs: &[Tensor]) -> String {
        op.with_types_of(inputs).unwrap_err().to_string()
    }

    #[test]
    fn type_attributes_are_those_of_inputs() {
        let inputs = [Tensor::from([1], &[1f32]), Tensor::from([1], &[0i64])];
        let op = Op::new("Sum").with_types_of(&inputs).unwrap();
        assert_eq!(op.attrs["T"], Attr::Type(DType::FLOAT));
        assert_eq!(op.attrs["Tidx"], Attr::Type(DType::INT64));
        assert_eq!(op.attrs["keep_dims"], Attr::Bool(false));
        let placements = op.input_placements(&["reduction_indices".into()]).unwrap();
        assert!(!placements[0].on_host && placements[1].on_host);
    }

    #[test]
    fn every_op_of_tensorflow_has_its_arguments() {
        for name in sp_ops::names() {
            let op = Op::new(name);
            let is_defined = op.source == ArgumentSource::Definition;
            assert_eq!(
                is_defined,
                crate::core::find_core_op(name).is_ok(),
                "{name}"
            );
        }
        let op = Op::new("Softsign").with_types_of(&floats(1)).unwrap();
        assert_eq!(op.output_placements(&[]).unwrap()[0].name, "activations");
    }

    #[test]
    fn rejects_two_types_for_one_attribute() {
        let inputs = [Tensor::from([1], &[1f32]), Tensor::from([1], &[1f64])];
        let error = error(&Op::new("AddV2"), &inputs);
        assert!(error.contains("takes FLOAT for y"), "{error}");
    }

    #[test]
    fn lists_have_the_length_of_the_inputs() {
        let add = Op::new("AddN").with_types_of(&floats(3)).unwrap();
        assert_eq!(add.attrs["N"], Attr::Int(3));
        assert_eq!(add.input_placements(&[]).unwrap().len(), 3);
        let axis = Tensor::scalar(0i32);
        let concat = [floats(2), vec![axis]].concat();
        let concat = Op::new("ConcatV2").with_types_of(&concat).unwrap();
        assert_eq!(concat.attrs["N"], Attr::Int(2));
        let split = [vec![Tensor::scalar(0i32)], floats(1)].concat();
        let split = Op::new("Split")
            .attr("num_split", 4_i64)
            .with_types_of(&split);
        assert_eq!(split.unwrap().output_placements(&[]).unwrap().len(), 4);
        let mixed = [Tensor::scalar(0i32), Tensor::scalar(1f32)];
        let mixed = Op::new("IdentityN").with_types_of(&mixed).unwrap();
        let types = mixed.output_placements(&[]).unwrap();
        let expected = [DType::INT32, DType::FLOAT];
        assert_eq!([types[0].dtype, types[1].dtype], expected);
    }

    #[test]
    fn rejects_lists_of_undecided_length() {
        let op = Op::new("AddN").attr("N", 2_i64);
        assert!(error(&op, &floats(3)).contains("takes 1 inputs (inputs), not 3"));
        // Sparse and dense inputs have an attribute each.
        let error = error(&Op::new("ParseExample"), &floats(9));
        assert!(error.contains("needs its attribute"), "{error}");
    }

    #[test]
    fn rejects_lists_of_excessive_length() {
        let split = Op::new("Split").attr("num_split", i64::MAX);
        let inputs = [vec![Tensor::scalar(0i32)], floats(1)].concat();
        let split = split.with_types_of(&inputs).unwrap();
        assert!(split.output_placements(&[]).is_err());
        let batch = Op::new("ParseExample").attr("Nsparse", i64::MAX);
        let batch = batch.attr("Ndense", i64::MAX);
        assert!(error(&batch, &floats(9)).contains("inputs"));
    }

    #[test]
    fn rejects_missing_attribute() {
        let error_of = |op: Op, inputs: usize| error(&op, &floats(inputs));
        let message = error_of(Op::new("Cast"), 1);
        assert!(message.contains("add .attr(\"DstT\", VALUE)"), "{message}");
        assert!(error_of(Op::new("Conv2D"), 2).contains("needs its attribute"));
        let cast = Op::new("Cast").attr("DstT", DType::INT32);
        let cast = cast.with_types_of(&floats(1)).unwrap();
        assert_eq!(cast.output_placements(&[]).unwrap()[0].dtype, DType::INT32);
    }

    #[test]
    fn unknown_op_says_how_to_state_its_arguments() {
        let message = error(&Op::new("Softsgn"), &floats(1));
        assert!(message.contains("Op::new(\"Softsgn\").input("), "{message}");
        let op = Op::new("Softsgn").input("x", "T").output("y", "T");
        assert!(op.with_types_of(&floats(1)).is_ok());
    }

    #[test]
    fn arguments_of_the_test_replace_those_of_the_definition() {
        let op = Op::new("Conv2D").input("x", "T").output("y", "T");
        let op = op.with_types_of(&floats(1)).unwrap();
        assert!(op.has_argument("x") && !op.has_argument("filter"));
        assert_eq!(op.attrs["data_format"], Attr::from("NHWC"));
    }
}
