"""The source of large cases: the table's shapes with some dimensions of many elements, and few wrong arguments."""

import numpy as np
from drawn import Drawn

# Most elements of a case's inputs.
MOST = 1 << 21
SCALE = 40


class TooLarge(Exception):
    """The inputs of a case have too many elements."""


class Large(Drawn):
    """Draws from a seed what `Drawn` draws from hypothesis; numbers that are sizes are often `SCALE` times as large."""

    def __init__(self, seed, dtype):
        self.generator, self.elements = np.random.default_rng(seed), 0
        super().__init__(None, dtype, False)

    @property
    def rng(self):
        return self.generator

    def scaled(self, number, is_size):
        return number * SCALE if is_size and self.generator.random() < 0.4 else number

    def below(self, limit):
        return self.scaled(int(self.generator.integers(limit)), 6 <= limit <= 9)

    def between(self, low, high):
        return self.scaled(int(self.generator.integers(low, high, endpoint=True)), low in (0, 1) and 3 <= high <= 9)

    def chance(self, probability):
        return probability > 0.1 and self.generator.random() < probability

    def choice(self, items):
        item = items[int(self.generator.integers(len(items)))]
        are_sizes = len(items) >= 4 and all(isinstance(it, int) and not isinstance(it, bool) and it > 0 for it in items)
        return self.scaled(item, are_sizes)

    def shape(self, least=0, most=5):
        rank = int(self.generator.integers(least, max(min(most, 4), least), endpoint=True))
        dims, left = [], MOST // 64
        for _ in range(rank):
            dims.append(int(self.generator.choice([it for it in (1, 2, 3, 20, 50, 300, 2500) if it <= max(left, 1)])))
            left //= dims[-1]
        return tuple(int(it) for it in self.generator.permutation(dims))

    def tensor(self, shape=None, dtype=None, few=False):
        return super().tensor(self.counted(self.shape(most=8) if shape is None else shape), dtype, few)

    def normal(self, shape, dtype=None, scale=3.0):
        return super().normal(self.counted(shape), dtype, scale)

    def uniform(self, low, high, shape, dtype=None):
        return super().uniform(low, high, self.counted(shape), dtype)

    def counted(self, shape):
        """Returns a shape that is an int or a sequence of dims."""
        self.elements += int(np.prod(shape, dtype=np.float64))
        if self.elements > MOST:
            raise TooLarge
        return shape
