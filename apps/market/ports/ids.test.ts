import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { idSequence, isUuid } from './ids.ts';

const random = (count: number) => new Uint8Array(randomBytes(count));
const now = Date.UTC(2026, 0, 1);
const msOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

test('an id is a UUID of version 7 and the RFC variant, and begins with its instant', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 48 - 1 }), (ms) => {
      const id = idSequence()(ms, random);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.ok(isUuid(id) && isUuid(id.toUpperCase()));
      assert.equal(msOf(id), ms);
    }),
  );
});

test('ids ascend over a clock that moves, stands and steps back', () => {
  const steps = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 2, maxLength: 200 });
  fc.assert(
    fc.property(steps, (moves) => {
      const make = idSequence();
      let at = now;
      const ids = moves.map((step) => {
        at += step;
        return make(at, random);
      });
      assert.deepEqual(ids, [...ids].sort());
      assert.equal(new Set(ids).size, ids.length);
    }),
  );
});
