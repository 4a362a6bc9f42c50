// Reduces elements to one by `F`, with a group of work items for each result.

__kernel void reduce(IN(x), OUT(y), ulong kept, Sizes kept_lens, Sizes kept_steps,
                     ulong reduced, Sizes reduced_lens, Sizes reduced_steps, ulong reduced_count, ulong count) {
    READ(float, x);
    WRITE(float, y);
    __local float items[GROUP];
    EACH_GROUP(i, count) {
        const ulong start = position(i, kept, kept_lens, kept_steps);
        float total = NEUTRAL;
        for (ulong k = get_local_id(0); k < reduced_count; k += GROUP) {
            const float value = x[start + position(k, reduced, reduced_lens, reduced_steps)];
            total = F(total, value);
        }
        COMBINE(F, total, items);
        if (get_local_id(0) == 0) {
            y[i] = FINISH(total, reduced_count);
        }
    }
}
