import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { evmDeployment } from '../plan.ts';
import { compileTestContracts } from '../testing/compile.ts';
import { newActors } from './actors.ts';
import { courseOf } from './steps.ts';
import { courseGas, readGas, stepGas } from './trial.ts';
import { trialCode } from './trial-code.ts';

test('the code that is lent to actors is what its source compiles to', () => {
  const compiled = compileTestContracts('../checks/Trial.sol', 'paris').get('Trial');
  assert.equal(trialCode, compiled?.runtime);
});

test('a balance gets the same gas in both ways of a trial', () => {
  const source = readFileSync(join(import.meta.dirname, 'Trial.sol'), 'utf8');
  const written = /BALANCE_GAS = ([\d_]+);/.exec(source)?.[1]?.replaceAll('_', '');
  assert.equal(readGas, BigInt(written ?? 0));
});

test('the gas of a course pays for all that its steps may take, and any node grants it', () => {
  const { factory: token } = evmDeployment;
  const { steps } = courseOf(token, 1n, newActors(), evmDeployment, 10_000);
  const reads = 4n * BigInt(steps.filter(({ moves }) => moves !== null).length);
  const most = BigInt(steps.length) * stepGas + reads * readGas;
  // Two calls lie between the node and a step, and each keeps a 64th of what it has.
  assert.ok(courseGas >= most + 2n * (courseGas / 64n) + stepGas, `${most}`);
  // As go-ethereum grants a call unless it is told otherwise.
  assert.ok(courseGas <= 50_000_000n);
});
