// The cross entropy of each row, whose labels are probabilities, and its gradient. Steps are those of rows and of classes.
__kernel void cross_entropy(IN(x), IN(labels), OUT(loss), OUT(gradient), Sizes x_steps, Sizes label_steps,
                            ulong classes, ulong rows) {
    READ(float, x);
    READ(float, labels);
    WRITE(float, loss);
    WRITE(float, gradient);
    __local float items[GROUP];
    EACH_GROUP(row, rows) {
        const __global float *logits = x + row * x_steps.at[0], *expected = labels + row * label_steps.at[0];
        const ulong step = x_steps.at[1], label_step = label_steps.at[1];
        const float maximum = row_maximum(logits, step, classes, items);
        const float sum = row_sum(logits, step, classes, maximum, items);
        float total = 0;
        for (ulong i = get_local_id(0); i < classes; i += GROUP) {
            const float label = expected[i * label_step], logit = logits[i * step] - maximum;
            // A label of 0 has no part in the loss, also if the logit is infinite.
            total += label == 0 ? 0 : label * (log(sum) - logit);
            gradient[row * classes + i] = exp(logit) / sum - label;
        }
        COMBINE(PLUS, total, items);
        if (get_local_id(0) == 0) {
            loss[row] = total;
        }
    }
}
