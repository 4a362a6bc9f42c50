impl ::sp_plugin::kernel::Attributes for BiasAdd {
    const FIELDS: &'static [(&'static str, ::sp_plugin::kernel::Kind)] = &[
        ("data_format", <String as ::sp_plugin::kernel::FromAttribute>::KIND),
        ("T", <TF_DataType as ::sp_plugin::kernel::FromAttribute>::KIND),
    ];
    const FUNCTIONS: ::sp_plugin::kernel::expansion::FunctionNames = ::sp_plugin::kernel::expansion::FunctionNames::Parts(
        &[
            <String as ::sp_plugin::kernel::FromAttribute>::FUNCTIONS,
            <TF_DataType as ::sp_plugin::kernel::FromAttribute>::FUNCTIONS,
        ],
    );
    fn read(
        construction: &::sp_plugin::kernel::Construction<'_>,
    ) -> ::sp_plugin::Result<Self> {
        ::core::result::Result::Ok(Self {
            data_format: construction.attribute(c"data_format")?,
            dtype: construction.attribute(c"T")?,
        })
    }
    fn check_available() -> ::core::result::Result<
        (),
        ::sp_plugin::kernel::expansion::UnavailableFunction,
    > {
        <String as ::sp_plugin::kernel::FromAttribute>::check_available()?;
        <TF_DataType as ::sp_plugin::kernel::FromAttribute>::check_available()?;
        ::core::result::Result::Ok(())
    }
}
impl ::sp_plugin::kernel::Prepare for BiasAdd {
    type Attributes = Self;
    fn prepare(attributes: Self) -> ::sp_plugin::Result<Self> {
        ::core::result::Result::Ok(attributes)
    }
}
