import assert from 'node:assert/strict';
import { test } from 'node:test';
import { danger, differs, unseen } from '../doctor/findings.ts';
import { commandFor } from './mends.ts';

test('a finding has the command that mends or explains it, and a hostile path stays one word', () => {
  const id = '01a22a2c-966d-722f-b007-477f5130beec';
  const right = 'chmod 600, and replace what was in it if others may have read it';
  const cases: [ReturnType<typeof danger>, string | null][] = [
    [danger('mode', `/a b/it's; rm x`, 'says', right), `chmod 600 '/a b/it'\\''s; rm x'`],
    [
      danger('secret_wrong', `swap ${id}, leg a`, 'says', 'todo'),
      `npm run ops -- doctor --swap ${id}`,
    ],
    [differs('time_missing', 'the database', 'says', 'todo'), 'npm run ops -- resume --agreements'],
    [unseen('node_silent', 'chain x, its node', 'says', 'todo'), 'npm run ops -- doctor --nodes'],
    [differs('disk', 'PARLEY_HOME /x', 'says', 'make room'), null],
  ];
  for (const [finding, command] of cases) assert.equal(commandFor(finding), command);
});
