"""Who broke the batch gate: which trial to run next, or what the trials so far have shown. Logarithmic in the members."""

from collections.abc import Sequence

from msgspec import Struct


class Try(Struct, frozen=True):
    """Run the gates over the first `joined` members; with `old`, on the default branch as it was before all of them."""

    joined: int
    old: bool = False


class Tried(Struct, frozen=True):
    """What a trial showed. `conflict` is the place, from 1, of a member whose work did not join; 0 if all did."""

    joined: int
    old: bool
    green: bool
    conflict: int = 0


class Found(Struct, frozen=True):
    """`guilty` is the place, from 1, of the member to blame; 0 with a red end: no single one of them."""

    green: bool
    guilty: int = 0
    reason: str = ""


ALONE = "the gates fail on the default branch even without the work of this batch"
OUTSIDE = "the work of this batch passes together on the default branch as it was before; what fails came from elsewhere"
TANGLED = "the work does not join onto the default branch as it was before, so no single task can be named"


def next_step(members: int, merged: int, tried: Sequence[Tried]) -> Try | Found:
    """The first trial joins everything to the default branch. If it is red, prefixes of the members are tried on one base.

    Where some members are merged, the default branch holds them, so that base is the branch as it was before. The member
    with which a prefix turns red is the guilty one, if nothing but the base is green.
    """
    known = {(one.joined, one.old): one for one in tried}
    whole = known.get((members, False))
    if whole is None:
        return Try(members)
    if whole.green:
        return Found(green=True)
    if whole.conflict:
        return Found(green=False, guilty=whole.conflict, reason="its work does not join with the others'")
    old = merged > 0
    if old and (members, True) not in known:
        return Try(members, old)
    if old and known[members, True].conflict:
        return Found(green=False, reason=TANGLED)
    if old and known[members, True].green:
        return Found(green=False, reason=OUTSIDE)
    green, red = 0, members
    while red - green > 1:
        middle = (green + red) // 2
        found = known.get((middle, old))
        if found is None:
            return Try(middle, old)
        if found.conflict:
            return Found(green=False, reason=TANGLED)
        green, red = (middle, red) if found.green else (green, middle)
    if green == 0:
        base = known.get((0, old))
        if base is None:
            return Try(0, old)
        if not base.green:
            return Found(green=False, reason=ALONE)
    return Found(green=False, guilty=red, reason="the gates fail from this task's work on")
