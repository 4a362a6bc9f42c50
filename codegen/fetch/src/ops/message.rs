//! The parts of TensorFlow's protocol buffers that define ops. Fields that are not listed are ignored.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct OpList {
    #[prost(message, repeated, tag = "1")]
    pub op: Vec<OpDefMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OpDefMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, repeated, tag = "2")]
    pub input_arg: Vec<ArgDef>,
    #[prost(message, repeated, tag = "3")]
    pub output_arg: Vec<ArgDef>,
    #[prost(message, repeated, tag = "4")]
    pub attr: Vec<AttrDef>,
    #[prost(message, optional, tag = "8")]
    pub deprecation: Option<OpDeprecation>,
    #[prost(bool, tag = "16")]
    pub is_aggregate: bool,
    #[prost(bool, tag = "17")]
    pub is_stateful: bool,
    #[prost(bool, tag = "18")]
    pub is_commutative: bool,
    #[prost(bool, tag = "19")]
    pub allows_uninitialized_input: bool,
    #[prost(bool, tag = "21")]
    pub is_distributed_communication: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OpDeprecation {
    #[prost(int32, tag = "1")]
    pub version: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ArgDef {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub r#type: i32,
    #[prost(string, tag = "4")]
    pub type_attr: String,
    #[prost(string, tag = "5")]
    pub number_attr: String,
    #[prost(string, tag = "6")]
    pub type_list_attr: String,
    #[prost(bool, tag = "16")]
    pub is_ref: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttrDef {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub r#type: String,
    #[prost(message, optional, tag = "3")]
    pub default_value: Option<AttrValue>,
    #[prost(bool, tag = "5")]
    pub has_minimum: bool,
    #[prost(int64, tag = "6")]
    pub minimum: i64,
    #[prost(message, optional, tag = "7")]
    pub allowed_values: Option<AttrValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttrValue {
    #[prost(
        oneof = "attr_value::AttrValueKind",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 10"
    )]
    pub value: Option<attr_value::AttrValueKind>,
}

pub(super) mod attr_value {
    use super::{ListValue, NameAttrList, TensorShape};

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub enum AttrValueKind {
        #[prost(message, tag = "1")]
        List(ListValue),
        #[prost(bytes, tag = "2")]
        S(Vec<u8>),
        #[prost(int64, tag = "3")]
        I(i64),
        #[prost(float, tag = "4")]
        F(f32),
        #[prost(bool, tag = "5")]
        B(bool),
        #[prost(int32, tag = "6")]
        Type(i32),
        #[prost(message, tag = "7")]
        Shape(TensorShape),
        // A `TensorProto`, which stays serialized.
        #[prost(bytes, tag = "8")]
        Tensor(Vec<u8>),
        #[prost(message, tag = "10")]
        Func(NameAttrList),
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ListValue {
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub s: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "3")]
    pub i: Vec<i64>,
    #[prost(float, repeated, tag = "4")]
    pub f: Vec<f32>,
    #[prost(bool, repeated, tag = "5")]
    pub b: Vec<bool>,
    #[prost(int32, repeated, tag = "6")]
    pub r#type: Vec<i32>,
    #[prost(message, repeated, tag = "7")]
    pub shape: Vec<TensorShape>,
    #[prost(bytes = "vec", repeated, tag = "8")]
    pub tensor: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "9")]
    pub func: Vec<NameAttrList>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShape {
    #[prost(message, repeated, tag = "2")]
    pub dim: Vec<Dim>,
    #[prost(bool, tag = "3")]
    pub unknown_rank: bool,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Dim {
    #[prost(int64, tag = "1")]
    pub size: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NameAttrList {
    #[prost(string, tag = "1")]
    pub name: String,
    // Attributes of the function, which stay serialized.
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub attr: Vec<Vec<u8>>,
}
