#!/usr/bin/env node
// Runs a command through `hurdle run` and reads what the sandbox refused. usage: harness.mjs COMMAND
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

const HURDLE = process.env.HURDLE ?? 'hurdle';
const BLOCK = /<sandbox_violations>\n([\s\S]*?)\n?<\/sandbox_violations>\n?/g;
const LINE = /^hurdle: deny (?<action>\S+) (?<target>.*) \((?<program>[^()]*)\[(?<pid>\d+)\]\) rule: (?<rule>.*)$/;

// The command's own standard error, the violations as objects, and what else stands between them: hints.
export function split(errors) {
  const lines = [...errors.matchAll(BLOCK)].flatMap(([, block]) => block.split('\n').filter(Boolean));
  const found = lines.map((line) => LINE.exec(line));
  return {
    stderr: errors.replace(BLOCK, ''),
    violations: found.filter(Boolean).map((match) => ({ ...match.groups })),
    hints: lines.filter((line, i) => !found[i]),
  };
}

export function run(command, options = []) {
  const done = spawnSync(HURDLE, ['run', '--quiet', ...options, '--', 'bash', '-c', command], { encoding: 'utf8' });
  if (done.error) throw done.error;
  return { exit: done.status, stdout: done.stdout, ...split(done.stderr), refused: done.status === 125 };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.length !== 3) {
    console.error('usage: harness.mjs COMMAND');
    process.exit(1);
  }
  const result = run(process.argv[2]);
  console.log(JSON.stringify(result, null, 1));
  for (const one of result.violations) {
    console.error(`refused: ${one.action} ${one.target}: ${one.rule}`);
  }
}
