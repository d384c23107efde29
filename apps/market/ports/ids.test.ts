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

test('the vector of RFC 9562, A.6', () => {
  const given = Buffer.from('017f22e279b07cc398c4dc0c0c07398f', 'hex');
  const id = idSequence()(0x017f22e279b0, () => new Uint8Array(given));
  // Its rand_a has the top bit set, which a fresh sequence leaves clear to count up from.
  assert.equal(id, '017f22e2-79b0-74c3-98c4-dc0c0c07398f');
});

test('20 000 ids of one millisecond ascend, and differ by more than their count', () => {
  const make = idSequence();
  const ids = Array.from({ length: 20_000 }, () => make(now, random));
  assert.deepEqual(ids, [...ids].sort());
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(new Set(ids.map((id) => id.slice(19))).size, ids.length);
  // The count's overflow is borrowed from the next milliseconds: 4 096 each.
  assert.ok(msOf(ids.at(-1) ?? '') - now <= 5);
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

test('a text that is not a UUID is not taken for one', () => {
  const id = idSequence()(now, random);
  for (const text of ['', 'x', id.slice(1), `${id}0`, id.replaceAll('-', ''), ` ${id}`]) {
    assert.equal(isUuid(text), false, text);
  }
});
