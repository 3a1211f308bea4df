"""One commit of our own action, wherever we name it."""

import shutil

from scripts import pin_action
from tests.actions.conftest import ROOT

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def copy(tmp_path):
    for file in pin_action.files(ROOT):
        target = tmp_path / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return tmp_path


def test_the_shipped_files_name_one_commit():
    assert len(pin_action.pins(ROOT)) == 1


def test_a_pin_reaches_every_use_and_nothing_else(tmp_path):
    root = copy(tmp_path)
    before = (root / "workflows-templates/cf-task.yml").read_text()
    (old,) = pin_action.pins(root)

    assert pin_action.pin(root, COMMIT, "v1.2.3") >= 3
    assert pin_action.pins(root) == {(COMMIT, "v1.2.3")}
    after = (root / "workflows-templates/cf-task.yml").read_text()
    assert after == before.replace(f"{old[0]} # {old[1]}", f"{COMMIT} # v1.2.3")
    assert after.count(COMMIT) == after.count("cf-conductor/cf-conductor@")
    assert pin_action.pin(root, COMMIT, "v1.2.3") == 0


def test_what_is_no_commit_is_refused(capsys):
    assert pin_action.main(["v1"]) == 2
    assert pin_action.main([COMMIT, "--version", "latest"]) == 2
    assert "40 hexadecimal digits" in capsys.readouterr().err
