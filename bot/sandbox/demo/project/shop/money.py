"""Amounts of money, as whole cents."""


def cents(text):
    """The amount that a text like `12.50` means. Raises ValueError for anything else."""
    whole, dot, rest = text.partition(".")
    if not whole.isdecimal() or (dot and not (rest.isdecimal() and len(rest) == 2)):
        raise ValueError(f"{text!r} is no amount; write it like 12.50")
    return int(whole) * 100 + int(rest or 0)


def show(amount):
    """The amount as people write it."""
    return f"{amount // 100}.{amount % 100:02}"
