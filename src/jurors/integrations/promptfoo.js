// A promptfoo extension: when a run has ended, `jurors check` weighs its graders. No network, no dependency.
//
//   promptfoo eval -x "$(python -m jurors.integrations.promptfoo)"
//
// JURORS_CHECK    options of `jurors check`: --min-score 0.7 --max-wrong 0.1
// JURORS_REPORT   where to write the report, as HTML
// JURORS_COMMAND  how to start jurors, where it is not on the PATH: /my/venv/bin/jurors
//
// Each may also stand under `env:` of the configuration. A hook that throws would end promptfoo before it has written
// its results; so the verdict is shown, and the exit status is changed when promptfoo itself is done: 3 where the gate
// does not pass, 2 where the votes cannot be read. Else promptfoo's own status stays.

'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

let verdict = 0; // of the last run: `promptfoo eval --watch` has several
process.on('exit', () => {
  if (verdict) {
    process.exitCode = verdict;
  }
});

function afterAll(context) {
  const settings = { ...process.env, ...(context.config && context.config.env) };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'jurors-'));
  try {
    const file = path.join(folder, 'results.json'); // as `promptfoo eval -o` writes them
    fs.writeFileSync(file, JSON.stringify({ evalId: context.evalId, results: { version: 3, results: context.results } }));
    const status = run(settings, ['check', '--card', ...words(settings.JURORS_CHECK), '--', file]);
    const page = settings.JURORS_REPORT;
    const reported = page && status !== 2 ? run(settings, ['report', '-o', page, '--', file]) : 0;
    verdict = status || reported;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function run(settings, rest) {
  const [program, ...first] = words(settings.JURORS_COMMAND || 'jurors');
  const done = spawnSync(program, [...first, ...rest], { encoding: 'utf-8', env: settings, maxBuffer: 2 ** 28 });
  if (done.error) {
    console.error(`jurors: ${program} could not be started (${done.error.code}); name it in JURORS_COMMAND`);
    return 2;
  }
  process.stdout.write(done.stdout);
  process.stderr.write(done.stderr);
  return done.status === null ? 1 : done.status;
}

function words(text) {
  return [...(text || '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((found) => found[1] ?? found[2] ?? found[3]);
}

module.exports = { afterAll };
