import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_adds_up(self):
        cart = Cart()
        cart.add("tea", 450)
        cart.add("cup", 300, 2)
        self.assertEqual(cart.total(), 1050)

    def test_refuses_nothing(self):
        with self.assertRaises(ValueError):
            Cart().add("tea", 450, 0)
