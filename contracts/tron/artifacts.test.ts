// The committed tokens are what their sources make.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { staleFiles } from './build.ts';

test('the tokens of the dev chain and of tests are compiled from the sources as they are', () => {
  assert.deepEqual(staleFiles(), []);
});
