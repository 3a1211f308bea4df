"""The cart: what somebody is about to buy."""


class Cart:
    """Names with prices in cents, in the order in which they were added."""

    def __init__(self):
        self.lines = []

    def add(self, name, price, quantity=1):
        """Put something in."""
        if quantity < 1:
            raise ValueError("a quantity is at least 1")
        self.lines.append((name, price, quantity))

    def total(self):
        """What all of it costs."""
        return sum(price * quantity for _, price, quantity in self.lines)
