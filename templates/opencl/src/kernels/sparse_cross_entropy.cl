// The cross entropy of each row, whose label is the number of a class, and its gradient.
__kernel void sparse_cross_entropy(IN(x), IN(labels), OUT(loss), OUT(gradient), ulong classes, ulong rows) {
    READ(float, x);
    READ(T, labels);
    WRITE(float, loss);
    WRITE(float, gradient);
    __local float items[GROUP];
    EACH_GROUP(row, rows) {
        const __global float *logits = x + row * classes;
        const float maximum = row_maximum(logits, 1, classes, items);
        const float sum = row_sum(logits, 1, classes, maximum, items);
        const T label = labels[row];
        const bool is_class = label >= 0 && (ulong)label < classes;
        if (get_local_id(0) == 0) {
            loss[row] = is_class ? log(sum) - (logits[label] - maximum) : NAN;
        }
        for (ulong i = get_local_id(0); i < classes; i += GROUP) {
            const float probability = exp(logits[i] - maximum) / sum;
            gradient[row * classes + i] = is_class ? probability - (i == (ulong)label ? 1 : 0) : NAN;
        }
    }
}
