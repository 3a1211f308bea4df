"""The map of files: folded to folders where it does not fit."""

from bot.worker.prompt.filemap import file_map


def test_a_large_map_is_folded_to_folders():
    paths = [f"src/app/part{n % 50}/deep/er/file{n}.py" for n in range(3_000)] + ["README.md"]

    whole, complete = file_map(paths, 100_000)
    assert complete
    assert whole.count("\n") == 3_000
    folded, complete = file_map(paths, 900)
    assert not complete
    assert "src/app/part7/deep/er/ (60 files)" in folded
    assert file_map(paths, 20) == ("./ (1 file)\nsrc/app/ (3000 files)", False)
    assert file_map(paths, 1) == ("", False)
