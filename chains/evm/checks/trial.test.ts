import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTestContracts } from '../testing/compile.ts';
import { trialCode } from './trial-code.ts';

test('the code that is lent to actors is what its source compiles to', () => {
  const compiled = compileTestContracts('../checks/Trial.sol', 'paris').get('Trial');
  assert.equal(trialCode, compiled?.runtime);
});
