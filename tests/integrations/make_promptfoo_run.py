"""Run promptfoo itself with the gate, in all its outcomes; it ran with promptfoo 0.123.1 (Node.js 22).

npm install promptfoo@0.123.1
PATH="node_modules/.bin:$PATH" python tests/integrations/make_promptfoo_run.py

Its `echo` provider answers, assertions in JavaScript stand for judges: no network. It keeps what promptfoo hands to
the gate in `promptfoo_run.json`, from which `test_promptfoo_gate.py` drives the gate where promptfoo is not installed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from jurors.integrations.promptfoo import HOOK, extension

HERE = Path(__file__).parent
JUDGES = {"ann": 0.95, "bob": 0.9, "cy": 0.85}  #: how often each is right
ITEMS = 40
KEEPER = """
module.exports = { afterAll: (context) => {
  const kept = context.results.map(({ testIdx, promptIdx, provider, gradingResult }) => ({
    testIdx, promptIdx, provider, gradingResult: { componentResults: gradingResult.componentResults },
  }));
  require('node:fs').writeFileSync(process.env.KEPT, JSON.stringify({ ...context, results: kept }));
} };
"""


def config(options: str) -> dict[str, object]:
    """Outputs like "judge ann bob", which say who passes them."""
    draw = Random(7)
    truth = [draw.random() < 0.6 for _ in range(ITEMS)]
    passing = [[n for n, worth in JUDGES.items() if (draw.random() < worth) == right] for right in truth]
    return {
        "prompts": ["{{q}}"],
        "providers": ["echo"],
        "env": {"JURORS_CHECK": options},
        "defaultTest": {
            "assert": [{"type": "javascript", "metric": n, "value": f"output.includes('{n}')"} for n in JUDGES]
        },
        "tests": [{"vars": {"q": " ".join(["judge", *names])}} for names in passing],
    }


def run(options: str, *words: str, **environment: str) -> tuple[int, str, Path]:
    """Exit status, what was printed, and the results that promptfoo wrote."""
    folder = Path(tempfile.mkdtemp(prefix="promptfoo-"))
    (folder / "keeper.js").write_text(KEEPER)
    (folder / "config.json").write_text(json.dumps(config(options)))
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(folder)}
    asked = {"JURORS_COMMAND": f"'{sys.executable}' -m jurors", "PROMPTFOO_PASS_RATE_THRESHOLD": "0"}
    command = ["promptfoo", "eval", "-c", "config.json", "--no-cache", "--no-table", "-o", "results.json"]
    done = subprocess.run(
        [*command, "-x", extension(), *words], cwd=folder, env={**os.environ, **quiet, **asked, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr, folder


def main() -> None:
    """The gate passes, fails and cannot be asked; promptfoo writes its results each time."""
    kept = HERE / "promptfoo_run.json"
    outcomes = {
        "--min-score 0.3": (0, {"JURORS_REPORT": "report.html"}),
        "--min-score 0.99": (3, {}),
        "--min-skore 0.5": (2, {}),
    }
    for options, (status, more) in outcomes.items():
        own = ["file://keeper.js:" + HOOK] if status == 0 else []
        ended, printed, folder = run(options, *own, KEPT=str(kept), **more)
        assert ended == status, printed
        assert (folder / "results.json").exists(), printed
        assert (folder / "report.html").exists() == ("JURORS_REPORT" in more), printed
        print(f"check {options}: status {ended}, {printed.count(chr(10))} lines, results written")  # noqa: T201
    told = json.loads(kept.read_text())
    handed = {"evalId": told["evalId"], "results": told["results"], "config": {"env": told["config"]["env"]}}
    kept.write_text(json.dumps(handed) + "\n")


if __name__ == "__main__":
    main()
