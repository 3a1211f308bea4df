import unittest

from shop.money import cents, show


class Money(unittest.TestCase):
    def test_reads_what_it_shows(self):
        self.assertEqual(show(cents("12.50")), "12.50")

    def test_refuses_what_is_no_amount(self):
        for text in ("", "1.5", "-1.00", "1.00.00", "a"):
            with self.subTest(text), self.assertRaises(ValueError):
                cents(text)
