#[repr(C)]
#[abi(filled_by = "plugin", struct_size = "SP_TABLE_STRUCT_SIZE", last = "flush", author_trait = "Table")]
pub struct SP_Table {
    pub struct_size: usize,
    pub ext: *mut c_void,
    #[abi(presence = "required")]
    pub run: Option<unsafe extern "C" fn(device: *const SP_Device)>,
    #[abi(presence = "optional")]
    pub flush: Option<unsafe extern "C" fn(device: *const SP_Device)>,
}
