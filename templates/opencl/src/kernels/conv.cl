// Convolution and its gradients. Steps are those of batch, rows, columns and channels; the filter's dims are rows, columns,
// channels of a group in the input (`depth`) and channels of the output (`filters`), of which `group` are in a group.

__kernel void conv2d(IN(x), IN(filter), OUT(y), Windows rows, Windows columns, Sizes x_steps, Sizes y_steps,
                     ulong depth, ulong filters, ulong group, ulong count) {
    READ(float, x);
    READ(float, filter);
    WRITE(float, y);
    const ulong x_step = x_steps.at[3];
    EACH(i, count) {
        const ulong f = i % filters, column = i / filters % columns.output;
        const ulong row = i / filters / columns.output % rows.output, n = i / filters / columns.output / rows.output;
        __global const float *image = x + n * x_steps.at[0] + f / group * depth * x_step;
        float sum = 0;
        for (ulong a = 0; a < rows.size; a++) {
            const long r = element_of(&rows, row, a);
            for (ulong b = 0; b < columns.size; b++) {
                const long c = element_of(&columns, column, b);
                if (r < 0 || c < 0) {
                    continue;
                }
                __global const float *pixel = image + r * x_steps.at[1] + c * x_steps.at[2];
                __global const float *weights = filter + (a * columns.size + b) * depth * filters + f;
                for (ulong d = 0; d < depth; d++) {
                    sum += pixel[d * x_step] * weights[d * filters];
                }
            }
        }
        y[n * y_steps.at[0] + row * y_steps.at[1] + column * y_steps.at[2] + f * y_steps.at[3]] = sum;
    }
}

__kernel void conv2d_backprop_input(IN(dy), IN(filter), OUT(dx), Windows rows, Windows columns, Sizes x_steps, Sizes y_steps,
                                    ulong depth, ulong channels, ulong filters, ulong group, ulong count) {
    READ(float, dy);
    READ(float, filter);
    WRITE(float, dx);
    const ulong y_step = y_steps.at[3];
    EACH(i, count) {
        const ulong channel = i % channels, c = i / channels % columns.input;
        const ulong r = i / channels / columns.input % rows.input, n = i / channels / columns.input / rows.input;
        const ulong first = channel / depth * group;
        float sum = 0;
        for (ulong a = 0; a < rows.size; a++) {
            const long row = window_of(&rows, r, a);
            for (ulong b = 0; b < columns.size; b++) {
                const long column = window_of(&columns, c, b);
                if (row < 0 || column < 0) {
                    continue;
                }
                __global const float *gradients =
                    dy + n * y_steps.at[0] + row * y_steps.at[1] + column * y_steps.at[2] + first * y_step;
                __global const float *weights =
                    filter + ((a * columns.size + b) * depth + channel % depth) * filters + first;
                for (ulong f = 0; f < group; f++) {
                    sum += gradients[f * y_step] * weights[f];
                }
            }
        }
        dx[n * x_steps.at[0] + r * x_steps.at[1] + c * x_steps.at[2] + channel * x_steps.at[3]] = sum;
    }
}

// A group of work items has an element of the filter.
__kernel void conv2d_backprop_filter(IN(x), IN(dy), OUT(df), Windows rows, Windows columns, Sizes x_steps, Sizes y_steps,
                                     ulong depth, ulong filters, ulong group, ulong batch, ulong count) {
    READ(float, x);
    READ(float, dy);
    WRITE(float, df);
    __local float items[GROUP];
    const ulong images = columns.output * rows.output;
    EACH_GROUP(i, count) {
        const ulong f = i % filters, d = i / filters % depth, b = i / filters / depth % columns.size;
        const ulong a = i / filters / depth / columns.size, channel = f / group * depth + d;
        float sum = 0;
        for (ulong k = get_local_id(0); k < batch * images; k += GROUP) {
            const ulong column = k % columns.output, row = k / columns.output % rows.output, n = k / images;
            const long r = element_of(&rows, row, a), c = element_of(&columns, column, b);
            if (r >= 0 && c >= 0) {
                sum += x[n * x_steps.at[0] + r * x_steps.at[1] + c * x_steps.at[2] + channel * x_steps.at[3]] *
                       dy[n * y_steps.at[0] + row * y_steps.at[1] + column * y_steps.at[2] + f * y_steps.at[3]];
            }
        }
        COMBINE(PLUS, sum, items);
        if (get_local_id(0) == 0) {
            df[i] = sum;
        }
    }
}
