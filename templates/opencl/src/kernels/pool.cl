// Maxima and averages over windows, and their gradients. Steps are those of batch, rows, columns and channels.

// Defines the position of element `i` of a tensor of `row_count` x `column_count` x `channels` elements.
#define POSITION(i, row_count, column_count, channels)                                       \
    const ulong channel = i % channels, column = i / channels % column_count;                \
    const ulong row = i / channels / column_count % row_count, n = i / channels / column_count / row_count

// Returns the number of elements of a window that are not padding.
ulong window_count(const Windows *rows, const Windows *columns, ulong row, ulong column) {
    ulong count = 0;
    for (ulong a = 0; a < rows->size; a++) {
        for (ulong b = 0; b < columns->size; b++) {
            count += element_of(rows, row, a) >= 0 && element_of(columns, column, b) >= 0;
        }
    }
    return count;
}

__kernel void max_pool(IN(x), OUT(y), Windows rows, Windows columns, Sizes x_steps, Sizes y_steps, ulong channels, ulong count) {
    READ(float, x);
    WRITE(float, y);
    EACH(i, count) {
        POSITION(i, rows.output, columns.output, channels);
        __global const float *image = x + n * x_steps.at[0] + channel * x_steps.at[3];
        float largest = -INFINITY;
        for (ulong a = 0; a < rows.size; a++) {
            const long r = element_of(&rows, row, a);
            for (ulong b = 0; b < columns.size; b++) {
                const long c = element_of(&columns, column, b);
                if (r >= 0 && c >= 0) {
                    const float value = image[r * x_steps.at[1] + c * x_steps.at[2]];
                    largest = largest != largest || largest > value ? largest : value;
                }
            }
        }
        y[n * y_steps.at[0] + row * y_steps.at[1] + column * y_steps.at[2] + channel * y_steps.at[3]] = largest;
    }
}

// The gradient of a window is that of its first largest element.
__kernel void max_pool_grad(IN(x), IN(dy), OUT(dx), Windows rows, Windows columns, Sizes x_steps, Sizes y_steps,
                            ulong channels, ulong count) {
    READ(float, x);
    READ(float, dy);
    WRITE(float, dx);
    EACH(i, count) {
        POSITION(i, rows.input, columns.input, channels);
        __global const float *image = x + n * x_steps.at[0] + channel * x_steps.at[3];
        __global const float *gradients = dy + n * y_steps.at[0] + channel * y_steps.at[3];
        float sum = 0;
        for (ulong a = 0; a < rows.size; a++) {
            const long o = window_of(&rows, row, a);
            for (ulong b = 0; b < columns.size; b++) {
                const long p = window_of(&columns, column, b);
                if (o < 0 || p < 0) {
                    continue;
                }
                float largest = 0;
                ulong place = ULONG_MAX;
                for (ulong j = 0; j < rows.size; j++) {
                    const long r = element_of(&rows, o, j);
                    for (ulong k = 0; k < columns.size; k++) {
                        const long c = element_of(&columns, p, k);
                        if (r >= 0 && c >= 0) {
                            const float value = image[r * x_steps.at[1] + c * x_steps.at[2]];
                            if (place == ULONG_MAX || value > largest) {
                                largest = value;
                                place = j * columns.size + k;
                            }
                        }
                    }
                }
                sum += place == a * columns.size + b ? gradients[o * y_steps.at[1] + p * y_steps.at[2]] : 0;
            }
        }
        dx[n * x_steps.at[0] + row * x_steps.at[1] + column * x_steps.at[2] + channel * x_steps.at[3]] = sum;
    }
}

__kernel void average_pool(IN(x), OUT(y), Windows rows, Windows columns, Sizes x_steps, Sizes y_steps,
                           ulong channels, ulong count) {
    READ(float, x);
    WRITE(float, y);
    EACH(i, count) {
        POSITION(i, rows.output, columns.output, channels);
        __global const float *image = x + n * x_steps.at[0] + channel * x_steps.at[3];
        float sum = 0;
        for (ulong a = 0; a < rows.size; a++) {
            const long r = element_of(&rows, row, a);
            for (ulong b = 0; b < columns.size; b++) {
                const long c = element_of(&columns, column, b);
                sum += r >= 0 && c >= 0 ? image[r * x_steps.at[1] + c * x_steps.at[2]] : 0;
            }
        }
        const float elements = window_count(&rows, &columns, row, column);
        y[n * y_steps.at[0] + row * y_steps.at[1] + column * y_steps.at[2] + channel * y_steps.at[3]] = sum / elements;
    }
}

__kernel void average_pool_grad(IN(dy), OUT(dx), Windows rows, Windows columns, Sizes x_steps, Sizes y_steps,
                                ulong channels, ulong count) {
    READ(float, dy);
    WRITE(float, dx);
    EACH(i, count) {
        POSITION(i, rows.input, columns.input, channels);
        __global const float *gradients = dy + n * y_steps.at[0] + channel * y_steps.at[3];
        float sum = 0;
        for (ulong a = 0; a < rows.size; a++) {
            const long o = window_of(&rows, row, a);
            for (ulong b = 0; b < columns.size; b++) {
                const long p = window_of(&columns, column, b);
                if (o >= 0 && p >= 0) {
                    sum += gradients[o * y_steps.at[1] + p * y_steps.at[2]] / window_count(&rows, &columns, o, p);
                }
            }
        }
        dx[n * x_steps.at[0] + row * x_steps.at[1] + column * x_steps.at[2] + channel * x_steps.at[3]] = sum;
    }
}
