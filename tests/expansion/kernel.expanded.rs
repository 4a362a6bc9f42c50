#[allow(clippy::too_many_arguments)]
/**# The op Sum

- input `input: T`
- input `reduction_indices: Tidx`
- output `output: T`
- attribute `keep_dims`: bool; default `false`
- attribute `T`: type, one of float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64
- attribute `Tidx`: type, one of int32, int64; default `int32`
*/
fn sum<T: Element + Number, I: Element>(
    input: In<'_, T>,
    reduction_indices: HostIn<'_, I>,
    output: Out<'_, T>,
    keep_dims: bool,
) -> Result<()> {
    reduce::<T, I>(input, reduction_indices, output, keep_dims)
}
#[doc(hidden)]
#[allow(non_snake_case)]
pub fn __kernels_of_sum() -> &'static [::sp_plugin::kernel::Kernel] {
    use ::sp_plugin::__private as __expansion;
    static __OP: __expansion::OpSpec = __expansion::OpSpec {
        name: c"Sum",
        releases: &[__expansion::Releases::ALL],
        attributes: &[
            __expansion::AttributeSpec {
                name: c"keep_dims",
                kind: ::sp_plugin::__private::Kind::Boolean,
                releases: &[__expansion::Releases::ALL],
                default: __expansion::DefaultValue::Bool(false),
            },
            __expansion::AttributeSpec {
                name: c"T",
                kind: ::sp_plugin::__private::Kind::Type,
                releases: &[__expansion::Releases::ALL],
                default: __expansion::DefaultValue::Absent,
            },
            __expansion::AttributeSpec {
                name: c"Tidx",
                kind: ::sp_plugin::__private::Kind::Type,
                releases: &[__expansion::Releases::ALL],
                default: __expansion::DefaultValue::Type(
                    ::sp_plugin::kernel::DataType(3u32),
                ),
            },
        ],
        definition: ::core::option::Option::None,
    };
    ::sp_plugin::optional_functions!(
        __OPTIONAL, "Sum", & [{ #[allow(dead_code)] type T = f32; #[allow(dead_code)]
        type I = i32; __expansion::FunctionNames::Parts(& [< In < '_, T > as
        ::sp_plugin::kernel::FromInput < '_, f32 >> ::FUNCTIONS, < HostIn < '_, I > as
        ::sp_plugin::kernel::FromInput < '_, i32 >> ::FUNCTIONS, < Out < '_, T > as
        ::sp_plugin::kernel::FromOutput < '_, f32 >> ::FUNCTIONS]) }, {
        #[allow(dead_code)] type T = i64; #[allow(dead_code)] type I = i32;
        __expansion::FunctionNames::Parts(& [< In < '_, T > as
        ::sp_plugin::kernel::FromInput < '_, i64 >> ::FUNCTIONS, < HostIn < '_, I > as
        ::sp_plugin::kernel::FromInput < '_, i32 >> ::FUNCTIONS, < Out < '_, T > as
        ::sp_plugin::kernel::FromOutput < '_, i64 >> ::FUNCTIONS]) },
        __expansion::FunctionNames::Names(& []),]
    );
    static __OPTIONS: __expansion::Options = __expansion::Options {
        needs: &[],
        attribute_checks: &[],
        optional: &__OPTIONAL,
        priority: 2,
        ..__expansion::Options::new(::core::env!("CARGO_CRATE_NAME"))
    };
    #[allow(unused_variables)]
    fn __prepare_0(
        construction: &::sp_plugin::__private::Construction<'_>,
    ) -> ::sp_plugin::Result<__expansion::State> {
        #[allow(dead_code)]
        type T = f32;
        #[allow(dead_code)]
        type I = i32;
        ::core::result::Result::Ok(
            ::std::boxed::Box::new((
                construction
                    .attribute::<
                        <bool as ::sp_plugin::kernel::AttributeParameter<
                            '_,
                            ::sp_plugin::kernel::marker::Boolean,
                        >>::Stored,
                    >(c"keep_dims")?,
            )),
        )
    }
    #[allow(unused_variables)]
    fn __compute_0(call: &__expansion::Call<'_>) -> ::sp_plugin::Result<()> {
        #[allow(dead_code)]
        type T = f32;
        #[allow(dead_code)]
        type I = i32;
        let state: &(_,) = call.state()?;
        sum::<
            T,
            I,
        >(
            <In<
                '_,
                T,
            > as ::sp_plugin::kernel::FromInput<
                '_,
                f32,
            >>::from_input(call.input(0usize))?,
            <HostIn<
                '_,
                I,
            > as ::sp_plugin::kernel::FromInput<
                '_,
                i32,
            >>::from_input(call.input(1usize))?,
            <Out<
                '_,
                T,
            > as ::sp_plugin::kernel::FromOutput<
                '_,
                f32,
            >>::from_output(call.output(0usize)),
            <bool as ::sp_plugin::kernel::AttributeParameter<
                '_,
                ::sp_plugin::kernel::marker::Boolean,
            >>::from_stored(&(state.0)),
        )
    }
    #[allow(unused_variables)]
    fn __compute_1(call: &__expansion::Call<'_>) -> ::sp_plugin::Result<()> {
        #[allow(dead_code)]
        type T = i64;
        #[allow(dead_code)]
        type I = i32;
        let state: &(_,) = call.state()?;
        sum::<
            T,
            I,
        >(
            <In<
                '_,
                T,
            > as ::sp_plugin::kernel::FromInput<
                '_,
                i64,
            >>::from_input(call.input(0usize))?,
            <HostIn<
                '_,
                I,
            > as ::sp_plugin::kernel::FromInput<
                '_,
                i32,
            >>::from_input(call.input(1usize))?,
            <Out<
                '_,
                T,
            > as ::sp_plugin::kernel::FromOutput<
                '_,
                i64,
            >>::from_output(call.output(0usize)),
            <bool as ::sp_plugin::kernel::AttributeParameter<
                '_,
                ::sp_plugin::kernel::marker::Boolean,
            >>::from_stored(&(state.0)),
        )
    }
    struct __Table;
    impl __expansion::KernelTable for __Table {
        fn kernels() -> &'static [::sp_plugin::kernel::Kernel] {
            &__KERNELS
        }
    }
    #[allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
    static __KERNELS: [::sp_plugin::kernel::Kernel; 2usize] = unsafe {
        [
            {
                #[allow(dead_code)]
                type T = f32;
                #[allow(dead_code)]
                type I = i32;
                ::sp_plugin::kernel::Kernel::new::<
                    __Table,
                    0usize,
                >(
                    &__OP,
                    &[
                        __expansion::Constraint {
                            attribute: c"T",
                            dtype: <f32 as ::sp_plugin::kernel::ListedType>::DTYPE,
                            attribute_releases: &[__expansion::Releases::ALL],
                            type_releases: &[__expansion::Releases::ALL],
                        },
                        __expansion::Constraint {
                            attribute: c"Tidx",
                            dtype: <i32 as ::sp_plugin::kernel::ListedType>::DTYPE,
                            attribute_releases: &[__expansion::Releases::ALL],
                            type_releases: &[__expansion::Releases::ALL],
                        },
                    ],
                    [
                        &[
                            __expansion::ArgumentSpec {
                                name: c"input",
                                parameter: <In<
                                    '_,
                                    T,
                                > as ::sp_plugin::kernel::FromInput<'_, f32>>::SPEC,
                                count: __expansion::Count::One,
                                releases: &[__expansion::Releases::ALL],
                            },
                            __expansion::ArgumentSpec {
                                name: c"reduction_indices",
                                parameter: <HostIn<
                                    '_,
                                    I,
                                > as ::sp_plugin::kernel::FromInput<'_, i32>>::SPEC,
                                count: __expansion::Count::One,
                                releases: &[__expansion::Releases::ALL],
                            },
                        ],
                        &[
                            __expansion::ArgumentSpec {
                                name: c"output",
                                parameter: <Out<
                                    '_,
                                    T,
                                > as ::sp_plugin::kernel::FromOutput<'_, f32>>::SPEC,
                                count: __expansion::Count::One,
                                releases: &[__expansion::Releases::ALL],
                            },
                        ],
                    ],
                    &__OPTIONS,
                    (__prepare_0, __compute_0),
                )
            },
            {
                #[allow(dead_code)]
                type T = i64;
                #[allow(dead_code)]
                type I = i32;
                ::sp_plugin::kernel::Kernel::new::<
                    __Table,
                    1usize,
                >(
                    &__OP,
                    &[
                        __expansion::Constraint {
                            attribute: c"T",
                            dtype: <i64 as ::sp_plugin::kernel::ListedType>::DTYPE,
                            attribute_releases: &[__expansion::Releases::ALL],
                            type_releases: &[__expansion::Releases::ALL],
                        },
                        __expansion::Constraint {
                            attribute: c"Tidx",
                            dtype: <i32 as ::sp_plugin::kernel::ListedType>::DTYPE,
                            attribute_releases: &[__expansion::Releases::ALL],
                            type_releases: &[__expansion::Releases::ALL],
                        },
                    ],
                    [
                        &[
                            __expansion::ArgumentSpec {
                                name: c"input",
                                parameter: <In<
                                    '_,
                                    T,
                                > as ::sp_plugin::kernel::FromInput<'_, i64>>::SPEC,
                                count: __expansion::Count::One,
                                releases: &[__expansion::Releases::ALL],
                            },
                            __expansion::ArgumentSpec {
                                name: c"reduction_indices",
                                parameter: <HostIn<
                                    '_,
                                    I,
                                > as ::sp_plugin::kernel::FromInput<'_, i32>>::SPEC,
                                count: __expansion::Count::One,
                                releases: &[__expansion::Releases::ALL],
                            },
                        ],
                        &[
                            __expansion::ArgumentSpec {
                                name: c"output",
                                parameter: <Out<
                                    '_,
                                    T,
                                > as ::sp_plugin::kernel::FromOutput<'_, i64>>::SPEC,
                                count: __expansion::Count::One,
                                releases: &[__expansion::Releases::ALL],
                            },
                        ],
                    ],
                    &__OPTIONS,
                    (__prepare_0, __compute_1),
                )
            },
        ]
    };
    &__KERNELS
}
