"""Predicts how long a step takes, from the steps that were measured."""

from dataclasses import dataclass, field

_FORGETTING = 0.95
"""Weight that a step leaves to those before it: a memory of about 20 steps."""
_SWEEPS = 4
_DEVIATION_WEIGHT = 1 / 16
_DEVIATIONS = 2.0
_STALL = 2.0
"""A step that takes this many times its prediction may be a stall, such as a compilation."""

Features = tuple[float, float, float]


class StepTime:
    """seconds = c0 + c1 * chunk tokens + c2 * decode tokens, fitted online.

    Least squares over recent steps, which counts steps with and without chunks apart: hours of
    decoding must not make it forget what a chunk costs. Coefficients are never negative, since
    no token makes a step shorter, and what recent steps leave open stays as it was.

    A prediction is the fit plus twice the mean deviation, as TCP's retransmission timer has it
    (RFC 6298), so that most steps and not half of them stay under it.

    Args:
        chunk_scale, decode_scale: the most tokens of each kind in a step, so that the three
            coefficients are of one order.
    """

    def __init__(self, chunk_scale: int, decode_scale: int) -> None:
        self._scales = (float(chunk_scale), float(decode_scale))
        self._coefficients = [0.0, 0.0, 0.0]
        self._sums = {False: _Sums(), True: _Sums()}
        self._deviation = 0.0
        self._stalled = {False: False, True: False}
        self.steps = 0
        """Steps learned from."""

    def learn(self, chunk_tokens: int, decode_tokens: int, seconds: float) -> None:
        """Takes in one measured step.

        A lone step that takes over twice its prediction says nothing about the model and is
        left out; a second one in a row of its kind, with chunks or without, is a change.
        """
        stalled = self.steps > 0 and seconds > _STALL * self.predict(chunk_tokens, decode_tokens)
        kind = chunk_tokens > 0
        is_lone = stalled and not self._stalled[kind]
        self._stalled[kind] = stalled
        if is_lone:
            return
        features = self._features(chunk_tokens, decode_tokens)
        if self.steps:
            error = abs(seconds - self._fitted(features))
            self._deviation += _DEVIATION_WEIGHT * (error - self._deviation)
        self.steps += 1
        self._sums[kind].add(features, seconds)
        self._fit()

    def predict(self, chunk_tokens: int, decode_tokens: int) -> float:
        """Seconds that such a step takes, with few exceptions."""
        fitted = self._fitted(self._features(chunk_tokens, decode_tokens))
        return fitted + _DEVIATIONS * self._deviation

    def chunk_tokens_within(self, seconds: float, decode_tokens: int) -> float:
        """Most chunk tokens with which a step is predicted to stay within `seconds`."""
        left = seconds - self.predict(0, decode_tokens)
        if left < 0:
            return 0.0
        per_token = self._coefficients[1] / self._scales[0]
        return left / per_token if per_token else float("inf")

    def _features(self, chunk_tokens: int, decode_tokens: int) -> Features:
        return (1.0, chunk_tokens / self._scales[0], decode_tokens / self._scales[1])

    def _fitted(self, features: Features) -> float:
        return sum(c * x for c, x in zip(self._coefficients, features, strict=True))

    def _fit(self) -> None:
        """Coordinate descent on the normal equations, from where the last step left it."""
        plain, mixed = self._sums.values()
        seconds = [a + b for a, b in zip(plain.seconds, mixed.seconds, strict=True)]
        products = [
            [a + b for a, b in zip(*rows, strict=True)]
            for rows in zip(plain.products, mixed.products, strict=True)
        ]
        for _ in range(_SWEEPS):
            for i, (p, q, r) in enumerate(products):
                a, b, c = self._coefficients
                curvature = products[i][i]
                if curvature:
                    descent = (seconds[i] - p * a - q * b - r * c) / curvature
                    self._coefficients[i] = max(0.0, self._coefficients[i] + descent)


@dataclass
class _Sums:
    """Sums over steps, the older the less: features by features, and features by seconds."""

    products: list[list[float]] = field(default_factory=lambda: [[0.0] * 3 for _ in range(3)])
    seconds: list[float] = field(default_factory=lambda: [0.0] * 3)

    def add(self, features: Features, seconds: float) -> None:
        for i, x in enumerate(features):
            self.seconds[i] = _FORGETTING * self.seconds[i] + x * seconds
            row = self.products[i]
            for j, y in enumerate(features):
                row[j] = _FORGETTING * row[j] + x * y
