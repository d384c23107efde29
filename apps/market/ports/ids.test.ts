import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { idSequence, isUuid, stocked } from './ids.ts';

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

test('bytes in stock are given away once each; secrets are never of them', () => {
  const counts = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 300, maxLength: 1_000 });
  fc.assert(
    fc.property(counts, (wanted) => {
      const calls: number[] = [];
      const take = stocked((count) => {
        calls.push(count);
        return new Uint8Array(count);
      });
      for (const count of wanted) {
        const given = take(count);
        assert.deepEqual(given, new Uint8Array(count));
        given.fill(1);
      }
      const secrets = wanted.filter((count) => count > 16);
      assert.deepEqual(
        calls.filter((count) => count !== 4_096),
        secrets,
      );
      assert.ok(calls.length <= secrets.length + 4);
    }),
  );
});
