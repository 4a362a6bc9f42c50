impl ::sp_plugin::kernel::Attributes for BiasAdd {
    fn read(
        construction: &::sp_plugin::kernel::Construction<'_>,
    ) -> ::sp_plugin::Result<Self> {
        ::core::result::Result::Ok(Self {
            data_format: construction.attribute(c"data_format")?,
            dtype: construction.attribute(c"T")?,
        })
    }
}
