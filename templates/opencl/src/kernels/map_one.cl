// Writes `F(x)` of each element.
__kernel void map_one(IN(x), OUT(y), ulong count) {
    READ(T, x);
    WRITE(T, y);
    EACH(i, count) {
        const T value = x[i];
        y[i] = F(value);
    }
}
