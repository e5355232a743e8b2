"""Make the files in promptfoo/ with promptfoo itself; they were made with promptfoo 0.123.1 (Node.js 22).

npm install promptfoo@0.123.1
PATH="node_modules/.bin:$PATH" python make_promptfoo.py
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent / "promptfoo"

GRADER = """
module.exports = class {
  constructor(options) { this.letter = options.config.letter; }
  id() { return 'letter ' + this.letter; }
  async callApi(prompt) {
    const output = prompt.split('<Output>').pop().split('</Output>')[0].replaceAll('\\\\n', '').trim();
    if (output === 'blue sky' && this.letter === 'z') { return { output: 'no idea' }; }
    const pass = output.includes(this.letter);
    return { output: JSON.stringify({ pass, score: pass ? 1 : 0, reason: 'letter ' + this.letter }) };
  }
};
"""
CONFIG = {
    "prompts": ["Say: {{q}}", "{{q}}"],
    "providers": [{"id": "echo", "label": "parrot"}],
    "defaultTest": {
        "assert": [
            *(
                {
                    "type": "llm-rubric",
                    "value": "is kind",
                    "provider": {"id": "file://grader.js", "label": f"judge-{letter}", "config": {"letter": letter}},
                }
                for letter in "abz"
            ),
            {"type": "assert-set", "assert": [{"type": "contains", "value": "S"}, {"type": "contains", "value": "e"}]},
            {"type": "javascript", "value": "output.length > 8", "metric": "length"},
        ]
    },
    "tests": [{"vars": {"q": "apple pie"}}, {"vars": {"q": "blue sky"}}],
}


def main() -> None:
    """One evaluation, written as JSON and as JSON lines; the paths of this machine taken out."""
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "grader.js").write_text(GRADER)
        Path(folder, "config.json").write_text(json.dumps(CONFIG))
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": folder}
        command = "promptfoo eval -c config.json --no-cache --no-table -o results.json -o results.jsonl"
        subprocess.run(
            command.split(), cwd=folder, env=os.environ | quiet, check=False
        )  # it fails when an assertion does
        for name in ("results.json", "results.jsonl"):
            text = Path(folder, name).read_text()
            HERE.joinpath(name).write_text(text.replace(folder, "."))


if __name__ == "__main__":
    main()
