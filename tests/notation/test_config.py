"""`.github/cf.yml`: every key has a default, a range, and a sentence for what does not fit."""

import re
from datetime import timedelta
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import fields

from bot.model.config import CONFIG_PATH, Config, EngineConfig, Spending, SupervisorRule
from bot.model.engine import ALIASES, ENGINES
from bot.model.errors import UsageError
from bot.model.status import Status
from bot.model.unit import Gate, Kind
from bot.notation import config as module
from bot.notation.config import read_config

DOCS = Path(__file__).parents[2] / "docs/configuration.md"
S, M, H = (timedelta(**{unit: 1}) for unit in ("seconds", "minutes", "hours"))
GATE = "gates: [{{name: tests, run: make test, "


def refusal(text):
    with pytest.raises(UsageError) as caught:
        read_config(text)
    message = str(caught.value)
    assert message.startswith(CONFIG_PATH)
    assert "\n" not in message
    assert len(message) < 700
    return message


# attribute, its default, how a value is written, good values with what they mean
KEYS = [
    ("prefix", "cf", "prefix: {}", {"bot": "bot", "A-b_9": "A-b_9", "x" * 20: "x" * 20}),
    ("engine", "mini-swe-agent", "engine: {}", {"command": "command", "built-in": "mini-swe-agent"}),
    (
        "engines",
        {},
        "engines: {}",
        {"{command: {args: x}}": {"command": EngineConfig("x")}, "{}": {}, "null": {}},
    ),
    ("model", None, "model: {}", {"openai/gpt-5": "openai/gpt-5"}),
    (
        "runner",
        ("ubuntu-latest",),
        "runner: {}",
        {"[self-hosted, x64]": ("self-hosted", "x64"), "big": ("big",)},
    ),
    ("setup", (), "setup: {}", {"[a, b]": ("a", "b"), "make deps": ("make deps",), "[]": ()}),
    ("gates", (), "gates: {}", {"[{name: t, run: r}]": (Gate("t", "r"),), "[]": (), "null": ()}),
    ("start", "auto", "start: {}", {"manual": "manual", "auto": "auto"}),
    ("isolation", "branch", "isolation: {}", {"worktree": "worktree", "branch": "branch"}),
    ("corrections", 5, "corrections: {}", {"0": 0, "20": 20}),
    ("baseline", True, "baseline: {}", {"off": False, "false": False, "on": True, "true": True}),
    ("timeout", 60 * M, "timeout: {}", {"1s": S, "350m": 350 * M, "1h30m": 90 * M}),
    (
        "timeout_by_kind",
        {},
        "timeout: {}",
        {"{code: 2h, gate: 10m}": {Kind.CODE: 2 * H, Kind.GATE: 10 * M}, "{gate: 1s}": {Kind.GATE: S}},
    ),
    ("supervisor", "rules", "supervisor: {}", {"llm": "llm", "off": "off", "false": "off", "'off'": "off"}),
    (
        "supervisor_rules",
        (),
        "supervisor_rules: {}",
        {
            "[{name: n, match: which node version, answer: 22, reason: r}]".replace("22", "'22'"): (
                SupervisorRule("n", ("which node version",), "22", "r"),
            ),
            "[{name: n, match: [a|bc, delet* ... x], answer: y, unless: z}]": (
                SupervisorRule(
                    "n",
                    ("a|bc", "delet* ... x"),
                    "y",
                    "a rule of this repository, in .github/cf.yml",
                    ("z",),
                ),
            ),
            "[]": (),
        },
    ),
    ("inference", "ask", "inference: {{apply: {}}}", {"ask": "ask", "auto": "auto"}),
    ("shared_fixes", "propose", "shared_fixes: {}", {"auto": "auto", "off": "off", "false": "off"}),
    ("blockers.remind", 24 * H, "blockers: {{remind: {}}}", {"0": 0 * H, "off": 0 * H, "90m": 90 * M}),
    ("blockers.escalate", 72 * H, "blockers: {{escalate: {}}}", {"off": 0 * H, "60d": 1440 * H}),
    (
        "blockers.escalate_to",
        (),
        "blockers: {{escalate_to: {}}}",
        {"[ada, acme/leads]": ("ada", "acme/leads")},
    ),
    ("models.supervisor", None, "models: {{supervisor: {}}}", {"claude-x": "claude-x", "null": None}),
    ("models.planning", None, "models: {{planning: {}}}", {"openai/gpt-x": "openai/gpt-x"}),
    ("stall.timeout", 300 * S, "stall: {{timeout: {}}}", {"0": 0 * S, "6h": 6 * H}),
    ("max_parallel", 4, "max_parallel: {}", {"0": 0, "256": 256}),
    (
        "max_parallel_by_label",
        {},
        "max_parallel_by_label: {}",
        {"{gpu: 1, 'area:db': 0}": {"gpu": 1, "area:db": 0}},
    ),
    (
        "max_parallel_by_status",
        {},
        "max_parallel_by_status: {}",
        {
            "{READY: 3, failed: 0}": {Status.READY: 3, Status.FAILED: 0},
            "READY=3, in-progress=1": {Status.READY: 3, Status.IN_PROGRESS: 1},
            "{}": {},
            "null": {},
        },
    ),
    ("total", 10, "limits: {{total: {}}}", {"0": 0, "256": 256}),
    ("dispatch.units_per_run", 1, "dispatch: {{units_per_run: {}}}", {"1": 1, "85": 85}),
    ("dispatch.launch_grace", 5 * M, "dispatch: {{launch_grace: {}}}", {"1m": M, "24h": 24 * H}),
    ("order", "critical-path", "order: {}", {"score": "score", "critical-path": "critical-path"}),
    ("priority_prefix", "cf:p", "priority: {{labels: {}}}", {"'prio/'": "prio/"}),
    ("priority_default", 5, "priority: {{default: {}}}", {"0": 0, "9": 9}),
    ("category_prefix", "area:", "category: {{prefix: {}}}", {"'kind:'": "kind:"}),
    (
        "dependencies.keywords",
        ("depends on", "blocked by", "requires", "needs"),
        "dependencies: {{keywords: {}}}",
        {"[after]": ("after",), "after": ("after",)},
    ),
    (
        "dependencies.native",
        True,
        "dependencies: {{native: {}}}",
        {"false": False, "off": False, "true": True},
    ),
    ("dependencies.sub_issues", False, "dependencies: {{sub_issues: {}}}", {"true": True, "off": False}),
    ("dependencies.sync", "none", "dependencies: {{sync: {}}}", {"none": "none", "native": "native"}),
    ("dependencies.satisfied_by", "closed", "dependencies: {{satisfied_by: {}}}", {"closed": "closed"}),
    ("retry.max_attempts", 3, "retry: {{max_attempts: {}}}", {"1": 1, "100": 100}),
    ("retry.backoff", 30 * S, "retry: {{backoff: {}}}", {"0": 0 * S, "1h": H}),
    ("retry.max_backoff", H, "retry: {{max_backoff: {}}}", {"0s": 0 * S, "24h": 24 * H}),
    ("retry.interruptions", 3, "retry: {{interruptions: {}}}", {"1": 1, "100": 100}),
    ("stall.action", "blocker", "stall: {{action: {}}}", {"retry": "retry", "fail": "fail"}),
    ("brakes.no_progress", 3, "brakes: {{no_progress: {}}}", {"2": 2, "20": 20}),
    ("brakes.attempts", 15, "brakes: {{attempts: {}}}", {"1": 1, "10000": 10_000}),
    ("brakes.minutes", 600, "brakes: {{minutes: {}}}", {"1": 1, "90.5": 90.5}),
    ("brakes.tokens", 40_000_000, "brakes: {{tokens: {}}}", {"1000": 1000}),
    ("budget.attempt", Spending(), "budget: {{attempt: {}}}", {"{usd: 0.5}": Spending(usd=0.5)}),
    (
        "budget.task",
        Spending(),
        "budget: {{task: {}}}",
        {"{minutes: 0}": Spending(minutes=0), "{}": Spending()},
    ),
    ("budget.day", Spending(), "budget: {{day: {}}}", {"{tokens: 10000000}": Spending(tokens=10_000_000)}),
    ("merge", "manual", "merge: {}", {"auto": "auto", "manual": "manual"}),
    ("publish.max_files", 100, "publish: {{max_files: {}}}", {"1": 1, "3000": 3000}),
    ("publish.max_bytes", 4_194_304, "publish: {{max_bytes: {}}}", {"1": 1, "100000000": 100_000_000}),
    (
        "publish.protected",
        (".github/workflows/**", ".claude/**", ".mcp.json", "AGENTS.md", "CLAUDE.md"),
        "publish: {{protected: {}}}",
        {"[a, b/**]": ("a", "b/**"), "[]": ()},
    ),
    ("reconcile_interval", 60 * S, "reconcile: {{interval: {}}}", {"0": 0 * S, "1h": H}),
    ("force_after", 5 * M, "reconcile: {{force_after: {}}}", {"1m": M, "60m": H}),
    ("linger", 6 * M, "linger: {}", {"0": 0 * S, "30m": 30 * M}),
    ("trust.permission", "write", "trust: {{permission: {}}}", {"triage": "triage", "admin": "admin"}),
    ("trust.ignore", (), "trust: {{ignore: {}}}", {"[x]": ("x",)}),
    ("trust.apps", (), "trust: {{apps: {}}}", {"[x]": ("x",)}),
    ("trust.authors", "any", "trust: {{authors: {}}}", {"writers": "writers", "any": "any"}),
    (
        "webhook_events",
        (),
        "webhook: {{events: {}}}",
        {"['run.*', blocker.created]": ("run.*", "blocker.created"), "'*'": ("*",), "[]": ()},
    ),
    ("dashboard", True, "dashboard: {}", {"false": False, "true": True}),
    ("hooks.before_task", None, "hooks: {{before_task: {}}}", {"make up": "make up", "null": None}),
    ("hooks.after_task_success", None, "hooks: {{after_task_success: {}}}", {"a": "a"}),
    ("hooks.after_task_failure", None, "hooks: {{after_task_failure: {}}}", {"a": "a"}),
    ("hooks.timeout", 60 * S, "hooks: {{timeout: {}}}", {"1s": S, "1h": H}),
    (
        "conductor",
        "",
        "identity: {{conductor: {}}}",
        {"octocat": "octocat", "'my-app[bot]'": "my-app[bot]", "a_b-c": "a_b-c"},
    ),
    ("also", (), "identity: {{also: {}}}", {"[1, 9007199254740992]": (1, 2**53)}),
]
BAD = [
    ("webhook: {{events: {}}}", ["5", "[1]", "['']", "{a: b}", "[RUN.*]"]),
    ("dashboard: {}", ["1", "'yes'", "null", "[]"]),
    ("prefix: {}", ["''", "' '", "5", "x" * 21, "'a b'", "'a:b'", "ü", "[a]", "null"]),
    ("engine: {}", ["''", "5", "[command]", "{a: 1}", "null", "shell", "react"]),
    (
        "engines: {}",
        [
            "[command]",
            "command",
            "{command: x}",
            "{cloud: {}}",
            "{command: {args: ''}}",
            "{command: {argz: x}}",
        ],
    ),
    (
        "engines: {{command: {{env: {}}}}}",
        ["x", "{A: 1}", "{CF_X: a}", "{GITHUB_X: a}", "{1A: a}", "{'A-B': a}", "{'': a}", "{'_': a}"],
    ),
    ("runner: {}", ["[]", "null", "5", "[1]", "['']", "{a: b}"]),
    ("setup: {}", ["5", "[1]", "['']", "{a: b}"]),
    ("gates: {}", ["5", "make test", "[make test]", "[{name: t}]", "[{run: r}]", "{name: t, run: r}"]),
    (
        "gates: [{{run: r, name: {}}}]",
        ["''", "5", "'a/b'", "'a|b'", "'-a'", "' a'", "x" * 51, '"a\\nb"', "'`a`'"],
    ),
    (GATE + "timeout: {}}}]", ["0", "7h", "10", "soon", "-1m", "true", "[1m]"]),
    (GATE + "os: {}}}]", ["[]", "5", "null", "['']"]),
    (GATE + "own_job: {}}}]", ["1", "'yes'", "null"]),
    (GATE + "{}: 1}}]", ["tiemout", "command"]),
    ("corrections: {}", ["-1", "21", "1.5", "'5'", "true", "null", "[1]"]),
    ("baseline: {}", ["never", "1", "'off'", "null", "[]"]),
    (
        "timeout: {}",
        ["0", "351m", "60", "'60'", "1.5h", "true", "off", "null", "-1m", "9" * 5000, "1" + "0" * 300 + "m"],
    ),
    ("timeout: {}", ["{code: 351m}", "{gate: 0}", "{publish: 5m}", "[5m]"]),
    ("stall: {}", ["300s", "{timeout: 5}", "{timeout: 361m}", "{timeout: null}", "{time: 5m}"]),
    ("max_parallel: {}", ["-1", "257", "4.0", "four", "true", "off", "null", "0x" + "f" * 5000, "9" * 5000]),
    (
        "max_parallel_by_label: {}",
        ["4", "[gpu]", "{gpu: -1}", "{gpu: 257}", "{gpu: '1'}", "{gpu: null}", '{"a\\nb": -1}'],
    ),
    (
        "max_parallel_by_status: {}",
        [
            "4",
            "[READY]",
            "{READY: -1}",
            "{READY: 257}",
            "{READY: true}",
            "READY",
            "READY=",
            "READY=x",
            "READY=1;FAILED=2",
            "{WAITING: 1}",
            "READY=1,ready=2",
            "READY=-1",
            "{READY: 1.5}",
        ],
    ),
    (
        "brakes: {}",
        ["3", "{no_progress: 1}", "{no_progress: 21}", "{attempts: 0}", "{minutes: 0}", "{tokens: many}"],
    ),
    (
        "budget: {}",
        [
            "5",
            "{week: {}}",
            "{day: 5}",
            "{day: {usd: -1}}",
            "{day: {usd: '5'}}",
            "{day: {usd: true}}",
            "{day: {eur: 1}}",
        ],
    ),
    ("limits: {}", ["4", "[total]", "{total: -1}", "{total: 257}", "{total: null}", "{totle: 1}"]),
    ("dispatch: {{units_per_run: {}}}", ["0", "86", "true", "null", "2.0"]),
    ("dispatch: {{launch_grace: {}}}", ["0", "59s", "25h", "5"]),
    ("order: {}", ["random", "1", "off", "null", "[score]"]),
    (
        "priority: {}",
        ["5", "{labels: ''}", "{labels: 5}", "{default: -1}", "{default: 10}", "{default: high}"],
    ),
    ("category: {}", ["area", "{prefix: ''}", "{prefix: [a]}"]),
    (
        "dependencies: {}",
        [
            "x",
            "{keywords: 5}",
            "{keywords: ['']}",
            "{native: 1}",
            "{native: both}",
            "{satisfied_by: done}",
            "{satisfied_by: open}",
        ],
    ),
    (
        "retry: {}",
        [
            "3",
            "{max_attempts: 0}",
            "{max_attempts: 101}",
            "{backoff: 30}",
            "{backoff: 61m}",
            "{max_backoff: 25h}",
            "{interruptions: 0}",
            "{interruptions: 101}",
        ],
    ),
    ("merge: {}", ["yes", "true", "off", "null", "squash"]),
    (
        "publish: {}",
        [
            "x",
            "{max_files: 0}",
            "{max_files: 3001}",
            "{max_bytes: 0}",
            "{max_bytes: 100000001}",
            "{protected: [1]}",
        ],
    ),
    (
        "reconcile: {}",
        ["60s", "{interval: 60}", "{interval: 61m}", "{force_after: 59s}", "{force_after: 61m}"],
    ),
    ("linger: {}", ["6", "31m", "true", "forever", "null"]),
    (
        "trust: {}",
        [
            "write",
            "{permission: read}",
            "{permission: none}",
            "{permission: null}",
            "{ignore: 5}",
            "{apps: {a: b}}",
        ],
    ),
    ("supervisor: {}", ["on", "true", "null", "model", "[rules]"]),
    (
        "supervisor_rules: {}",
        [
            "x",
            "[x]",
            "[{name: n}]",
            "[{name: n, match: a}]",
            "[{name: n, match: [], answer: y}]",
            "[{name: n, match: 'a+', answer: y}]",
            "[{name: n, match: '(a|b)*', answer: y}]",
            "[{name: n, match: 'ab*', answer: y}]",
            "[{name: n, match: 'a ...', answer: y}]",
            f"[{{name: n, match: a, answer: {'y' * 501}}}]",
        ],
    ),
    ("inference: {}", ["auto", "{apply: off}", "{apply: null}"]),
    ("shared_fixes: {}", ["on", "true", "null", "always"]),
    ("blockers: {}", ["x", "{remind: 61d}", "{remind: on}", "{escalate: 5}", "{escalate_to: {a: b}}"]),
    ("models: {}", ["x", "{supervisor: 5}", "{planning: ''}", "{planning: [a]}"]),
    (
        "identity: {}",
        [
            "5",
            "{also: 5}",
            "{conductor: 5}",
            "{conductor: ''}",
            "{conductor: '@octocat'}",
            "{conductor: [octocat]}",
            "{conductor: 'my app'}",
            "{also: [0]}",
            "{also: [-1]}",
            "{also: ['5']}",
            "{also: [true]}",
            "{also: [9007199254740993]}",
        ],
    ),
    (
        "hooks: {}",
        ["make", "{before_task: 5}", "{before_task: ''}", "{after: x}", "{timeout: 0}", "{timeout: 61m}"],
    ),
    ("start: {}", ["now", "true", "null", "off"]),
    ("isolation: {}", ["folder", "true", "null", "off"]),
    ("version: {}", ["0", "2", "'1'", "1.0", "true", "null"]),
]


def test_no_file_and_an_empty_one_are_the_defaults():
    for text in (None, "", "# only words\n", "version: 1", "{}", "retry:\n", "---\n"):
        assert read_config(text, "b" * 40) == Config(blob="b" * 40)


@pytest.mark.parametrize(("attribute", "default", "written", "good"), KEYS, ids=[key[0] for key in KEYS])
def test_a_key_has_its_default_and_takes_good_values(attribute, default, written, good):
    assert attrgetter(attribute)(Config()) == default
    for value, meant in good.items():
        config = read_config(written.format(value))
        assert attrgetter(attribute)(config) == meant, value


def test_every_field_of_the_configuration_is_in_that_table():
    known = {key[0].split(".")[0] for key in KEYS}
    assert known == {field.name for field in fields(Config)} - {"blob", "warnings"}
    for section in (
        "brakes",
        "budget",
        "dispatch",
        "dependencies",
        "retry",
        "publish",
        "trust",
        "stall",
        "hooks",
    ):
        named = {key[0].split(".")[1] for key in KEYS if key[0].startswith(f"{section}.")}
        assert named == {field.name for field in fields(getattr(Config(), section))}


@pytest.mark.parametrize(
    ("written", "value"), [(written, value) for written, values in BAD for value in values]
)
def test_a_bad_value_is_refused_with_file_line_and_key(written, value):
    message = refusal(f"# a comment\n\n{written.format(value)}\n")

    assert message.startswith(f"{CONFIG_PATH}, line 3: ")
    key = written.split(":")[0]
    assert key in message or "is not a value of the kind" in message


def known_keys(text):
    return refusal(text).split("known keys: ")[1].split(", ")


def test_every_key_is_documented_and_every_documented_key_is_known():
    documented = set()
    table = DOCS.read_text(encoding="utf-8").split("| key |")[1].split("\n\n")[0]
    for line in table.splitlines():
        if line.startswith("| `"):
            documented |= set(re.findall(r"`([^`]+)`", line.split("|")[1]))
    known = set()
    for key in known_keys("zzz: 1"):
        if key == "max_parallel_by_label":  # its keys are labels
            known.add(key)
            continue
        inner = re.search(r"known keys: (.*)", refusal(f"{key}: {{zzz: 1}}"))
        known |= {f"{key}.{name}" for name in inner[1].split(", ")} if inner else {key}
    of_each = {f"engines.NAME.{name}" for name in known_keys("engines: {command: {zzz: 1}}")}
    assert documented == (known - {f"engines.{name}" for name in (*ENGINES, *ALIASES)}) | of_each
    row = next(line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `gates`"))
    assert set(known_keys("gates: [{zzz: 1}]")) <= set(re.findall(r"`(\w+)`", row))


def test_a_limit_for_what_nothing_starts_from_is_allowed_and_warned_of():
    assert read_config("max_parallel_by_status: READY=1,DONE=2,MERGED=0").warnings == (
        ".github/cf.yml, line 1: max_parallel_by_status: nothing starts from DONE, MERGED, so that limit has no effect",
    )
    assert read_config("max_parallel_by_status: READY=1").warnings == ()


def test_one_bad_value_leaves_no_half_read_configuration():
    assert "merge" in refusal("max_parallel: 9\nmerge: maybe")
    assert read_config("max_parallel: 9").max_parallel == 9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("corrections: 21", "line 1: corrections: must be a whole number from 0 to 20, found 21"),
        (
            "retry:\n  backoff: 2h",
            "line 2: retry.backoff: must be a duration like 30s, 10m or 2h, from 0s to 60m, found '2h'",
        ),
        (
            "gates:\n- name: a\n  run: x\n- name: b\n  run: 5",
            "line 5: gates[1].run: must be a text that is not empty, found 5",
        ),
        ("gates: [{name: a, run: x}, {name: a, run: y}]", "'a' stands twice"),
        ("gates: [{name: a}]", "gates[0]: must have the key 'run'"),
        ("order: fast", "must be one of critical-path, score, found 'fast'"),
        ("engine: react", "for 'react' use mini-swe-agent"),
        ("engines: {cloud: {}}", "for 'cloud' use any engine, with `runner` labels"),
        ("engines: {command: {base_url: x}}", "must be an address like https://models.example.com/v1"),
        ('engines: {command: {args: "a \'b"}}', "must be words as bash would read them"),
        (
            "max_parallel_by_status: READY=1,WAITING=2",
            "must name states, and WAITING=2 does not: valid names are BACKLOG, READY, IN_PROGRESS, BLOCKED, FAILED, DONE, MERGED",
        ),
        (
            "max_parallel_by_status: {READY: -1}",
            "must give whole numbers from 0 to 256, and READY=-1 does not",
        ),
        ("dependencies: {satisfied_by: done}", "until stacked branches exist"),
        (
            "gates: pytest -q",
            "gates: must be a list, such as `- {name: tests, run: make test}`, found 'pytest -q'",
        ),
        ("gates: {name: a, run: b}", "gates: must be a list, such as"),
        (
            "gates: [pytest -q]",
            "gates[0]: must be a mapping of keys to values, with name, run, timeout, os, own_job",
        ),
        ("stall: 5m", "stall: must be a mapping of keys to values, with timeout, action as keys, found '5m'"),
        ("engines: {codex: {cmd: x}}", "unknown key 'engines.codex.cmd'; known keys: args, "),
        ("[a]", "must be a mapping of keys to values, found ['a']"),
    ],
)
def test_the_sentence_says_what_was_found_and_what_would_be_right(text, words):
    assert words in refusal(text)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("max_paralel: 3", "did you mean 'max_parallel'?"),
        ("gate: []", "did you mean 'gates'?"),
        ("retry: {max_atempts: 3}", "unknown key 'retry.max_atempts'; did you mean 'max_attempts'?"),
        ("gates: [{name: a, runs: b}]", "unknown key 'gates[0].runs'; did you mean 'run'?"),
        ("zzz: 1", "known keys: version, prefix, "),
        ("? [a]\n: 1", "a key must be a plain text"),
        ("<<: {order: score}", "unknown key '<<'"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_the_nearest(text, near):
    assert near in refusal(text)


@pytest.mark.parametrize(
    "key",
    "unit testing".split(),
)
def test_a_key_whose_feature_does_not_exist_yet_is_refused_as_that(key):
    assert f"line 2: '{key}' has no effect yet in this version; remove it" in refusal(
        f"order: score\n{key}: {{}}"
    )


def test_what_is_not_read_cannot_be_kept_the_same():
    assert "line 3: dependencies.sync: native needs dependencies.native: true, found false" in refusal(
        "dependencies:\n  native: false\n  sync: native"
    )


def test_the_words_for_later_are_not_known_keys():
    assert not {name for name in module._NOT_YET if "." not in name} & set(module._TOP)


GATES_ON_FOUR = "gates: [{name: t, run: r, os: [a, b, c, d]}]\n"


def test_act_03_units_times_jobs_stay_within_what_github_allows():
    assert "dispatch.units_per_run: must be a whole number from 1 to 85, found 100" in refusal(
        GATES_ON_FOUR + "dispatch: {units_per_run: 100}"
    )
    message = refusal(GATES_ON_FOUR + "dispatch:\n  units_per_run: 37")
    assert "line 3: dispatch.units_per_run: 37 units x (3 + 4 verify legs) are 259 jobs" in message
    assert "at most 36 units fit" in message
    assert read_config(GATES_ON_FOUR + "dispatch: {units_per_run: 36}").dispatch.units_per_run == 36


def test_gates_that_share_a_machine_count_as_one_job():
    gates = "gates: [{name: a, run: r}, {name: b, run: r}, {name: c, run: r, own_job: true}]\n"
    assert read_config(gates + "dispatch: {units_per_run: 51}").dispatch.units_per_run == 51
    assert "at most 51 units fit" in refusal(gates + "dispatch: {units_per_run: 52}")


def test_a_gate_may_say_everything():
    text = "gates: [{name: e2e 1, run: make e2e, timeout: 30m, os: windows-latest, own_job: true}]"
    assert read_config(text).gates == (Gate("e2e 1", "make e2e", 30 * M, ("windows-latest",), own_job=True),)


def test_an_engine_may_say_everything():
    text = "engines: {command: {args: python agent.py, env: {DEBUG: '1'}, runner: [big], model: m}}"
    assert read_config(text).engines == {
        "command": EngineConfig("python agent.py", {"DEBUG": "1"}, ("big",), "m")
    }


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "\n".join(
    f"{one}: &{one} [{','.join([f'*{before}'] * 10)}]"
    for before, one in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2", "line 2: the key 'a' stands here a second time"),
        ("retry:\n  backoff: 1s\n  backoff: 2s", "line 3: the key 'backoff' stands here a second time"),
        ("order: [", "not readable as YAML"),
        ("order:\n\t- score", "line 2: not readable as YAML"),
        ("a: 1\n---\nb: 2", "another document"),
        ("- a", "must be a mapping"),
        ("hello", "must be a mapping"),
        ("a\0b: 1", "not readable as YAML"),
        ("merge: !!python/object/apply:os.system [x]", "merge: must be one of manual, auto"),
        ("merge: !!python/name:os.system x", "not readable as YAML"),
        ("merge: !!bool maybe", "line 1: 'maybe' is not a value"),
        ("merge: !!int ''", "is not a value"),
        ("merge: !!timestamp x", "is not a value"),
        ("linger: 2024-13-45", "line 1: '2024-13-45' is not a value"),
        ("gates: &a [*a]", "aliases that expand without bound are refused"),
        ("gates: *a", "not readable as YAML"),
        (BOMB, "aliases that expand without bound are refused"),
        ("gates: " + "[" * 100_000 + "]" * 100_000, "not readable as YAML"),
        ("gates: " + "{a: " * 50 + "}" * 50, "too large or too deep"),
    ],
)
def test_what_is_no_readable_yaml_is_said_in_one_sentence(text, words):
    assert words in refusal(text)


def test_aliases_that_stay_small_are_fine():
    text = "gates: [{name: a, run: x, os: &os [u, w]}, {name: b, run: y, os: *os}]"
    assert [gate.os for gate in read_config(text).gates] == [("u", "w"), ("u", "w")]


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "gates",
                ":",
                " ",
                "\n",
                "[",
                "{",
                "}",
                "]",
                "- ",
                "&a ",
                "*a",
                "!!int ",
                "1",
                "'",
                '"',
                "name",
                "off",
            ]
        ),
        max_size=20,
    ).map("".join)
)
@example("\ud800")
@example("? ")
@example("%YAML 9")
def test_any_text_is_a_configuration_or_a_usage_error(text):
    try:
        read_config(text)
        said = CONFIG_PATH
    except UsageError as error:
        said = str(error)
    assert said.startswith(CONFIG_PATH)


def test_an_engine_may_stand_once_under_whichever_of_its_names():
    said = refusal("engines:\n  mini-swe-agent: {model: a}\n  built-in: {model: b}\n")
    assert (
        "line 3: engines.built-in: must stand once, and 'built-in' is another name of 'mini-swe-agent'"
        in said
    )
    assert "line 2: engines.react: must be an engine of today" in refusal("engines:\n  react: {model: a}\n")
