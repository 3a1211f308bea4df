"""The picture of needs."""

from bot.sandbox.play.needs_graph import mermaid
from tests.sandbox.play.seen import MERGED, task


def test_draws_nodes_edges_and_colours():
    drawn = mermaid([MERGED, task(2, needs=(1, 99), title='Say "hi"; <b>')]).splitlines()
    assert drawn[0] == "graph LR"
    assert '  t2["#2 Say hi b<br>ready"]' in drawn
    assert "  t1 --> t2" in drawn
    assert not any("t99" in line for line in drawn)
    assert "  class t1 merged" in drawn
