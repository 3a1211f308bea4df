"""The shipped cf-batch.yml and action, run by act with the real bot inside, against a world served over HTTP."""

import pytest

from bot.sandbox.actions.engine import ActEngine
from bot.sandbox.actions.workspace import Service
from bot.sandbox.http.server import serve
from bot.sandbox.world.world import World
from tests.actions.conftest import QUICK, ROOT, BackedGit, git
from tests.actions.test_templates import templates
from tests.conductor.story import CONFIG

pytestmark = pytest.mark.e2e


@pytest.fixture
def shop(tmp_path):
    """A repository with our workflows, and act, which is given the orders only: the conductor's runs stay queued."""
    files = {**templates(), ".github/cf.yml": CONFIG}
    source, bare = tmp_path / "source", tmp_path / "acme/shop"
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(source, "init", "--quiet", "--initial-branch", "main")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "first")
    git(tmp_path, "clone", "--quiet", "--bare", str(source), str(bare))
    memory = BackedGit.of(files)
    setattr(memory, "bare", bare)  # noqa: B010 - `of` is typed as making the class it stands in
    world = World(git=memory, salt="pepper")
    with serve(world, protected=True) as served:
        engine = ActEngine(
            world, Service(served.url, "acme/shop", str(bare), served.api, served.graphql), ROOT, grace=QUICK
        )
        yield world, engine
        engine.close()


def dispatch(world, engine, **inputs):
    """One order by the maintainer, to its end; how it ended."""
    run = world.dispatch("cf-batch.yml", inputs=inputs, token="maintainer")
    engine.start(world.actions.run(run))
    assert engine.wait_idle(120)
    return world.actions.run(run)


def test_an_order_and_a_refused_one(shop):
    world, engine = shop
    task = world.open_issue("Do it")
    good = dispatch(world, engine, action="run", tasks=f"#{task}", strategy="serial")
    bad = dispatch(world, engine, action="run", tasks=f"{task} 900")

    assert (good.conclusion, bad.conclusion) == ("success", "failure")
    (batch,) = [issue for issue in world.issues.all() if issue.has_label("cf:batch")]
    assert "(serial)" in batch.title
    assert f"[run {good.id}]" in batch.body
    (job,) = bad.jobs.values()
    assert "#900 does not exist" in job.log
