// Writes `F(x, y)` of the elements of two operands, which broadcast.
__kernel void map_two(IN(x), IN(y), OUT(z), ulong rank, Sizes lens, Sizes x_steps, Sizes y_steps, ulong count) {
    READ(T, x);
    READ(T, y);
    WRITE(T, z);
    if (rank == 1) {
        const ulong x_step = x_steps.at[0], y_step = y_steps.at[0];
        EACH(i, count) {
            const T a = x[i * x_step], b = y[i * y_step];
            z[i] = F(a, b);
        }
        return;
    }
    EACH(i, count) {
        const T a = x[position(i, rank, lens, x_steps)], b = y[position(i, rank, lens, y_steps)];
        z[i] = F(a, b);
    }
}
