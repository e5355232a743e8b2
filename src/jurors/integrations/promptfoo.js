// A promptfoo extension: when a run ends, `jurors check` checks its graders. No network, no dependency.
//
//   promptfoo eval -x "$(python -m jurors.integrations.promptfoo)"
//
// JURORS_CHECK    options of `jurors check`: --min-score 0.7 --max-wrong 0.1
// JURORS_REPORT   where to write the HTML report
// JURORS_COMMAND  how to start jurors, if it is not on the PATH: /my/venv/bin/jurors
//
// You can also set each under `env:` in the configuration. A hook that throws would stop promptfoo before it writes its
// results. So the verdict is printed, and the exit status is set when promptfoo is done: 3 if the check does not pass,
// 2 if the votes cannot be read. Otherwise promptfoo's own status stays.

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
    console.error(`jurors: ${program} could not be started (${done.error.code}); set JURORS_COMMAND to its path`);
    return 2;
  }
  process.stdout.write(done.stdout);
  process.stderr.write(done.stderr);
  return done.status === null ? 1 : done.status;
}

function words(text) {
  return [...(text || '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]);
}

module.exports = { afterAll };
