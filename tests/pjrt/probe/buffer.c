// Arrays in memory of the host, which stands for that of a device.
#include "probe.h"

// Sizes in bytes, by PJRT_Buffer_Type; types of less than a byte have an element in each byte.
static const unsigned char element_sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};

static size_t element_size(PJRT_Buffer_Type type)
{
    return type < sizeof element_sizes ? element_sizes[type] : 1;
}

PJRT_Buffer* new_buffer(const shape* shape, PJRT_Memory* memory)
{
    PJRT_Buffer* buffer = calloc(1, sizeof *buffer);
    buffer->shape = *shape;
    buffer->memory = memory;
    buffer->size = element_size(shape->type);
    for (size_t i = 0; i < shape->rank; i++) {
        buffer->size *= shape->dims[i];
        buffer->minor_to_major[i] = shape->rank - 1 - i;
    }
    buffer->data = calloc(1, buffer->size + 1);
    return buffer;
}

static PJRT_Error* make_shape(shape* result, PJRT_Buffer_Type type, const int64_t* dims, size_t rank)
{
    if (rank > MAX_DIMS) return new_error(PJRT_Error_Code_INVALID_ARGUMENT, "the probe's arrays have at most 8 dimensions");
    *result = (shape){.type = type, .rank = rank};
    for (size_t i = 0; i < rank; i++) result->dims[i] = dims[i];
    return NULL;
}

static PJRT_Memory* memory_or_default(PJRT_Memory* memory, PJRT_Device* device)
{
    if (memory) return memory;
    return (device ? device : the_client()->device_list[0])->memories[0];
}

// Copies an array with the given byte strides to one in major-to-minor order.
static char* copy_strided(char* target, const char* source, const shape* shape, const int64_t* strides, size_t dim)
{
    size_t size = element_size(shape->type);
    if (dim == shape->rank) {
        memcpy(target, source, size);
        return target + size;
    }
    for (int64_t i = 0; i < shape->dims[dim]; i++) target = copy_strided(target, source + i * strides[dim], shape, strides, dim + 1);
    return target;
}

IMPLEMENT(PJRT_Client_BufferFromHostBuffer)
{
    shape shape;
    PJRT_Error* error = make_shape(&shape, arguments->type, arguments->dims, arguments->num_dims);
    if (error) return error;
    PJRT_Buffer* buffer = new_buffer(&shape, memory_or_default(arguments->memory, arguments->device));
    if (arguments->num_byte_strides)
        copy_strided(buffer->data, arguments->data, &shape, arguments->byte_strides, 0);
    else
        memcpy(buffer->data, arguments->data, buffer->size);
    record("semantics %u", arguments->host_buffer_semantics);
    arguments->buffer = buffer;
    arguments->done_with_host_buffer = new_event();
    return NULL;
}

IMPLEMENT(PJRT_Client_CreateUninitializedBuffer)
{
    shape shape;
    PJRT_Error* error = make_shape(&shape, arguments->shape_element_type, arguments->shape_dims, arguments->shape_num_dims);
    if (!error) arguments->buffer = new_buffer(&shape, memory_or_default(arguments->memory, arguments->device));
    return error;
}

IMPLEMENT(PJRT_Client_CreateViewOfDeviceBuffer)
{
    shape shape;
    PJRT_Error* error = make_shape(&shape, arguments->element_type, arguments->dims, arguments->num_dims);
    if (error) return error;
    PJRT_Memory* memory = memory_or_default(HAS(arguments, memory) ? arguments->memory : NULL, arguments->device);
    arguments->buffer = new_buffer(&shape, memory);
    free(arguments->buffer->data);
    arguments->buffer->data = arguments->device_buffer_ptr;
    arguments->buffer->on_delete = arguments->on_delete_callback;
    arguments->buffer->on_delete_argument = arguments->on_delete_callback_arg;
    return NULL;
}

static void delete_data(PJRT_Buffer* buffer)
{
    if (buffer->deleted) return;
    buffer->deleted = true;
    if (buffer->on_delete)
        buffer->on_delete(buffer->data, buffer->on_delete_argument);
    else
        free(buffer->data);
}

IMPLEMENT(PJRT_Buffer_Destroy)
{
    delete_data(arguments->buffer);
    free(arguments->buffer);
    return NULL;
}

IMPLEMENT(PJRT_Buffer_Delete)
{
    delete_data(arguments->buffer);
    return NULL;
}

IMPLEMENT(PJRT_Buffer_IsDeleted)
{
    arguments->is_deleted = arguments->buffer->deleted;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_ElementType)
{
    arguments->type = arguments->buffer->shape.type;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_Dimensions)
{
    arguments->dims = arguments->buffer->shape.dims;
    arguments->num_dims = arguments->buffer->shape.rank;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_UnpaddedDimensions)
{
    arguments->unpadded_dims = arguments->buffer->shape.dims;
    arguments->num_dims = arguments->buffer->shape.rank;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_DynamicDimensionIndices)
{
    arguments->dynamic_dim_indices = NULL;
    arguments->num_dynamic_dims = 0;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_GetMemoryLayout)
{
    PJRT_Buffer_MemoryLayout* layout = &arguments->layout;
    layout->struct_size = sizeof *layout;
    layout->extension_start = NULL;
    layout->type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    layout->anonymous.tiled = (PJRT_Buffer_MemoryLayout_Tiled){.struct_size = sizeof layout->anonymous.tiled,
        .minor_to_major = arguments->buffer->minor_to_major, .minor_to_major_size = arguments->buffer->shape.rank};
    return NULL;
}

IMPLEMENT(PJRT_Buffer_OnDeviceSizeInBytes)
{
    arguments->on_device_size_in_bytes = arguments->buffer->size;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_Device)
{
    arguments->device = ((memory*)arguments->buffer->memory)->device;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_Memory)
{
    arguments->memory = arguments->buffer->memory;
    return NULL;
}

static PJRT_Error* copy_to(PJRT_Buffer* source, PJRT_Memory* target, PJRT_Buffer** result)
{
    if (source->deleted) return new_error(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer was deleted");
    *result = new_buffer(&source->shape, target);
    memcpy((*result)->data, source->data, source->size);
    return NULL;
}

IMPLEMENT(PJRT_Buffer_CopyToDevice)
{
    return copy_to(arguments->buffer, arguments->dst_device->memories[0], &arguments->dst_buffer);
}

IMPLEMENT(PJRT_Buffer_CopyToMemory)
{
    return copy_to(arguments->buffer, arguments->dst_memory, &arguments->dst_buffer);
}

IMPLEMENT(PJRT_Buffer_ToHostBuffer)
{
    PJRT_Buffer* source = arguments->src;
    record("to-host %s", arguments->dst ? "copy" : "size");
    if (!arguments->dst) {
        arguments->dst_size = source->size;
        return NULL;
    }
    if (source->deleted) return new_error(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer was deleted");
    if (arguments->dst_size < source->size) return new_error(PJRT_Error_Code_INVALID_ARGUMENT, "the host's memory is too small");
    memcpy(arguments->dst, source->data, source->size);
    arguments->event = new_event();
    return NULL;
}

IMPLEMENT(PJRT_Buffer_CopyRawToHost)
{
    memcpy(arguments->dst, (char*)arguments->buffer->data + arguments->offset, arguments->transfer_size);
    arguments->event = new_event();
    return NULL;
}

IMPLEMENT(PJRT_Buffer_IsOnCpu)
{
    arguments->is_on_cpu = false;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_ReadyEvent)
{
    arguments->event = new_event();
    return NULL;
}

IMPLEMENT(PJRT_Buffer_UnsafePointer)
{
    arguments->buffer_pointer = (uintptr_t)arguments->buffer->data;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_OpaqueDeviceMemoryDataPointer)
{
    arguments->device_memory_ptr = arguments->buffer->data;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_IncreaseExternalReferenceCount)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Buffer_DecreaseExternalReferenceCount)
{
    (void)arguments;
    return NULL;
}
