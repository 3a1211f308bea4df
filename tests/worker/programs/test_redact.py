"""SEC-11: a secret is found in every form it may take on its way out."""

import base64
import json
from urllib.parse import quote

import pytest

from bot.worker.programs.redact import RedactedStream, Redactor

SECRET = 'sk-test-AbC/+0=9xyz"q'
OTHER = "tok-0123456789abcdefghij"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORMS = {
    "plain": lambda s: s,
    "base64": b64,
    "base64url": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "base64 behind one": lambda s: b64(f"x{s}"),
    "base64 behind two": lambda s: b64(f"xy{s}z"),
    "url": lambda s: quote(s, safe=""),
    "json": lambda s: json.dumps(s)[1:-1],
    "hex": lambda s: s.encode().hex(),
    "one character a line": "\n".join,
    "two lines": lambda s: f"{s[:7]}\r\n{s[7:]}",
    "added lines of a diff": lambda s: f"{s[:7]}\n+{s[7:]}",
    "base64 in lines": lambda s: f"{b64(s)[:9]}\n{b64(s)[9:]}",
}


@pytest.mark.parametrize("secret", [SECRET, OTHER])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_is_replaced(secret, form):
    redactor = Redactor([SECRET, OTHER])
    text = f"before {form(secret)} after"

    assert redactor.finds(text)
    assert "***" in redactor.text(text)
    assert form(secret) not in redactor.text(text)
    assert not redactor.finds(redactor.text(text))


def test_ordinary_text_is_left_alone():
    redactor = Redactor([SECRET, "short"])

    assert redactor.text("short words, sk-test- and tokens") == "short words, sk-test- and tokens"
    assert not Redactor([]).finds("nothing")


def test_shapes_that_can_only_be_secrets_are_found_without_being_known():
    redactor = Redactor([])
    for shape in (
        "ghs_" + "a" * 36,
        "github_pat_" + "b" * 70,
        "-----BEGIN RSA PRIVATE KEY-----",
        "AKIAABCDEFGHIJKLMNOP",
    ):
        assert redactor.text(f"x {shape} y") == "x *** y"


def test_lines_of_a_private_key_are_secrets_too():
    redactor = Redactor(["-----BEGIN-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEF\n-----END-----"])

    assert redactor.text("a hkiG9w0BAQEF b") == "a *** b"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_stream_cut_anywhere_shows_no_more_than_a_hint(size):
    stream = RedactedStream(Redactor([OTHER]))
    text = f"one {OTHER} two {OTHER[:8]}\n{OTHER[8:]} three"

    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.flush()

    assert shown.count("***") == 2
    assert not any(OTHER[at : at + 4] in shown for at in range(len(OTHER) - 3))
    assert shown.endswith(" three")
