// Declarations that all kernels use. `T` is the type of the elements.

#pragma OPENCL FP_CONTRACT OFF

// Up to 8 lengths or strides.
typedef struct {
    ulong at[8];
} Sizes;

// The windows along one dimension: window `o` has the elements `o * stride + k * dilation - before`.
typedef struct {
    ulong input, size, output, stride, dilation, before, unused[2];
} Windows;

// The parameters of a tensor, and the pointer to its first element.
#define IN(x) __global const uchar *x##_memory, ulong x##_offset
#define OUT(x) __global uchar *x##_memory, ulong x##_offset
#define READ(type, x) __global const type *x = (__global const type *)(x##_memory + x##_offset)
#define WRITE(type, x) __global type *x = (__global type *)(x##_memory + x##_offset)

// A loop over elements, and one in which a group of work items has an element.
#define EACH(i, count) for (ulong i = get_global_id(0); i < (count); i += get_global_size(0))
#define EACH_GROUP(i, count) for (ulong i = get_group_id(0); i < (count); i += get_num_groups(0))

// The number of work items of a group in `EACH_GROUP`.
#define GROUP 64

// Returns the position of element `i` of loops: the outermost is the first.
ulong position(ulong i, ulong rank, Sizes lens, Sizes steps) {
    ulong found = 0;
    for (ulong axis = rank; axis-- > 0;) {
        found += i % lens.at[axis] * steps.at[axis];
        i /= lens.at[axis];
    }
    return found;
}

// Combines a value of each work item of the group by `f`; all get the result.
#define COMBINE(f, value, items)                                      \
    do {                                                              \
        const size_t item = get_local_id(0);                          \
        items[item] = (value);                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                 \
        for (size_t width = GROUP / 2; width > 0; width /= 2) {        \
            if (item < width) {                                        \
                items[item] = f(items[item], items[item + width]);    \
            }                                                         \
            barrier(CLK_LOCAL_MEM_FENCE);                             \
        }                                                             \
        (value) = items[0];                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                 \
    } while (0)

#define PLUS(x, y) ((x) + (y))

// Returns the maximum of a row.
float row_maximum(const __global float *row, ulong step, ulong count, __local float *items) {
    float maximum = -INFINITY;
    for (ulong i = get_local_id(0); i < count; i += GROUP) {
        maximum = fmax(maximum, row[i * step]);
    }
    COMBINE(fmax, maximum, items);
    return maximum;
}

// Returns the sum of the exponentials of a row.
float row_sum(const __global float *row, ulong step, ulong count, float maximum, __local float *items) {
    float sum = 0;
    for (ulong i = get_local_id(0); i < count; i += GROUP) {
        sum += exp(row[i * step] - maximum);
    }
    COMBINE(PLUS, sum, items);
    return sum;
}

// Returns the index of element `k` of window `o`, or a negative number in the padding.
long element_of(const Windows *windows, ulong o, ulong k) {
    const long index = (long)(o * windows->stride + k * windows->dilation) - (long)windows->before;
    return index < (long)windows->input ? index : -1;
}

// Returns the window whose element `k` has an index, or a negative number if there is none.
long window_of(const Windows *windows, ulong index, ulong k) {
    const long start = (long)(index + windows->before) - (long)(k * windows->dilation);
    const long o = start / (long)windows->stride;
    return start >= 0 && o * (long)windows->stride == start && o < (long)windows->output ? o : -1;
}
