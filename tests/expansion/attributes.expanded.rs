impl ::sp_plugin::kernel::Attributes for BiasAdd {
    const FIELDS: &'static [(&'static str, ::sp_plugin::__private::Kind)] = &[
        ("data_format", <String as ::sp_plugin::__private::FromAttribute>::KIND),
        ("T", <TF_DataType as ::sp_plugin::__private::FromAttribute>::KIND),
    ];
    const FUNCTIONS: ::sp_plugin::__private::FunctionNames = ::sp_plugin::__private::FunctionNames::Parts(
        &[
            <String as ::sp_plugin::__private::FromAttribute>::FUNCTIONS,
            <TF_DataType as ::sp_plugin::__private::FromAttribute>::FUNCTIONS,
        ],
    );
    fn read(
        construction: &::sp_plugin::__private::Construction<'_>,
    ) -> ::sp_plugin::Result<Self> {
        ::core::result::Result::Ok(Self {
            data_format: construction.attribute(c"data_format")?,
            dtype: construction.attribute(c"T")?,
        })
    }
    fn check_available() -> ::core::result::Result<
        (),
        ::sp_plugin::__private::UnavailableFunction,
    > {
        <String as ::sp_plugin::__private::FromAttribute>::check_available()?;
        <TF_DataType as ::sp_plugin::__private::FromAttribute>::check_available()?;
        ::core::result::Result::Ok(())
    }
}
impl ::sp_plugin::kernel::Prepare for BiasAdd {
    type Attributes = Self;
    fn prepare(attributes: Self) -> ::sp_plugin::Result<Self> {
        ::core::result::Result::Ok(attributes)
    }
}
