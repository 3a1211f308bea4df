"""The supervisor's rule book: which questions always go to a person, and which tactical ones have one answer.

Reviewable by reading: phrases of `bot/notation/phrases.py`, whole words only. `docs/supervisor.md` lists the same.
"""

from collections.abc import Mapping

from bot.model.config import SupervisorRule

# A question that holds one of these always goes to a person, whatever else it says. Too many here cost a reply; too few, trust.
DENY: Mapping[str, tuple[str, ...]] = {
    "credentials and keys": (
        "credential*|password*|passwd|passphrase*|passcode*|secret|secrets|token|tokens|login|logins",
        "key|keys|apikey*|keyfile*|keyring|keystore*|keychain",
        "service account|accounts",
        "sign|log in",
    ),
    "payment": (
        "payment*|pay|paid|payer|billing|billed|invoice*|charge|charges|charged|refund*|price|prices|pricing|stripe|paypal",
        "credit|debit card|cards",
        "money|cost|costs|purchase*|buy|subscription*|bank|tax|taxes|budget|budgets|fee|fees",
    ),
    "production": (
        "production|prod|deploy*|rollout*|rollback*|live|staging|infrastructure|outage|downtime|dns|terraform|kubernetes",
        "roll out|back",
        "release|releases|publish*|ship|shipping",
    ),
    "deletion": (
        "delet*|remov*|drop|drops|dropped|dropping|purg*|wipe*|wiping|eras*|destroy*|truncat*|rm|rmdir|unlink*|prun*",
        "uninstall*|discard*|clean*|throw|throws|trash|nuke",
        "get rid",
    ),
    "overwriting": (
        "overwrit*|clobber*|replac*|revert*|undo|reset|resets|migrat*|backfill*",
        "force push|pushing|overwrite",
        "rewrite|rewriting history",
        "force|pushing|pushed main|master",
    ),
    "licence": (
        "licen*|copyright*|gpl|agpl|lgpl|mpl|patent*|proprietary|trademark*|legal*|compliance|contract*",
    ),
    "security": (
        "secur*|insecure*|vulnerab*|cve|exploit*|encrypt*|decrypt*|cipher*|crypto*|hash|hashing|auth|authent*|authori*|oauth*",
        "permission*|privilege*|sudo|root|admin*|firewall*|certificate*|cert|certs|tls|ssl|csrf|xss|cors|injection|sanitiz*|sanitis*",
        "expose*|exposing|untrusted|malicious|attack*|sandbox*|disable|disabled|disabling",
        "verify false",
        "access control|rights|role|roles",
    ),
    "personal data": (
        "personal|private data|information|details",
        "customer|customers|user|users|client|clients|employee|patient data|record|records|emails|addresses|names|profiles",
        "pii|gdpr|ccpa|hipaa|privacy|passport*|ssn|medical|health|birth*|salary|salaries",
        "email|phone|postal address|addresses|number|numbers",
    ),
}

# Words that carry no question of their own: "How should I proceed?" asks nothing beyond what was said before it.
NEUTRAL = frozenset(
    "a about ahead all an and are as ask asking be best can change changes changing continue could do does doing done edit edits"
    " error fix fixing for from go going good have here how i if implement implementation implementing in instead is issue it"
    " just keep let like make making may me my need next now of ok okay on one onwards or please plan planned problem proceed"
    " resolve resume right shall should so solve start step steps task that the then these they this those to try was way we"
    " what when which will with work working would you your fine correct handle help advise suggestion prefer preferred want"
    " anyway all right yes there any approach".split()
)

RULES: tuple[SupervisorRule, ...] = (
    SupervisorRule(
        "externally-managed",
        ("externally managed", "break system packages", "pep 668", "pep668"),
        (
            "Create a virtual environment in the checkout (`python3 -m venv .venv`), install there and run everything from it."
            " Never pass --break-system-packages. Keep `.venv` out of the change."
        ),
        "the system's Python stays as it is; a virtual environment is the documented way",
    ),
    SupervisorRule(
        "virtual-environment",
        ("virtual environment|environments|env|envs", "virtualenv|virtualenvs|venv|venvs"),
        (
            "Yes, use a virtual environment in the checkout: the one that is there, else `python3 -m venv .venv` (or what the"
            " repository's own tool makes). Install there, and keep it out of the change."
        ),
        "an environment inside the checkout touches nothing else and is thrown away with the runner",
    ),
    SupervisorRule(
        "package-manager",
        (
            "which|what package manager",
            "pip|pipenv|poetry|uv|conda|pdm|hatch or|vs|versus pip|pipenv|poetry|uv|conda|pdm|hatch",
            "npm|yarn|pnpm|bun or|vs|versus npm|yarn|pnpm|bun",
            "use|using pip|pipenv|poetry|uv|pdm|npm|yarn|pnpm ... install|installing|dependencies|packages",
        ),
        (
            "Use the package manager whose lock file or configuration the repository has (uv.lock, poetry.lock, Pipfile.lock,"
            " package-lock.json, yarn.lock, pnpm-lock.yaml). Without any: pip in a virtual environment, or npm. Add no second one."
        ),
        "the repository's lock file has decided this already",
    ),
    SupervisorRule(
        "missing-module",
        (
            "no module named",
            "modulenotfounderror",
            "module|package not found|installed",
            "missing|uninstalled module|package|dependency|dependencies",
            "cannot find module|package",
            "can t find module|package",
            "may|can|should|shall i|we install it|them",
            "module|package is not installed|available",
        ),
        (
            "Install what the repository declares, in a virtual environment or with its own tool. If the module is declared"
            " nowhere, do without it or use what is declared; add a dependency only if the task asks for one, and say so in the"
            " pull request."
        ),
        "declared dependencies may always be installed; new ones are the task's business",
        unless=("which|what package|module|library|dependency should",),
    ),
    SupervisorRule(
        "pytest-configuration",
        (
            "asyncio mode",
            "pytest asyncio",
            "pytest ini|config|configuration|settings",
            "configure|configuring|configured pytest",
            "async|asyncio ... pytest",
            "pytest ... async|asyncio",
        ),
        (
            "Configure pytest where the repository does so already (pyproject.toml, pytest.ini, setup.cfg), nowhere else. For async"
            " tests keep the mode that is set; if none is and pytest-asyncio is a dependency, set `asyncio_mode = auto`."
        ),
        "test configuration has one place, and the mode that is set is the one the tests were written for",
    ),
    SupervisorRule(
        "run-as-module",
        (
            "run|running|execute|executing|invoke|start ... as a module|package",
            "python|python3 m",
            "no known parent package",
        ),
        "Run the package as a module from the root of the repository: `python3 -m package.module`. Do not change sys.path.",
        "run so, imports resolve as they do for the tests and for users",
    ),
    SupervisorRule(
        "import-error",
        (
            "importerror",
            "import|imports error|errors|fails|fail|failing",
            "cannot import name",
            "circular|relative|absolute import|imports",
            "fix ... import|imports",
        ),
        (
            "Mend the import where it is wrong: import from the module that defines the name, in the style of the files around"
            " it. To break a circle, move a shared name into a module of its own, or import inside the function. Do not change"
            " sys.path."
        ),
        "imports follow the code around them",
    ),
    SupervisorRule(
        "failing-tests",
        (
            "test|tests|suite fail|fails|failed|failing|broken|break|breaks|red",
            "test|tests are|is|still|keep|keeps failing|broken|red",
            "failing|failed|broken test|tests",
            "skip|xfail ... test|tests",
        ),
        (
            "Mend the code, not the test: never weaken, skip or take away a test to make it pass. Only where the task itself asks"
            " for other behaviour, change the test to say exactly that, and name it in the pull request."
        ),
        "a test that is weakened proves nothing",
    ),
    SupervisorRule(
        "which-version",
        (
            "which|what version|versions ... use|install|pin|target|support|run|require|choose|pick|need|want",
            "which|what python|node|go|rust|java|ruby|typescript|php version|versions",
            "which|what version|versions of python|node|go|rust|java|ruby|typescript|php",
        ),
        (
            "Use the newest version that the repository's lock files, configuration and CI allow; do not raise a lower bound that"
            " is written down. With nothing written down: the newest stable one."
        ),
        "what is written down in the repository decides, else the newest",
        unless=("api|apis|schema|protocol|bump|tag|changelog|our|customers|clients",),
    ),
    SupervisorRule(
        "go-on",
        (
            "may|can|should|shall|could i|we ... continue|proceed|start|go|implement|make|resume",
            "ok|okay|fine|want|like|allowed ... continue|proceed|start|go|implement",
        ),
        (
            "Yes, inside this task. Take the smallest choice that can be undone, and note in the pull request what you chose and"
            " why."
        ),
        "leave to go on with what was ordered was given by the order",
        bare=True,
    ),
)
