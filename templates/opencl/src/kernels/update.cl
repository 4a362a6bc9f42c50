// Changes each element of a variable to `F(x, y)`.
__kernel void update(OUT(x), IN(y), ulong count) {
    WRITE(T, x);
    READ(T, y);
    EACH(i, count) {
        const T old = x[i], value = y[i];
        x[i] = F(old, value);
    }
}
