//! The defects of the plugin in C, the checks that must find them, and a part of the detail.

/// A macro, the check that must find it, and a part of its detail.
pub const DEFECTS: &str = "
NO_ENTRY | pjrt_entry_point | does not export GetPjrtApi
NULL_TABLE | pjrt_entry_point | GetPjrtApi returned null
NEW_TABLE | pjrt_entry_point | GetPjrtApi returned 0x
GARBAGE_TABLE | pjrt_entry_point | which cannot be read
MAJOR_ONE | pjrt_version | the major version is 1
MINOR_ONE | pjrt_version | minor version 1 is older than 29
SHORT_TABLE | pjrt_table_size | has 1136 bytes; that of
NO_ATTRIBUTES | pjrt_required_functions | PJRT_Plugin_Attributes
NO_PLACE | pjrt_required_functions | PJRT_Buffer_IsOnCpu
NULL_COMPILE | pjrt_required_functions | PJRT_Client_Compile (jaxlib 0.12.0.1 with null: crash in the program `jit_add`: SIGSEGV
DATA_SLOT | pjrt_slots | PJRT_Client_DefaultDeviceAssignment is 0x
CHAIN_CYCLE | pjrt_extensions | does not end
EXTENSION_TWICE | pjrt_extensions | two extensions have the type Profiler
EXTENSION_SHORT | pjrt_extensions | a struct_size of 8
INIT_FAILS | pjrt_initialization | INTERNAL: no driver
INIT_CHANGES | pjrt_initialization | changed the table
HANGS | pjrt_initialization | still in PJRT_Plugin_Initialize
EXITS | pjrt_initialization | ended the process with status 0
ATTRIBUTE_TWICE | pjrt_attributes | two values
ATTRIBUTE_TYPE | pjrt_attributes | xla_version has the type 77
SCALAR_SIZE | pjrt_attributes | a value_size of 8, expected 1
ATTRIBUTE_GARBAGE | pjrt_attributes | which cannot be read
ATTRIBUTES_CHANGE | pjrt_attributes | other attributes in the second call
TWO_NUMBERS | pjrt_stablehlo_versions | expected three numbers
MINIMUM_ABOVE | pjrt_stablehlo_versions | is above stablehlo_current_version
NULL_MESSAGE | pjrt_error | the message of an error with code 5 is null
EMPTY_MESSAGE | pjrt_error | without a message
UNKNOWN_CODE | pjrt_error | the error code 99, which is not known
CODE_ONCE | pjrt_error | then UNKNOWN
STATIC_ERROR | pjrt_error_independence | after another one was destroyed
NULL_ERROR_CRASHES | pjrt_error_null | crashed in PJRT_Error_Destroy
PAYLOAD_ONCE | pjrt_error_payloads | 1 payloads, then 0
TRUSTS_SIZE | pjrt_shorter_structs | was written, whose struct_size is 24
EXACT_SIZE | pjrt_longer_structs | as of a newer host
REJECTS_EXTENSION | pjrt_argument_extensions | has an extension
CLIENT_NULL | pjrt_client | PJRT_Client_Create_Args.client is null
CRASH | pjrt_client | segmentation fault: crashed in PJRT_Client_Create
THROWS | pjrt_client | an exception left PJRT_Client_Create
WRITES_PAST | pjrt_client | of PJRT_Client_Create_Args was written
ONE_CLIENT | pjrt_two_clients | the same handle
OPTION_CRASHES | pjrt_client_options | crashed in PJRT_Client_Create
EMPTY_NAME | pjrt_platform | platform_name is empty
NAME_WITH_SPACE | pjrt_platform | has white space
NAME_GARBAGE | pjrt_platform | which cannot be read
NAME_LATIN | pjrt_platform | is not UTF-8
PROCESS_ONE | pjrt_process_index | is 1, expected 0
ASSIGNS_TWICE | pjrt_device_assignment | is assigned twice
ASSIGNS_PAST | pjrt_short_assignment | after the end of the assignment
DEVICE_TWICE | pjrt_devices | is listed twice
DEVICE_NULL | pjrt_devices | lists a null pointer
DEVICES_SWAP | pjrt_devices | a second list of devices differs
DEVICES_FEWER | pjrt_devices | is not among the client's devices
NOT_ADDRESSABLE | pjrt_addressable | is_addressable is false
LOOKUP_ANY | pjrt_device_lookup | is no error
LOOKUP_FIRST | pjrt_device_lookup | found as another device
SAME_HARDWARE_ID | pjrt_local_hardware_ids | have the local hardware id 0
EMPTY_KIND | pjrt_device_descriptions | device_kind of device 0 is empty
DEVICE_OF_OTHER_PROCESS | pjrt_device_descriptions | has process index 5
DEVICE_ATTRIBUTE | pjrt_device_attributes | has no name
PEAK_BELOW | pjrt_memory_statistics | below bytes_in_use
COUNTS_NOTHING | pjrt_memory_statistics | with a buffer of 1 MiB
LIMIT_BELOW | pjrt_memory_statistics | bytes_limit is -1
MEMORY_NOT_LISTED | pjrt_memories | is not among the client's addressable memories
DEFAULT_ELSEWHERE | pjrt_memories | is not among its memories
SAME_MEMORY_ID | pjrt_memory_descriptions | two memories have the id 0
KIND_ID_OF_MEMORY | pjrt_memory_descriptions | have the kind ids
MEMORY_WITHOUT_TEXT | pjrt_memory_descriptions | debug_string of memory 0 is empty
MEMORY_WITHOUT_TABLE | pjrt_memory_tables | which is no table of functions
MEMORY_TABLE_NULL | pjrt_memory_tables | begins with a null pointer
MEMORY_OF_OTHER_DEVICE | pjrt_memory_devices | do not agree
IGNORES_MEMORY | pjrt_memory_buffers | in another memory than requested
TOPOLOGY_NAME | pjrt_topology | that of the client
TOPOLOGY_FEWER | pjrt_topology | 1 descriptions for 2 devices
TOPOLOGY_ATTRIBUTE | pjrt_topology_attributes | a struct_size of 8
FINGERPRINT_COUNTS | pjrt_topology_fingerprint | then 0x
TOPOLOGY_BYTES_DIFFER | pjrt_topology_serialization | serialized again
NULL_DELETER | pjrt_topology_serialization | serialized_topology_deleter is null
TOPOLOGY_ANY_BYTES | pjrt_topology_serialization | is no error
TOPOLOGY_NULL | pjrt_topology_creation | topology is null
ZERO_SIGN | pjrt_round_trip | of a float array is
SIGNED_ONLY | pjrt_element_types | has the element type 3
NO_EMPTY | pjrt_shapes | an array without elements
DROPS_ONES | pjrt_shapes | an array of shape [1] has the dimensions []
SPOILS_LARGE | pjrt_shapes | of shape [1048576]
WRONG_DEVICE | pjrt_buffer_properties | on another device than requested
DYNAMIC_DIMENSION | pjrt_buffer_properties | are dynamic
IGNORES_STRIDES | pjrt_strides | a matrix by columns
READS_LATER | pjrt_only_during_call | was written after the call
READS_LATER | pjrt_until_transfer | was written after the event
ZERO_COPY_NEVER_DONE | pjrt_zero_copy | still in PJRT_Event_Await
NO_DONE_EVENT | pjrt_round_trip | done_with_host_buffer is null
TYPE_AS_FLOAT | pjrt_unknown_type | is no error
TYPE_ABORTS | pjrt_unknown_type | crashed: abort
ABORTS_ON_ZERO_TYPE | pjrt_invalid_type | crashed: abort
NEGATIVE_ACCEPTED | pjrt_negative_dimension | is no error
TOO_LARGE_ABORTS | pjrt_too_large | crashed: abort
SIZE_DOUBLE | pjrt_size_query | the plugin asks for
SIZE_QUERY_EVENT | pjrt_size_query | which nobody destroys
SHORT_ACCEPTED | pjrt_short_destination | past the end of a destination
IGNORES_HOST_LAYOUT | pjrt_host_layouts | with the layout [0, 1]
WRITES_AFTER_DST | pjrt_round_trip | wrote after the 24 bytes of dst
LAYOUT_REPEATS | pjrt_device_layout | no order of three dimensions
SIZE_IN_ELEMENTS | pjrt_device_size | on the device
RAW_BY_ELEMENTS | pjrt_raw_parts | 5 bytes at 3
RAW_UNCHECKED | pjrt_raw_bounds | is no error
COPY_STAYS | pjrt_copy_to_device | on another device than requested
COPY_SHARES | pjrt_copy_to_device | whose source was destroyed
COPY_STAYS | pjrt_copy_to_memory | in another memory than requested
COPIES_DELETED | pjrt_copy_deleted | is no error
NEVER_DELETED | pjrt_deletion | is_deleted is false
DELETED_IS_EMPTY | pjrt_deletion | is no error
DELETE_IGNORES_REFERENCES | pjrt_external_reference | with an external reference
REFERENCES_IGNORED | pjrt_external_reference | with an external reference
REFERENCES_BELOW_ZERO | pjrt_reference_underflow | is no error
POINTER_OF_HANDLE | pjrt_raw_pointer | of the memory of a buffer
VIEW_COPIES_NOTHING | pjrt_view | a view of memory on the device
VIEW_FORGETS_CALLBACK | pjrt_view | did not run after its end
RELEASES_TWICE | pjrt_view | ran 2 times
UNINITIALIZED_FLAT | pjrt_uninitialized | its dimensions are [4]
DONATION_KEEPS | pjrt_donation | is not deleted
ERROR_BUFFER_READY | pjrt_error_buffer | has no error
NEVER_READY | pjrt_ready_event | is not ready after PJRT_Event_Await
BOOL_OF_TWO | pjrt_ready_event | is a bool with the value 2
READY_EVENT_NULL | pjrt_ready_event | event is null
READY_EVENT_ONCE | pjrt_ready_event | the event was taken
EVENT_DIES_WITH_BUFFER | pjrt_event_outlives_buffer | still in PJRT_Event_Await
CALLBACK_NEVER | pjrt_callbacks | does not run
CALLBACK_TWICE | pjrt_callbacks | ran 2 times
CALLBACK_TWICE | pjrt_copy_callbacks | times
CALLBACK_EARLY | pjrt_host_event | before its event was set
EVENT_SET_AT_ONCE | pjrt_host_event | a new event is ready
EVENT_FORGETS_ERROR | pjrt_event_error | has no error
CALLBACK_WITHOUT_ERROR | pjrt_event_error | a callback of an event in error has no error
AWAIT_RETURNS_EARLY | pjrt_event_thread | before the event was set
COUNTS_ONE_BUFFER | pjrt_transfers | there are 1 buffers
TRANSFER_IGNORES_OFFSET | pjrt_transfer_parts | in two parts
MANAGER_OWNS_BUFFERS | pjrt_transfer_parts | whose manager was destroyed
READY_AT_FIRST_TRANSFER | pjrt_transfer_readiness | before its last transfer
TRANSFER_ERROR_LOST | pjrt_transfer_error | has no error
INDEX_UNCHECKED | pjrt_transfer_index | is no error
LITERAL_SHORT | pjrt_transfer_literal | of a buffer of a literal
NO_COMPILER | pjrt_compile | the compiler is not found
TEXT_ONLY | pjrt_bytecode | a program in bytecode: INVALID_ARGUMENT: the text is no program
BYTECODE_MULTIPLIES | pjrt_bytecode | x + x of a program in bytecode
ACCEPTS_HALF | pjrt_garbage_program | is no error
GARBAGE_ABORTS | pjrt_garbage_program | crashed: abort
HLO_ABORTS | pjrt_garbage_hlo | crashed: abort
ANY_FORMAT | pjrt_unknown_format | is no error
OPTIONS_UNCHECKED | pjrt_garbage_options | is no error
REPLICAS_UNCHECKED | pjrt_replicas | is no error
NO_EXECUTABLE_NAME | pjrt_executable | the executable has no name
NO_PARTITION | pjrt_executable | num_partitions is 0
CODE_SIZE_NEGATIVE | pjrt_executable | the size of the code is -77
RANKS_OF_ONE | pjrt_executable_results | have the ranks [1, 1]
KIND_UNKNOWN | pjrt_executable_memories | and the device has
FINGERPRINT_OF_ADDRESS | pjrt_executable_fingerprint | the fingerprints of one program
COST_SIZE | pjrt_costs | a value_size of 4
OUTPUT_NOT_COUNTED | pjrt_executable_memory | output_size_in_bytes is 0
PROGRAM_SIZE_SHORT | pjrt_optimized_program | bytes of the code were written
SERIALIZES_OTHER | pjrt_executable_serialization | of a deserialized executable
ANY_EXECUTABLE | pjrt_garbage_executable | is no error
OPTIONS_EMPTY | pjrt_compile_options | the options are empty
DELETES_ARGUMENTS | pjrt_execution | deleted that was not donated
NO_COMPLETE_EVENT | pjrt_execution | left a result or an event null
RESULTS_REVERSED | pjrt_two_results | of x + y is
ROUNDS_LARGE | pjrt_chained_executions | doubled 10 times
DONATION_SPOILS | pjrt_donated_argument | of a donated argument is
ARGUMENTS_UNCHECKED | pjrt_wrong_arguments | crashed
SHAPES_UNCHECKED | pjrt_wrong_arguments | of another shape is no error
EXECUTABLE_NEVER_DELETED | pjrt_deleted_executable | is_deleted is false
DELETED_EXECUTABLE_ABORTS | pjrt_deleted_executable | crashed: abort
EXECUTABLE_WITHOUT_DEVICE | pjrt_executable_devices | has 0 devices
RESULT_OF_EXECUTABLE | pjrt_result_lifetime | whose executable was destroyed
SHARED_RESULT | pjrt_execution_threads | of one of eight threads
RESULT_LEAKS | pjrt_execution_leaks | a result leaks
BUFFER_LEAKS | pjrt_buffer_leaks | a buffer leaks
EVENT_LEAKS | pjrt_buffer_leaks | a buffer leaks
ERROR_LEAKS | pjrt_error_leaks | an error leaks
DELETE_FREES_LATE | pjrt_deletion_frees | still use
SHARED_COPY | pjrt_threads | of one of eight threads
DESTROYS_NEXT | pjrt_destruction_order | after others were destroyed
CLIENT_STAYS_DEAD | pjrt_client_recreation | the device was shut down
EXIT_CRASHES | pjrt_process_exit | crashed: abort
CHANGES_INPUT | pjrt_client_options | was changed from
";
