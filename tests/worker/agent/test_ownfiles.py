"""Files that an agent leaves for us."""

import os

from bot.worker.agent.ownfiles import read_foreign


def test_files_an_agent_leaves_are_read_only_if_they_are_files(tmp_path):
    folder = tmp_path / ".cf"
    folder.mkdir()
    (folder / "plain").write_bytes(b"ok \xff")
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    (tmp_path / "alias").symlink_to(folder)

    found = [read_foreign(folder / name) for name in ("plain", "link", "pipe", "none")]

    assert found == ["ok \ufffd", "", "", ""]
    assert read_foreign(tmp_path / "alias" / "plain") == ""
