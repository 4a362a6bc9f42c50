//! Every check, in the order of a report, with the text of `explain`.

use sp_host::child_checks::CheckResult;

use super::{
    api, buffer, buffer_copy, buffer_life, client, compile, device, error, event, executable,
    execution, host_copy, lifetime, memory_space, struct_size, topology, transfer,
};
use crate::session::Session;

/// One check of a PJRT plugin.
#[derive(Debug, Clone, Copy)]
pub struct PjrtCheck {
    /// Its name, which is stable.
    pub id: &'static str,
    /// The requirement, in one line.
    pub summary: &'static str,
    /// The reason for the requirement, and advice for a plugin that fails.
    pub explanation: &'static str,
    pub(crate) run: fn(&Session<'_>) -> CheckResult,
}

macro_rules! checks {
    ($($id:ident: $run:path, $summary:literal, $explanation:literal;)*) => {
        /// Every check, in the order of a report.
        pub const CHECKS: &[PjrtCheck] = &[$(PjrtCheck {
            id: stringify!($id),
            summary: $summary,
            explanation: $explanation,
            run: $run,
        },)*];
    };
}

checks! {
    pjrt_entry_point: api::entry_point,
    "the library loads, and GetPjrtApi returns one table",
    "A host opens the library, calls GetPjrtApi, and keeps the pointer for the life of the process. Each call returns the same \
     table, which is never freed.";

    pjrt_version: api::version,
    "the version is one that the host accepts",
    "pjrt_api_version is that of the header with which the plugin is built. A host rejects another major version, and a minor \
     version that is too old. jaxlib up to 0.4.31 accepts only its own minor version.";

    pjrt_table_size: api::table_size,
    "the table's struct_size is that of its minor version",
    "A host takes slots within struct_size only. Set it to PJRT_Api_STRUCT_SIZE of the header that gives the minor version: a table \
     that is too short hides functions, and one that is too long makes the host read other memory.";

    pjrt_required_functions: api::required_functions,
    "every function without which a host ends is set",
    "A host does not look for a null before it calls these functions: it crashes at import, in jax.devices() or in the first copy. A \
     function that the plugin does not have returns an error UNIMPLEMENTED.";

    pjrt_slots: api::slots,
    "each slot is null or the address of code",
    "A table that is filled for another version of the header has functions in the wrong slots, or other data after its end.";

    pjrt_extensions: api::extensions,
    "the chain of extensions ends, and has each type once",
    "A host walks the chain until next is null, and uses the first extension of a type. struct_size covers at least type and next.";

    pjrt_initialization: api::initialization,
    "PJRT_Plugin_Initialize succeeds, and leaves the table as it is",
    "It is the first call of a host, which treats an error as the failure of the plugin. The table is const from then on.";

    pjrt_attributes: api::attributes,
    "the plugin's attributes are valid",
    "Names are unique, types are known, a scalar has a value_size of 1, and texts are UTF-8. The host reads them at any time, so they \
     live as long as the process. jaxlib ends without a message if PJRT_Plugin_Attributes is null.";

    pjrt_stablehlo_versions: api::stablehlo_versions,
    "the versions of StableHLO have three numbers",
    "JAX converts each program to stablehlo_current_version. Without it, it takes a version of 12 weeks before its own. \
     stablehlo_minimum_version is not above it.";

    pjrt_error: error::code_and_message,
    "an error has a known code and a message",
    "A null message ends jaxlib, and an unknown code has no exception. The message stays until PJRT_Error_Destroy.";

    pjrt_error_independence: error::independent,
    "errors are independent of each other",
    "Each error is destroyed once, in any order, while others are in use, also on other threads. A message in one static buffer is \
     overwritten by the next error.";

    pjrt_error_null: error::null,
    "PJRT_Error_Destroy accepts null",
    "The header states it, and callers destroy the result of a call without a test.";

    pjrt_error_payloads: error::payloads,
    "PJRT_Error_ForEachPayload visits the same payloads each time",
    "jaxlib 0.10 and later call it for each error. A plugin without payloads returns without a call of the visitor.";

    pjrt_shorter_structs: struct_size::shorter,
    "nothing is written past the end of a shorter struct",
    "An older host passes structs without the fields that were appended since. Write a field only if struct_size reaches it; an error \
     INVALID_ARGUMENT is right for a struct that has not even the first ones.";

    pjrt_longer_structs: struct_size::longer,
    "a longer struct is accepted",
    "A newer host passes structs with further fields. A plugin that compares struct_size for equality works with one host only.";

    pjrt_argument_extensions: struct_size::unknown_extension,
    "an extension of the arguments that the plugin does not know is ignored",
    "extension_start of a struct of arguments is how a host passes what a later header added.";

    pjrt_client: client::creation,
    "a client is created and destroyed",
    "The check is skipped if PJRT_Client_Create reports an error, as without a device: all checks that need a client are then skipped. \
     --require-device makes that a failure.";

    pjrt_two_clients: client::two_clients,
    "two clients are independent, or the second one is an error",
    "A handle that is returned twice is destroyed twice. The first client works after the second one is gone.";

    pjrt_client_options: client::unknown_options,
    "an unknown option is ignored or an error, whatever its type",
    "Options come from jax.config and from xla_bridge.register_plugin, as text, number, list, float or bool.";

    pjrt_platform: client::platform,
    "the platform has a name and a version",
    "JAX_PLATFORMS, jax.devices(NAME) and lowering rules use the name. The texts belong to the client.";

    pjrt_process_index: client::process_index,
    "the index of the process is 0 in a program of one process",
    "jax.process_index() is this number.";

    pjrt_device_assignment: client::device_assignment,
    "the default assignment has a device for each replica",
    "jax.pmap and multi-device programs take it. It has num_replicas times num_partitions ids of devices, each of them once.";

    pjrt_short_assignment: client::short_assignment,
    "an assignment to a list that is too short is an error",
    "default_assignment_size is the room of the caller's list, and nothing is written after it.";

    pjrt_devices: device::lists,
    "devices are listed once each, and the addressable ones are among them",
    "The lists belong to the client, and have the same order in each call. JAX takes the first device as default.";

    pjrt_addressable: device::is_addressable,
    "PJRT_Device_IsAddressable agrees with the list of addressable devices",
    "A program of one process uses addressable devices only.";

    pjrt_device_lookup: device::lookup,
    "a device is found by its id, and another id is an error",
    "A lookup that returns null or a wrong device for an unknown id ends in a crash of the host.";

    pjrt_local_hardware_ids: device::local_hardware_ids,
    "addressable devices are found by their local hardware ids",
    "The id is -1 if the device has none.";

    pjrt_device_descriptions: device::descriptions,
    "each device has an id of its own, a kind and texts",
    "device.id, device.device_kind, repr(device) and device.process_index show them. They belong to the device.";

    pjrt_device_attributes: device::attributes,
    "the attributes of devices are valid",
    "The rules are those of pjrt_attributes. JAX makes attributes of the Python object of them, such as coords.";

    pjrt_memory_statistics: device::memory_statistics,
    "counters of memory are consistent",
    "device.memory_stats() shows them. A field counts if its flag is set; a peak is not below its value, and a buffer is counted.";

    pjrt_memories: memory_space::lists,
    "each device has memories, and its default memory is one of them",
    "JAX places arrays in memories from 0.4.31 on, and takes the default one without further tests.";

    pjrt_memory_descriptions: memory_space::descriptions,
    "each memory has an id of its own, a kind and texts",
    "Shardings name a memory by its kind, such as device or pinned_host. Memories of one kind have one kind id.";

    pjrt_memory_tables: memory_space::tables,
    "the memories of a plugin of minor version 107 or later begin with a table of functions",
    "The header of these versions declares PJRT_Memory with a pointer to a table: its struct_size, extensions, the size of the memory's \
     struct, get_user_data and set_user_data. jaxlib 0.10.1 and later read it and call its functions that are not null, so that \
     other data there ends the process. Begin each memory with the pointer, or state an older minor version.";

    pjrt_memory_devices: memory_space::devices,
    "devices and memories agree on each other",
    "PJRT_Device_AddressableMemories and PJRT_Memory_AddressableByDevices list the same pairs.";

    pjrt_memory_buffers: memory_space::buffers,
    "a buffer is created in the requested memory",
    "PJRT_Client_BufferFromHostBuffer takes a memory or a device. The buffer reports the memory.";

    pjrt_topology: topology::of_the_client,
    "the topology of the client has its names and devices",
    "It belongs to the client. Ahead-of-time compilation uses it.";

    pjrt_topology_attributes: topology::attributes,
    "the attributes of the topology are valid",
    "The rules are those of pjrt_attributes.";

    pjrt_topology_fingerprint: topology::fingerprint,
    "the fingerprint of the topology is the same in two calls",
    "jaxlib 0.10 and later use it as a part of the key of the compilation cache.";

    pjrt_topology_serialization: topology::serialization,
    "a serialized topology is restored, and other bytes are an error",
    "The caller frees the bytes by the deleter, with the object that was returned beside it.";

    pjrt_topology_creation: topology::creation,
    "an unknown topology is an error",
    "A topology is created without a device, by a name such as v5e:2x2.";

    pjrt_round_trip: buffer::round_trip,
    "an array comes back as it was",
    "Infinity, NaN and the sign of zero are kept.";

    pjrt_element_types: buffer::element_types,
    "arrays of each element type come back as they were",
    "A type that the device does not have is an error, not another type.";

    pjrt_shapes: buffer::shapes,
    "arrays of any shape come back as they were, also without elements",
    "A scalar has no dimensions; dims may then be null. An array without elements has no bytes; data may then be null.";

    pjrt_buffer_properties: buffer::properties,
    "a buffer reports its device, memory and dimensions",
    "JAX compares them with those it requested.";

    pjrt_strides: buffer::strides,
    "strides of the host's memory are used",
    "A transposed NumPy array is passed with its byte_strides. A plugin that ignores them computes with wrong values.";

    pjrt_only_during_call: buffer::only_during_call,
    "with kImmutableOnlyDuringCall the host's memory is not read after the call",
    "Copy the bytes before the call returns. NumPy arrays are passed so, and Python writes to them at once.";

    pjrt_until_transfer: buffer::until_transfer_completes,
    "with kImmutableUntilTransferCompletes the host's memory is not read after the event",
    "done_with_host_buffer is ready when the plugin needs the bytes no more.";

    pjrt_zero_copy: buffer::zero_copy,
    "with the semantics without a copy the event is ready after the buffer is destroyed",
    "The plugin may use the host's memory as long as the buffer lives, or copy it. The host frees its memory when the event is ready: \
     an event that is never ready is a leak.";

    pjrt_unknown_type: buffer::unknown_type,
    "an element type that does not exist is an error",
    "A newer host has further types. An abort ends the user's process.";

    pjrt_invalid_type: buffer::invalid_type,
    "the element type INVALID is an error",
    "Its value is 0, which an uninitialized struct has.";

    pjrt_negative_dimension: buffer::negative_dimension,
    "a negative dimension is an error",
    "Its product is a size that no memory has.";

    pjrt_too_large: buffer::too_large,
    "a buffer above all memory is an error",
    "The error is RESOURCE_EXHAUSTED, from the call or from the buffer's event; later buffers work.";

    pjrt_size_query: host_copy::size_query,
    "with a null destination the number of bytes is returned",
    "PJRT_Buffer_ToHostBuffer is called twice, first for the size. A wrong size passes unnoticed in jaxlib, with wrong values.";

    pjrt_short_destination: host_copy::short_destination,
    "a destination that is too short is an error",
    "dst_size is the room of the destination, and nothing is written after it.";

    pjrt_host_layouts: host_copy::layouts,
    "the requested layout of the host's memory is used",
    "host_layout may order the dimensions in another way than the device. Null means by rows.";

    pjrt_device_layout: host_copy::device_layout,
    "the layout of a buffer is an order of its dimensions",
    "The lists belong to the buffer.";

    pjrt_device_size: host_copy::device_size,
    "the size on the device is not below that of the elements",
    "array.on_device_size_in_bytes() shows it.";

    pjrt_raw_parts: host_copy::raw_parts,
    "PJRT_Buffer_CopyRawToHost copies exactly the requested part",
    "Offset and size are in bytes, and need not be those of elements.";

    pjrt_raw_bounds: host_copy::raw_beyond_end,
    "a part beyond the end of a buffer is an error",
    "A copy that is not checked reads memory of other buffers.";

    pjrt_copy_to_device: buffer_copy::to_device,
    "a copy to another device has the bytes, and is independent",
    "jax.device_put moves arrays by it. The source may be destroyed before the copy is done.";

    pjrt_copy_to_memory: buffer_copy::to_memory,
    "a copy to a memory has the bytes, and is independent",
    "JAX moves arrays between memories of devices by it from 0.5.1 on.";

    pjrt_copy_deleted: buffer_copy::deleted_source,
    "a copy of a deleted buffer is an error",
    "The error is that of the call or of the copy's event.";

    pjrt_deletion: buffer_life::deletion,
    "a deleted buffer reports that, and its use is an error",
    "array.delete() and donation delete buffers. The handle lives until PJRT_Buffer_Destroy. The header leaves other uses undefined: an error \
     keeps the process and shows the mistake.";

    pjrt_external_reference: buffer_life::external_reference,
    "an external reference keeps the memory of a deleted buffer",
    "DLPack and NumPy views hold one while they use the memory.";

    pjrt_reference_underflow: buffer_life::reference_underflow,
    "a reference that was not added cannot be removed",
    "A count below zero frees memory in use later.";

    pjrt_raw_pointer: buffer_life::raw_pointer,
    "the address of a buffer is stable and its own",
    "array.unsafe_buffer_pointer() returns it.";

    pjrt_view: buffer_life::view,
    "a view of memory on the device has its bytes, and its callback runs once",
    "DLPack arrays become views. The callback frees the memory of the exporter.";

    pjrt_uninitialized: buffer_life::uninitialized,
    "a buffer without values has its shape",
    "Its values are any, and it can be copied and destroyed.";

    pjrt_donation: buffer_life::donation,
    "a donated buffer is deleted, and the new one has its bytes",
    "The new buffer is ready once the callback that the plugin returned was called.";

    pjrt_error_buffer: buffer_life::error_buffer,
    "the error of a buffer is that of its event and copies",
    "JAX creates such buffers for computations that have failed on other devices.";

    pjrt_ready_event: event::ready,
    "the event of a buffer is ready after it was awaited",
    "A buffer gives any number of events, each of which is destroyed. PJRT_Event_Await may be called again.";

    pjrt_event_outlives_buffer: event::outlives_buffer,
    "an event outlives its buffer",
    "JAX drops arrays while their events are in use.";

    pjrt_callbacks: event::callbacks,
    "a callback runs once, also if the event is ready before",
    "A callback that never comes, or comes twice, hangs jaxlib or ends it without a message.";

    pjrt_copy_callbacks: event::callbacks_of_copies,
    "callbacks of copies run once, after the bytes are there",
    "The caller may destroy the event before its callback runs: PJRT_Event_Destroy does not cancel it.";

    pjrt_host_event: event::of_the_host,
    "an event of the host is ready once it is set",
    "PJRT_Event_Create and PJRT_Event_Set let the host order its own work.";

    pjrt_event_error: event::with_error,
    "the error of an event is that of its callbacks and queries",
    "Each callback gets an error of its own, which the callback destroys.";

    pjrt_event_thread: event::awaited_on_thread,
    "PJRT_Event_Await on another thread returns once the event is set",
    "It blocks only its own thread: no lock is held meanwhile.";

    pjrt_transfers: transfer::properties,
    "a manager of transfers reports its buffers and device",
    "JAX makes large arrays by it.";

    pjrt_transfer_parts: transfer::parts,
    "buffers that are transferred in parts have the values",
    "The parts may come in any order, but for the one that is marked as last. A retrieved buffer outlives the manager.";

    pjrt_transfer_readiness: transfer::readiness,
    "a buffer is not ready before its last transfer",
    "A program that reads the buffer waits for its event.";

    pjrt_transfer_error: transfer::error,
    "the error that the host sets is that of the buffer",
    "The host sets it if the source of the bytes has failed.";

    pjrt_transfer_index: transfer::bad_index,
    "an index of a buffer that does not exist is an error",
    "A manager has as many buffers as shapes were passed.";

    pjrt_transfer_literal: transfer::literal,
    "a literal is transferred as a whole",
    "It is one transfer that is also the last one.";

    pjrt_compile: compile::stablehlo,
    "a program of StableHLO is compiled",
    "JAX sends MLIR bytecode. The checks send MLIR's text, which MLIR's parser accepts in the same place; a plugin with another parser \
     may reject it, and the checks of programs are then skipped.";

    pjrt_bytecode: compile::bytecode,
    "a program in MLIR's bytecode is compiled and computes",
    "JAX sends each program as a portable artifact of StableHLO, which is MLIR's bytecode. The check sends an addition as StableHLO \
     1.0.0: StableHLO reads the artifacts of earlier versions for five years.";

    pjrt_garbage_program: compile::garbage,
    "code that is no program is an error",
    "A parser that aborts ends the user's process.";

    pjrt_garbage_hlo: compile::garbage_hlo,
    "an HloModuleProto of other bytes is an error",
    "TensorFlow sends programs in the format hlo. A plugin without it returns an error too.";

    pjrt_unknown_format: compile::unknown_format,
    "a program of an unknown format is an error",
    "The formats are mlir and hlo; others may follow.";

    pjrt_garbage_options: compile::garbage_options,
    "compile options of other bytes are an error",
    "They are a serialized CompileOptionsProto.";

    pjrt_replicas: compile::too_many_replicas,
    "more replicas than devices are an error",
    "The number is in the compile options.";

    pjrt_executable: executable::properties,
    "an executable has a name and the numbers of the program",
    "JAX takes the number of results from it.";

    pjrt_executable_results: executable::results,
    "types and dimensions of the results are those of the program",
    "The dimensions of all results are one list, divided by the ranks. The lists belong to the executable.";

    pjrt_executable_memories: executable::memory_kinds,
    "the kinds of memory of the results are those of the device",
    "JAX makes the shardings of results of them.";

    pjrt_executable_fingerprint: executable::fingerprint,
    "equal programs have equal fingerprints",
    "The compilation cache compares them.";

    pjrt_costs: executable::costs,
    "costs are named numbers",
    "compiled.cost_analysis() shows them.";

    pjrt_executable_memory: executable::memory_statistics,
    "the sizes of arguments and results are those of the program",
    "compiled.memory_analysis() shows them.";

    pjrt_optimized_program: executable::optimized_program,
    "the optimized program has the size of the first call",
    "compiled.as_text() shows it. The caller allocates the memory between two calls.";

    pjrt_executable_serialization: executable::serialization,
    "a serialized executable computes the same",
    "The compilation cache stores it, and loads it in another process.";

    pjrt_garbage_executable: executable::garbage,
    "other bytes than those of an executable are an error",
    "A cache may be truncated, or of another version.";

    pjrt_compile_options: executable::compile_options,
    "the options of an executable compile again",
    "They are a serialized CompileOptionsProto.";

    pjrt_execution: execution::one_result,
    "a program computes, and leaves its argument as it is",
    "The event of the execution, the result's event and the copy are ready in any order.";

    pjrt_two_results: execution::two_results,
    "results are returned in order",
    "The caller allocates the lists of results, with one entry for each.";

    pjrt_chained_executions: execution::chained,
    "a result is the argument of the next execution, without a wait",
    "JAX enqueues work without waiting. The argument may be destroyed while the execution uses it.";

    pjrt_donated_argument: execution::donated_argument,
    "a program with a donated argument computes",
    "An argument with tf.aliasing_output may be overwritten. It is then deleted.";

    pjrt_wrong_arguments: execution::wrong_arguments,
    "too few, deleted and wrong arguments are errors",
    "The error is that of the call or of a result's event.";

    pjrt_deleted_executable: execution::deleted_executable,
    "a deleted executable reports that, and its execution does not end the process",
    "The handle lives until PJRT_LoadedExecutable_Destroy. The header leaves its execution undefined: an error is best.";

    pjrt_executable_devices: execution::devices,
    "the devices of an executable are those of the client",
    "The list belongs to the executable.";

    pjrt_result_lifetime: execution::result_outlives_executable,
    "a result outlives its executable",
    "JAX drops a function while its results are in use.";

    pjrt_execution_threads: execution::threads,
    "eight threads execute at once",
    "JAX calls from any thread, without a lock.";

    pjrt_execution_leaks: execution::leaks,
    "executions leave no memory behind",
    "Training executes a program millions of times.";

    pjrt_buffer_leaks: lifetime::buffer_leaks,
    "buffers and events leave no memory behind",
    "Even a few bytes for each add up.";

    pjrt_error_leaks: lifetime::error_leaks,
    "errors leave no memory behind",
    "A program may catch an error and try again.";

    pjrt_deletion_frees: lifetime::deletion_frees,
    "deleted buffers free their memory before they are destroyed",
    "Python's garbage collector may destroy the handle much later.";

    pjrt_threads: lifetime::threads,
    "eight threads copy at once",
    "JAX calls from any thread, without a lock.";

    pjrt_destruction_order: lifetime::destruction_order,
    "buffers and events are destroyed in any order, before the client",
    "Python's garbage collector chooses the order.";

    pjrt_client_recreation: lifetime::client_recreation,
    "clients are created again after they were destroyed",
    "jax.clear_backends() and tests do so.";

    pjrt_process_exit: lifetime::process_exit,
    "a process ends without a crash while the client is in use",
    "Python ends without destroying the client. Destructors of static objects then run while threads of the plugin may use them.";
}
