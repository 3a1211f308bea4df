"""The stand-ins for other people's actions keep to the inputs that ours are written for."""

import pytest

pytestmark = pytest.mark.e2e

UPLOAD = "actions/upload-artifact@v7"
DOWNLOAD = "actions/download-artifact@v8"
CHECKOUT = "actions/checkout@v6"


def job(*steps):
    lines = ["on: workflow_dispatch", "jobs:", "  one:", "    runs-on: ubuntu-latest", "    steps:"]
    return "\n".join([*lines, *(f"      - {step}" for step in steps)]) + "\n"


def log(run):
    (only,) = run.jobs.values()
    return only.log


class TestCheckout:
    def test_a_branch_with_its_history_and_no_credential(self, lab):
        run = lab(
            job(
                f"{{uses: '{CHECKOUT}', with: {{ref: main, fetch-depth: 0, persist-credentials: false}}}}",
                "run: 'echo \"at $(git rev-parse HEAD) on $(git branch --show-current), like $(git rev-parse origin/main)\"'",
                "run: 'grep -rn -e ghs_ -e AUTHORIZATION -i .git \"$HOME\" || echo nothing kept'",
                "run: 'git config --get-regexp extraheader || echo nothing set'",
                "run: 'ls .github/workflows'",
            )
        ).run()

        assert run.conclusion == "success"
        assert f"at {run.head_sha} on main, like {run.head_sha}" in log(run)
        assert "nothing kept\n" in log(run)
        assert "nothing set\n" in log(run)
        assert "w.yml\n" in log(run)

    def test_the_commit_of_the_run_where_no_ref_is_given(self, lab):
        run = lab(
            job(
                f"{{uses: '{CHECKOUT}', with: {{persist-credentials: false}}}}",
                "run: 'echo \"at $(git rev-parse HEAD) on <$(git branch --show-current)>, $(git rev-list --count HEAD) deep\"'",
            )
        ).run()

        assert f"at {run.head_sha} on <>, 1 deep" in log(run)

    def test_it_refuses_to_keep_a_credential(self, lab):
        run = lab(job(f"uses: {CHECKOUT}")).run()

        assert run.conclusion == "failure"
        assert "persist-credentials: false" in log(run)

    def test_an_unknown_ref_fails_with_gits_words(self, lab):
        run = lab(
            job(f"{{uses: '{CHECKOUT}', with: {{ref: nowhere, fetch-depth: 0, persist-credentials: false}}}}")
        ).run()

        assert run.conclusion == "failure"
        assert "nowhere" in log(run)


class TestArtifacts:
    def test_files_come_back_as_they_were(self, lab):
        here = lab(
            job(
                "run: mkdir -p out/deep && echo 1 > out/a && echo 2 > out/deep/b && echo 3 > out/.hidden",
                f"{{uses: '{UPLOAD}', with: {{name: first, path: out}}}}",
                f"{{uses: '{UPLOAD}', with: {{name: second, path: out, include-hidden-files: true}}}}",
                f"{{uses: '{DOWNLOAD}', with: {{name: first, path: one}}}}",
                f"{{uses: '{DOWNLOAD}', with: {{pattern: '*s*', path: all}}}}",
                f"{{uses: '{DOWNLOAD}', with: {{pattern: '*', path: merged, merge-multiple: true}}}}",
                "run: find one all merged -type f | sort",
            )
        )
        run = here.run()

        assert here.files_of(run, "first") == {"a": "1\n", "deep/b": "2\n"}
        assert here.files_of(run, "second") == {"a": "1\n", "deep/b": "2\n", ".hidden": "3\n"}
        found = [line for line in log(run).splitlines() if line.startswith(("one/", "all/", "merged/"))]
        assert found == [
            "all/first/a", "all/first/deep/b", "all/second/.hidden", "all/second/a", "all/second/deep/b",
            "merged/.hidden", "merged/a", "merged/deep/b", "one/a", "one/deep/b",
        ]  # fmt: skip

    def test_a_name_is_taken_unless_it_may_be_overwritten(self, lab):
        here = lab(
            job(
                "run: echo 1 > a",
                f"{{uses: '{UPLOAD}', with: {{name: same, path: a}}}}",
                "run: echo 2 > a",
                f"{{uses: '{UPLOAD}', with: {{name: same, path: a, overwrite: true}}}}",
                f"{{uses: '{UPLOAD}', with: {{name: same, path: a}}}}",
            )
        )
        run = here.run()

        assert run.conclusion == "failure"
        assert "An artifact with the name same already exists" in log(run)
        assert here.files_of(run, "same") == {"a": "2\n"}

    @pytest.mark.parametrize(
        ("wish", "conclusion"), [("ignore", "success"), ("warn", "success"), ("error", "failure")]
    )
    def test_no_files(self, lab, wish, conclusion):
        run = lab(
            job(f"{{uses: '{UPLOAD}', with: {{name: none, path: nowhere, if-no-files-found: {wish}}}}}")
        ).run()

        assert run.conclusion == conclusion
        assert run.artifacts == []
        assert ("No files were found" in log(run)) is (wish != "ignore")

    def test_a_missing_artifact_fails_and_a_pattern_without_match_does_not(self, lab):
        run = lab(
            job(
                f"{{uses: '{DOWNLOAD}', with: {{pattern: 'x-*'}}}}",
                f"{{uses: '{DOWNLOAD}', with: {{name: missing}}}}",
            )
        ).run()

        assert run.conclusion == "failure"
        assert "No artifacts matched." in log(run)
        assert "Artifact not found for name: missing" in log(run)

    def test_names_that_github_refuses(self, lab):
        run = lab(job("run: touch a", f"{{uses: '{UPLOAD}', with: {{name: 'a/b', path: a}}}}")).run()

        assert run.conclusion == "failure"
        assert "cannot be the name of an artifact" in log(run)


@pytest.mark.parametrize("line", ["uv pip install x", "uv run --with x python -c 1", "uv run pytest"])
def test_uv_says_what_it_cannot_do(lab, line):
    run = lab(job("uses: astral-sh/setup-uv@v10", f"run: {line}")).run()

    assert run.conclusion == "failure"
    assert "uv (sandbox)" in log(run)
