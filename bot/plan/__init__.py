"""The rules: a snapshot goes in, one decision with its reason for every tracked task comes out.

This page is the contents of all behaviour. For each task the first rule that has something to say decides; a task about
which no rule speaks is free to start, and `start_in_order` hands out the slots.
"""

from collections.abc import Callable

from bot.model.decision import Decision, Plan
from bot.model.snapshot import Snapshot
from bot.plan.attempts.pull_requests import await_review, publish_again
from bot.plan.attempts.running import follow_attempt
from bot.plan.batches.lifecycle import follow_batches
from bot.plan.batches.members import admit, end_by_force, heed_gate, leave_ended_batch
from bot.plan.board import Board, Item
from bot.plan.commands.consent import consented, on_dashboard
from bot.plan.commands.obey import for_all_tasks, obey, obey_stop, with_reactions
from bot.plan.commands.proposals import take_over
from bot.plan.commands.replies import respond
from bot.plan.facts.baselines import in_records, known_baselines
from bot.plan.notices import hint_misplaced, mention_late, tell_set_up
from bot.plan.people import (
    admit_reopened,
    close_what_merged,
    keep_current,
    obey_close,
    obey_move,
    withdraw_unlabelled,
)
from bot.plan.questions.answers import take_answers, wait_for_people
from bot.plan.questions.questions import heed_veto, remembered, settle_questions
from bot.plan.shared_fixes import (
    admit_fix,
    await_fix,
    close_spare_fix,
    fixed_now,
    fixes_to_open,
    tell_failed_fix,
)
from bot.plan.starts.budgets import hold_over_budget
from bot.plan.starts.relations import mention_mismatch, to_be_written
from bot.plan.starts.starts import (
    hold_all_starts,
    hold_back_off,
    hold_cyclic,
    hold_for_needs,
    hold_paused,
    hold_unapproved,
    hold_unreadable,
    hold_until_called,
    hold_without_agent,
    start_in_order,
)

Rule = Callable[[Item, Board], Decision | None]

RULES: tuple[Rule, ...] = (
    hold_unreadable,
    obey_close,
    obey_stop,
    admit_reopened,
    close_what_merged,
    withdraw_unlabelled,
    obey_move,
    heed_veto,
    end_by_force,
    follow_attempt,
    keep_current,
    take_answers,
    heed_gate,
    await_review,
    publish_again,
    leave_ended_batch,
    hold_cyclic,
    close_spare_fix,
    await_fix,
    tell_failed_fix,
    wait_for_people,
    hold_all_starts,
    hold_paused,
    hold_without_agent,
    hold_back_off,
    hold_over_budget,
    hold_for_needs,
    hold_unapproved,
    hold_until_called,
)


def plan(snapshot: Snapshot) -> Plan:
    """Decide about every tracked task.

    The plan may name facts that it still wants (`Plan.wants`): look them up, add them to the snapshot, and plan again.
    """
    board = Board(snapshot)
    decided: dict[int, Decision] = {}
    free: list[Item] = []
    for_all = for_all_tasks(board)
    obeyed = (obey(admit(item, board), board, for_all) for item in board.items)
    proposed, asked = on_dashboard(board)
    items = take_over((admit_fix(item, board) for item in obeyed), consented(proposed, board), board)
    for item in items:
        decision = _first(item, board)
        if decision is None:
            free.append(item)
        else:
            decided[item.number] = decision
    decided = tell_set_up(settle_questions(decided, board), board)
    for decision in start_in_order(free, decided, board):
        decided[decision.task] = decision
    for item in items:
        decision = mention_late(item, with_reactions(item, decided[item.number]), board)
        decided[item.number] = mention_mismatch(item, hint_misplaced(item, decision, board), board)
    cycles = tuple(cycle.path for cycle in board.graph.cycles)
    behind = tuple(sorted(board.behind_cycles & set(snapshot.tasks)))
    decisions = tuple(decided[number] for number in sorted(decided))
    steps = follow_batches(decided, board)
    return Plan(
        decisions,
        cycles,
        behind,
        batches=steps,
        responses=respond(items, decided, steps, board),
        wanted=board.comment_commands.wants.union(asked, *(item.command_result.wants for item in items)),
        remembered=remembered(decided, board),
        opens=(*fixes_to_open(decided, board), *(opened for step in steps for opened in step.opens)),
        fixed=fixed_now(decided, board),
        relations=to_be_written(decided, board),
        proposed=proposed,
        baselines={**known_baselines(snapshot), **in_records(one.record for one in decisions)},
    )


def _first(item: Item, board: Board) -> Decision | None:
    for rule in RULES:
        decision = rule(item, board)
        if decision is not None:
            return decision
    return None
