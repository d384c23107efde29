import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trialCode } from '../artifacts/trial.ts';
import { evmDeployment } from '../plan.ts';
import { compileTestContracts } from '../testing/compile.ts';
import { courseOf, freshAddress, newActors } from './steps.ts';
import { courseGas, readGas, stepGas } from './trial.ts';

test('the code that is lent to actors is what its source compiles to', () => {
  const compiled = compileTestContracts('../checks/Trial.sol', {
    evmVersion: 'paris',
    isOptimised: true,
  }).get('Trial');
  assert.equal(trialCode, compiled?.runtime);
});

test('the gas of a course pays for all that its steps may take, and any node grants it', () => {
  const token = freshAddress();
  const { steps } = courseOf(token, 1n, newActors(), evmDeployment(31_337), 10_000);
  const reads = 4n * BigInt(steps.filter(({ moves }) => moves !== null).length);
  const [gasMost, readMost] = [BigInt(stepGas[1]), BigInt(readGas[1])];
  const most = BigInt(steps.length) * gasMost + reads * readMost;
  const told = steps.map(() => ({ gasMost }));
  const gas = courseGas(told, readMost);
  // Two calls lie between the node and a step, and each keeps a 64th of what it has.
  assert.ok(gas >= most + 2n * (gas / 64n) + gasMost, `${gas} for ${most}`);
  // As go-ethereum grants a call unless it is told otherwise.
  assert.ok(gas <= 50_000_000n, `${gas}`);
});
