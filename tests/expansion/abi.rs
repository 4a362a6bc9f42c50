#[repr(C)]
#[abi(filled_by = "plugin", struct_size = "SP_TABLE_STRUCT_SIZE", last = "flush", author_trait = "Table", epochs = "2.5..2.6 = 32, 2.7.. = 40")]
pub struct SP_Table {
    pub struct_size: usize,
    pub ext: *mut c_void,
    #[abi(presence = "required", offsets = "40 = 16")]
    pub start: Option<unsafe extern "C" fn(device: *const SP_Device)>,
    #[abi(presence = "required", offsets = "32 = 16, 40 = 24")]
    pub run: Option<unsafe extern "C" fn(device: *const SP_Device)>,
    #[abi(presence = "optional", offsets = "32 = 24, 40 = 32")]
    pub flush: Option<unsafe extern "C" fn(device: *const SP_Device)>,
}
