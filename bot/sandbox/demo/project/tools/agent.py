"""A coding agent for people without a model key: it knows seven tasks by heart, and plays its own mistakes.

It is called as every agent of the engine `command` is: the task stands in the file that CF_PROMPT_FILE names, the current
folder is the checkout, a question goes to CF_QUESTION_FILE, a summary to CF_SUMMARY_FILE. It needs nothing but Python.
"""

import os
import re
import sys
import time
from pathlib import Path

_REMOVE = '''
    def remove(self, name):
        """Take every line of that name out. Raises KeyError if there is none."""
        kept = [line for line in self.lines if line[0] != name]
        if len(kept) == len(self.lines):
            raise KeyError(name)
        self.lines = kept
'''

_REMOVE_TEST = '''
    def test_takes_out(self):
        cart = Cart()
        cart.add("tea", 450)
        cart.remove("tea")
        self.assertEqual(cart.total(), 0)
        with self.assertRaises(KeyError):
            cart.remove("tea")
'''

_COUNT = '''
    def count(self):
        """How many things are in it."""
        return sum(quantity for _, _, quantity in self.lines)
'''

_COUNT_TEST = '''
    def test_counts(self):
        cart = Cart()
        cart.add("tea", 450)
        cart.add("cup", 300, 2)
        self.assertEqual(cart.count(), 3)
'''

_CURRENCY = '''

def show_in(amount, currency="EUR"):
    """The amount with its currency."""
    return f"{show(amount)} {currency}"
'''

_CURRENCY_TEST = '''import unittest

from shop.money import show_in


class Currency(unittest.TestCase):
    def test_shows_it(self):
        self.assertEqual(show_in(1250), "12.50 EUR")
        self.assertEqual(show_in(5, "CHF"), "0.05 CHF")
'''

_DISCOUNT = '''"""Discounts in percent."""


def discounted(amount, percent):
    """The amount less so many percent, half a cent rounded in the buyer's favour."""
    if not 0 <= percent <= 100:
        raise ValueError("a discount is 0 to 100 percent")
    return {rounded}
'''

_DISCOUNT_TEST = '''import unittest

from shop.discount import discounted


class Discount(unittest.TestCase):
    def test_rounds_to_the_nearest_cent(self):
        self.assertEqual(discounted(1000, 25), 750)
        self.assertEqual(discounted(999, 10), 899)
        self.assertEqual(discounted(5, 10), 4)

    def test_has_bounds(self):
        with self.assertRaises(ValueError):
            discounted(100, 101)
'''

_VAT = '''"""Value added tax, which is part of the prices."""

RATE = {rate}


def vat(amount):
    """How much of the amount is tax, to the nearest cent."""
    return (2 * amount * RATE + 100 + RATE) // (2 * (100 + RATE))
'''

_VAT_TEST = '''import unittest

from shop.vat import RATE, vat


class Vat(unittest.TestCase):
    def test_is_part_of_the_price(self):
        self.assertEqual(vat(100 + RATE), RATE)
        self.assertEqual(vat(0), 0)
'''

_RECEIPT = '''"""The receipt, as text."""

from shop.discount import discounted
from shop.money import show_in
from shop.vat import vat


def receipt(cart, discount=0):
    """One line for each thing, then discount, total and tax."""
    total = discounted(cart.total(), discount)
    lines = [f"{quantity} x {name}: {show_in(price * quantity)}" for name, price, quantity in cart.lines]
    if discount:
        lines.append(f"Discount: {discount} %")
    return "\\n".join([*lines, f"Total: {show_in(total)}", f"Tax in it: {show_in(vat(total))}"])
'''

_RECEIPT_TEST = '''import unittest

from shop.cart import Cart
from shop.money import show_in
from shop.receipt import receipt
from shop.vat import vat


class Receipt(unittest.TestCase):
    def test_prints(self):
        cart = Cart()
        cart.add("tea", 500, 2)
        self.assertEqual(
            receipt(cart, 10).splitlines(),
            ["2 x tea: 10.00 EUR", "Discount: 10 %", "Total: 9.00 EUR", f"Tax in it: {show_in(vat(900))}"],
        )
'''

_QUESTION = """The issue names no rate for the value added tax. Which one is it?

A. 19 percent
B. 7 percent

Tried: README and issue; neither says what the shop sells.
"""


def remove_items(prompt):
    append("shop/cart.py", _REMOVE)
    append("tests/test_cart.py", _REMOVE_TEST)
    return "The cart forgets a line by its name."


def count_items(prompt):
    append("shop/cart.py", _COUNT)
    append("tests/test_cart.py", _COUNT_TEST)
    return "The cart counts what is in it."


def currency(prompt):
    append("shop/money.py", _CURRENCY)
    write("tests/test_currency.py", _CURRENCY_TEST)
    return "Amounts are shown with their currency."


def discounts(prompt):
    """At first the remainder is dropped from the wrong side, which the tests notice; then their output is in the prompt."""
    again = "## Earlier attempts" in prompt
    rounded = "amount - (amount * percent + 50) // 100" if again else "amount * (100 - percent) // 100 + 1"
    write("shop/discount.py", _DISCOUNT.format(rounded=rounded))
    write("tests/test_discount.py", _DISCOUNT_TEST)
    return "Discounts are rounded to the nearest cent." + (" The first attempt was a cent off." if again else "")


def tax(prompt):
    """The rate cannot be guessed: without an answer this is a question."""
    answer = re.search(r"^A \([^)\n]*\): *(.+)$", prompt, re.MULTILINE)
    if answer is None:
        write(os.environ["CF_QUESTION_FILE"], _QUESTION)
        return ""
    rate = 7 if re.match(r"B\b|.*\b7\b", answer[1]) else 19
    write("shop/vat.py", _VAT.format(rate=rate))
    write("tests/test_vat.py", _VAT_TEST)
    return f"The tax is {rate} percent, as was answered."


def print_receipt(prompt):
    write("shop/receipt.py", _RECEIPT)
    write("tests/test_receipt.py", _RECEIPT_TEST)
    return "A receipt with discount and tax."


def export_xml(prompt):
    """Something that takes long, until somebody has second thoughts."""
    for page in range(1, 1200):
        print(f"reading page {page} of the standard", flush=True)
        time.sleep(0.25)
    return ""


KNOWN = {
    "Remove items from the cart": remove_items,
    "Show amounts with their currency": currency,
    "Discounts in percent": discounts,
    "Tax on the receipt": tax,
    "Print a receipt": print_receipt,
    "Export the cart as XML": export_xml,
    "Count the items of a cart": count_items,
}


def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def append(path, text):
    write(path, Path(path).read_text(encoding="utf-8") + text)


def main():
    prompt = Path(os.environ["CF_PROMPT_FILE"]).read_text(encoding="utf-8")
    title = re.search(r"^# Task #\d+: (.*)$", prompt, re.MULTILINE)
    known = KNOWN.get(title[1].strip()) if title else None
    if known is None:
        sys.exit(f"this agent knows {', '.join(KNOWN)}; not {title[1] if title else 'a prompt without a title'}")
    print(f"working on {title[1]}", flush=True)
    if summary := known(prompt):
        write(os.environ["CF_SUMMARY_FILE"], summary + "\n")
        print(summary)


if __name__ == "__main__":
    main()
