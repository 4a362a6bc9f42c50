// Writes `RESULT(x - maximum, sum of exponentials)` of each element of a row, with a group of work items for each row.
__kernel void softmax(IN(x), OUT(y), ulong classes, ulong rows) {
    READ(float, x);
    WRITE(float, y);
    __local float items[GROUP];
    EACH_GROUP(row, rows) {
        const __global float *logits = x + row * classes;
        const float maximum = row_maximum(logits, 1, classes, items);
        const float sum = row_sum(logits, 1, classes, maximum, items);
        for (ulong i = get_local_id(0); i < classes; i += GROUP) {
            y[row * classes + i] = RESULT(logits[i] - maximum, sum);
        }
    }
}
