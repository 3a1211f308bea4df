"""Whether a unit comes from whoever conducts here: anybody who may start workflows can send one that names an account of theirs."""

from bot.github.port import Reader
from bot.model.config import Config
from bot.model.errors import CannotGoOn
from bot.model.unit import Unit
from bot.notation.config import read_config
from bot.plan.facts.who_conducts import NOBODY, Conducts, who_conducts, without_key


def check_conductor(github: Reader, unit: Unit, config: Config) -> None:
    """Raise CannotGoOn unless the unit names the account that conducts, or one that it took over from, as ours; and where what is
    kept here is signed, and this job has no key to judge it by.

    The configuration is that of the dispatch, so where it says no, today's is asked: there may have been a hand-over since.
    """
    label = config.label("dashboard")
    conducts = who_conducts(github.labelled(label), (), NOBODY, config)
    if conducts.newest is not None and (words := without_key([conducts.newest.issue.body])):
        raise CannotGoOn(words)
    if _knows(conducts, unit):
        return
    view = github.view(config.prefix, None)
    labelled = [issue for issue in view.issues if issue.has_label(label)]
    conducts = who_conducts(labelled, (), NOBODY, read_config(view.config_text, view.config_blob))
    if not _knows(conducts, unit):
        assert conducts.account is not None
        raise CannotGoOn(
            f"{conducts.account.login} conducts here, and this unit was not sent by it: nothing was published."
            f" The work is kept in the artifact cf-work-{unit.keys[0]}"
        )


def _knows(conducts: Conducts, unit: Unit) -> bool:
    return conducts.account is None or bool(conducts.accounts & {*unit.accounts})
