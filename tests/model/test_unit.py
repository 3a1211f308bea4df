"""The verify jobs that a list of gates needs."""

from bot.model.ref import Ref
from bot.model.unit import Gate, VerifyLeg, verify_legs


def test_the_gates_of_one_system_share_a_job():
    assert verify_legs([Gate("tests", "make test"), Gate("lint", "make lint")]) == (
        VerifyLeg("ubuntu-latest", "ubuntu-latest", ("tests", "lint")),
    )


def test_each_system_of_a_gate_is_a_job_and_each_only_once():
    gate = Gate("tests", "make test", os=("ubuntu-latest", "windows-latest", "ubuntu-latest"))
    assert [(leg.os, leg.gates) for leg in verify_legs([gate])] == [
        ("ubuntu-latest", ("tests",)),
        ("windows-latest", ("tests",)),
    ]


def test_a_gate_that_wants_its_own_job_gets_one_and_the_others_still_share():
    gates = [Gate("tests", "a"), Gate("slow", "b", own_job=True), Gate("lint", "c")]
    assert [(leg.name, leg.gates) for leg in verify_legs(gates)] == [
        ("ubuntu-latest", ("tests", "lint")),
        ("ubuntu-latest slow", ("slow",)),
    ]


def test_no_gates_need_no_job():
    assert verify_legs([]) == ()


def test_references_compare_without_case():
    assert Ref("ACME/Shop", 3) == Ref("acme/shop", 3)
    assert str(Ref("ACME/Shop", 3)) == "acme/shop#3"
