# Copyright of nobody in particular.

"""Areas of plane figures."""

import math

UNITS = {
    "mm": 0.001,
    "cm": 0.01,
}


# Figures are immutable.
@total
class Circle(Figure):
    """A circle around its centre."""

    sides: int = 0

    @property
    def area(self) -> float:
        return math.pi * self.radius**2

    def scaled(
        self,
        factor: float,
    ) -> "Circle":
        if factor < 0:
            raise ValueError(
                "negative",
            )
        else:
            # Keeps the centre.
            radius = self.radius * factor
        return Circle(radius)


async def largest(figures):
    return max(figures)


if __name__ == "__main__":
    main()
