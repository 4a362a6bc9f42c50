// The product of two matrices. A group of 16 x 16 work items computes 64 x 64 elements, 4 x 4 each, in blocks of 16 columns of `a`.
#define TILE 64
#define BLOCK 16
#define EACH_ITEM 4

__kernel void mat_mul(IN(a), IN(b), OUT(c), ulong rows, ulong inner, ulong columns,
                      ulong a_row, ulong a_column, ulong b_row, ulong b_column) {
    READ(float, a);
    READ(float, b);
    WRITE(float, c);
    __local float left[BLOCK][TILE], right[BLOCK][TILE];
    const uint item_row = get_local_id(1), item_column = get_local_id(0), item = item_row * 16 + item_column;
    const ulong first_row = get_group_id(1) * TILE, first_column = get_group_id(0) * TILE;
    float sums[EACH_ITEM][EACH_ITEM];
    for (uint i = 0; i < EACH_ITEM; i++) {
        for (uint j = 0; j < EACH_ITEM; j++) {
            sums[i][j] = 0;
        }
    }
    for (ulong start = 0; start < inner; start += BLOCK) {
        for (uint i = item; i < BLOCK * TILE; i += 256) {
            const uint k = i / TILE, other = i % TILE;
            const ulong row = first_row + other, column = first_column + other;
            const bool is_inside = start + k < inner;
            left[k][other] = is_inside && row < rows ? a[row * a_row + (start + k) * a_column] : 0;
            right[k][other] = is_inside && column < columns ? b[(start + k) * b_row + column * b_column] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < BLOCK; k++) {
            for (uint i = 0; i < EACH_ITEM; i++) {
                for (uint j = 0; j < EACH_ITEM; j++) {
                    sums[i][j] += left[k][item_row + 16 * i] * right[k][item_column + 16 * j];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < EACH_ITEM; i++) {
        for (uint j = 0; j < EACH_ITEM; j++) {
            const ulong row = first_row + item_row + 16 * i, column = first_column + item_column + 16 * j;
            if (row < rows && column < columns) {
                c[row * columns + column] = sums[i][j];
            }
        }
    }
}
