// Steps of optimizers. Rates and decays are tensors of one element.

__kernel void gradient_descent(OUT(variable), IN(gradient), IN(rate), ulong count) {
    WRITE(float, variable);
    READ(float, gradient);
    READ(float, rate);
    EACH(i, count) {
        variable[i] -= rate[0] * gradient[i];
    }
}

// The rate applies to the sum of the gradients.
__kernel void momentum(OUT(variable), OUT(sum), IN(gradient), IN(rate), IN(decay), ulong is_nesterov, ulong count) {
    WRITE(float, variable);
    WRITE(float, sum);
    READ(float, gradient);
    READ(float, rate);
    READ(float, decay);
    EACH(i, count) {
        const float total = sum[i] * decay[0] + gradient[i];
        sum[i] = total;
        variable[i] -= is_nesterov ? gradient[i] * rate[0] + total * decay[0] * rate[0] : rate[0] * total;
    }
}

// The rate applies to each gradient.
__kernel void keras_momentum(OUT(variable), OUT(sum), IN(gradient), IN(rate), IN(decay), ulong is_nesterov, ulong count) {
    WRITE(float, variable);
    WRITE(float, sum);
    READ(float, gradient);
    READ(float, rate);
    READ(float, decay);
    EACH(i, count) {
        const float total = sum[i] * decay[0] - gradient[i] * rate[0];
        sum[i] = total;
        variable[i] += is_nesterov ? total * decay[0] - gradient[i] * rate[0] : total;
    }
}

__kernel void adam(OUT(variable), OUT(mean), OUT(square), IN(gradient), IN(power1), IN(power2), IN(rate), IN(decay1), IN(decay2),
                   IN(epsilon), ulong is_nesterov, ulong count) {
    WRITE(float, variable);
    WRITE(float, mean);
    WRITE(float, square);
    READ(float, gradient);
    READ(float, power1);
    READ(float, power2);
    READ(float, rate);
    READ(float, decay1);
    READ(float, decay2);
    READ(float, epsilon);
    const float step = rate[0] * sqrt(1 - power2[0]) / (1 - power1[0]);
    EACH(i, count) {
        const float g = gradient[i];
        const float m = mean[i] + (g - mean[i]) * (1 - decay1[0]);
        const float v = square[i] + (g * g - square[i]) * (1 - decay2[0]);
        mean[i] = m;
        square[i] = v;
        variable[i] -= (is_nesterov ? g * (1 - decay1[0]) + decay1[0] * m : m) * step / (sqrt(v) + epsilon[0]);
    }
}
