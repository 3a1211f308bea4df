"""Markdown as safe HTML: foreign text may format, fold and link, and nothing else."""

import html
import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PIECES = re.compile(r"(<!--.*?-->|<[^>]*>)", re.DOTALL)
# Tags that hold no attribute but `open`: what GitHub comments of ours and of people fold and mark with.
_ALLOWED = re.compile(
    r"</?(?:details|summary|b|i|em|strong|code|sub|sup|kbd|p|br|hr)(?: open)?\s*/?>", re.IGNORECASE
)
_REFERENCE = re.compile(r"(?<![\w/#&])#([1-9]\d{0,9})\b")


def to_html(text: str, repository: str) -> str:
    """The text as HTML. Comments vanish, unknown tags show as text, `#12` becomes a link within the repository."""
    rendered: str = _parser().render(text, {"repository": repository})
    return rendered


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("html_block", _raw)
    parser.add_render_rule("html_inline", _raw)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("text", _text)
    return parser


def _raw(
    _self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: MutableMapping[str, Any]
) -> str:
    return "".join(_piece(piece) for piece in _PIECES.split(tokens[index].content))


def _piece(piece: str) -> str:
    if piece.startswith("<!--"):
        # What is left open would hide everything below it on GitHub; here it shows.
        return "" if piece.endswith("-->") else html.escape(piece)
    return piece if _ALLOWED.fullmatch(piece) else html.escape(piece)


def _image(
    _self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: MutableMapping[str, Any]
) -> str:
    """A link instead of a picture: a page of the sandbox loads nothing from elsewhere."""
    source = html.escape(str(tokens[index].attrs.get("src", "")))
    return f'<a href="{source}" rel="nofollow noopener">{html.escape(tokens[index].content or "image")}</a>'


def _text(
    _self: Any, tokens: Sequence[Token], index: int, _options: Any, env: MutableMapping[str, Any]
) -> str:
    repository = html.escape(env["repository"])
    shown = html.escape(tokens[index].content)
    return _REFERENCE.sub(rf'<a href="/{repository}/issues/\1">#\1</a>', shown)
