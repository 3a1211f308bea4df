"""The variables that a program of the repository gets."""

from bot.worker.programs.environment import gate_environment


def test_gates_keep_the_machines_variables_but_nothing_secret():
    environ = {
        "JAVA_HOME": "/java",
        "PATH": "/bin",
        "GITHUB_TOKEN": "x",
        "NPM_TOKEN": "x",
        "GIT_DIR": "x",
        "MY_API_KEY": "x",
    }

    assert gate_environment(environ) == {"JAVA_HOME": "/java", "PATH": "/bin", "CI": "true"}
