// The error that a call must be refused with: for assert.rejects and assert.throws.

import assert from 'node:assert/strict';
import { ParleyError } from '@parley/core/errors.ts';

export const refuses =
  (code: string, words = /./) =>
  (error: unknown): true => {
    assert.ok(error instanceof ParleyError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
