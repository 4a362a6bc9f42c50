#[allow(non_upper_case_globals, missing_docs)]
impl SP_Table {
    pub const struct_size: ::sp_runtime::Field<
        Self,
        usize,
        ::sp_runtime::writer::StructSize,
    > = unsafe {
        ::sp_runtime::Field::with_fixed_offset(
            0,
            ::core::mem::offset_of!(Self, struct_size),
        )
    };
    pub const ext: ::sp_runtime::Field<Self, *mut c_void> = unsafe {
        ::sp_runtime::Field::with_fixed_offset(1, ::core::mem::offset_of!(Self, ext))
    };
    pub const start: ::sp_runtime::Field<
        Self,
        Option<unsafe extern "C" fn(device: *const SP_Device)>,
    > = unsafe {
        ::sp_runtime::Field::with_offsets(
            2,
            ::core::mem::offset_of!(Self, start),
            &[::core::option::Option::None, ::core::option::Option::Some(16)],
        )
    };
    pub const run: ::sp_runtime::Field<
        Self,
        Option<unsafe extern "C" fn(device: *const SP_Device)>,
    > = unsafe {
        ::sp_runtime::Field::with_offsets(
            3,
            ::core::mem::offset_of!(Self, run),
            &[::core::option::Option::Some(16), ::core::option::Option::Some(24)],
        )
    };
    pub const flush: ::sp_runtime::Field<
        Self,
        Option<unsafe extern "C" fn(device: *const SP_Device)>,
    > = unsafe {
        ::sp_runtime::Field::with_offsets(
            4,
            ::core::mem::offset_of!(Self, flush),
            &[::core::option::Option::Some(24), ::core::option::Option::Some(32)],
        )
    };
}
unsafe impl ::sp_runtime::Versioned for SP_Table {
    const NAME: &'static str = "SP_Table";
    const STRUCT_SIZE: usize = ::core::mem::offset_of!(SP_Table, flush)
        + ::core::mem::size_of::<
            Option<unsafe extern "C" fn(device: *const SP_Device)>,
        >();
    const EPOCHS: &'static [::sp_runtime::Epoch] = {
        assert!(
            Self::STRUCT_SIZE == 40,
            "the last of `epochs` must have the size of the type"
        );
        &[
            ::sp_runtime::Epoch {
                size: 32,
                releases: ::sp_runtime::Releases::between(
                    ::sp_runtime::Release::new(2, 5),
                    ::sp_runtime::Release::new(2, 6),
                ),
            },
            ::sp_runtime::Epoch {
                size: 40,
                releases: ::sp_runtime::Releases::from(::sp_runtime::Release::new(2, 7)),
            },
        ]
    };
    const FIELDS: &'static [&'static str] = &[
        "struct_size",
        "ext",
        "start",
        "run",
        "flush",
    ];
    fn host_layout() -> &'static ::sp_runtime::HostLayoutCell {
        static LAYOUT: ::sp_runtime::HostLayoutCell = ::sp_runtime::HostLayoutCell::new();
        &LAYOUT
    }
}
const _: fn(&SP_Table) -> ::core::primitive::usize = |it| it.struct_size;
const _: () = {
    let _ = SP_Table::start;
};
const _: () = {
    let _ = SP_Table::run;
};
const _: () = {
    let _ = SP_Table::flush;
};
impl SP_Table {
    /// Stores `struct_size` and the slots of `T` that the host's table has. Optional slots that `T`
    /// does not implement become null.
    pub fn fill<T: super::traits::Table>(table: &mut ::sp_runtime::PrefixMut<'_, Self>) {
        table.set_struct_size();
        table
            .set(
                Self::start,
                ::core::option::Option::Some(super::shims::SP_Table::start::<T>),
            );
        table
            .set(
                Self::run,
                ::core::option::Option::Some(super::shims::SP_Table::run::<T>),
            );
        table
            .set(
                Self::flush,
                if T::HAS_FLUSH {
                    ::core::option::Option::Some(super::shims::SP_Table::flush::<T>)
                } else {
                    ::core::option::Option::None
                },
            );
    }
}
