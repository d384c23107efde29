// The words of every message: the content of each, and the texts that none has.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { peopleTopics } from '../db/messages.ts';
import { shown } from './shown.ts';
import { type Facts, type MessageEvent, reminderKinds, textOf, worthlessAfter } from './texts.ts';

const at = new Date('2031-01-02T03:04:59Z');
const market = { productName: 'Parley', origin: 'https://market.example' };
const swapId = '0193b5a0-1111-7222-8333-444455556666';
const deadline = Date.parse('2031-02-03T04:05:00Z') / 1_000;

const all: Readonly<Record<Exclude<MessageEvent, 'swap.reminder'>, Facts>> = {
  'key.created': {
    keyId: swapId,
    prefix: 'parley_test_abc123',
    name: 'my bot',
    scopes: ['read', 'taker'],
    expiresAt: '2031-04-05T06:07:08.000Z',
  },
  'key.revoked': { keyId: swapId, prefix: 'parley_test_abc123', name: null },
  'key.expiring': {
    keyId: swapId,
    prefix: 'parley_test_abc123',
    name: 'my bot',
    expiresAt: '2031-04-05T06:07:08.000Z',
  },
  'login.added': {
    way: 'wallet',
    what: '0x52908400098527886E0F7030069857D2E4169EE7',
    waitsUntil: '2031-01-05T03:04:00.000Z',
  },
  'login.removed': { way: 'email', what: 'somebody@mail.example' },
  'session.created': { sessionId: swapId, device: 'Firefox on Linux', place: '203.0.113.0/24' },
  'payout.changing': {
    family: 'evm',
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    fromAt: '2031-01-05T03:04:00.000Z',
  },
  'payout.changed': { family: 'bitcoin', address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
  'payout.stopped': { family: 'tron', address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  'account.deleted': {},
  'chat.ended': { label: '@somebody' },
  code: { code: '271828', expiresAt: '2031-01-02T03:14:59.000Z' },
};
const reminders = reminderKinds.map((kind) => ({
  kind,
  swapId,
  leg: 'b',
  chain: 'bitcoin',
  deadline,
  isFirst: true,
  refundAt: deadline + 3_600,
}));

/** Further outcomes of the same topics. */
const variants: readonly (readonly [MessageEvent, Facts])[] = [
  ['login.removed', { ...all['login.removed'], leavesAt: '2031-01-05T03:04:59.000Z' }],
  ['payout.changing', { ...all['payout.changing'], paid: false }],
  ['payout.changed', { ...all['payout.changed'], paid: false }],
  ['payout.stopped', { ...all['payout.stopped'], change: false, stays: true }],
  ['payout.stopped', { ...all['payout.stopped'], isLast: true, stays: true }],
  ['payout.stopped', { way: 'email', what: 'somebody@mail.example', stays: true }],
  ['payout.stopped', { account: true }],
  ['payout.stopped', { account: true, why: 'account_in_use' }],
  ['account.deleted', { leavesAt: '2031-01-05T03:04:59.000Z' }],
  ['code', { ...all.code, code: '12345678901234567890' }],
];

const told = (event: MessageEvent, facts: Facts) => textOf(event, facts, at, market);
const texts = [
  ...Object.entries(all).map(([event, facts]) => told(event as MessageEvent, facts)),
  ...variants.map(([event, facts]) => told(event, facts)),
  ...reminders.map((facts) => told('swap.reminder', facts)),
];

test('every topic for people has words, short and plain, that name the market and its site', () => {
  assert.deepEqual([...Object.keys(all), 'swap.reminder'].sort(), [...peopleTopics, 'code'].sort());
  for (const { subject, body } of texts) {
    assert.match(subject, /^Parley: .{5,80}$/);
    assert.ok(body.length < 500, body);
    assert.ok(body.endsWith('\n\nParley, https://market.example'), body);
    assert.doesNotMatch(`${subject}${body}`, /undefined|null|NaN|\[object|<|\*/);
  }
});

test('a reminder says the deadline, the leg, and what happens otherwise', () => {
  for (const facts of reminders) {
    const { subject, body } = told('swap.reminder', facts);
    assert.match(`${subject}\n${body}`, /2031-02-03 04:05 UTC/);
    assert.match(body, /leg b on bitcoin/);
    assert.match(body, /^Otherwise .{20,}\.$/m);
    assert.match(body, new RegExp(`Swap ${swapId}`));
  }
  const { body } = told('swap.reminder', { ...reminders[0], isFirst: false });
  assert.match(body, /the other side is refunded/);
});

test('a code and a deadline that has passed are worth nothing, other news always', () => {
  assert.equal(worthlessAfter('code', all.code), Date.parse('2031-01-02T03:14:59Z'));
  const ends = reminders.map((facts) => worthlessAfter('swap.reminder', facts));
  assert.deepEqual(ends, [deadline * 1_000, deadline * 1_000, null, null]);
  assert.equal(worthlessAfter('key.created', all['key.created']), null);
});

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const ofLetters = (minLength: number, maxLength: number) =>
  fc.string({
    unit: fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'),
    minLength,
    maxLength,
  });

/** Secrets and hashlocks, keys and tokens, addresses of all families. */
const delicate = fc.oneof(
  hex(64),
  hex(40).map((each) => `0x${each}`),
  hex(64).map((each) => `0x${each}`),
  ofLetters(43, 43).map((each) => `parley_live_${each}`),
  ofLetters(43, 43).map((each) => `parley_session_${each}`),
  ofLetters(32, 44),
  ofLetters(33, 33).map((each) => `T${each}`),
  ofLetters(25, 34).map((each) => `1${each}`),
  hex(58).map((each) => `bc1p${each}`),
  fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((each) => Buffer.from(each).toString('base64')),
  fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((each) => Buffer.from(each).toString('base64url')),
);
const around = fc.constantFrom('', ' ', ':', '/', '\n', '=', '"', '…', ' key ', '\u200b', '@');
const fields = [
  ...new Set([...Object.values(all), ...reminders].flatMap((facts) => Object.keys(facts))),
  'secret',
  'hashlock',
  'address',
  'amount',
  'what',
];

test('no key, secret, hashlock or whole address is in any text, whatever field it comes in', () => {
  const payload = fc.record({ secret: delicate, before: around, after: around });
  fc.assert(
    fc.property(payload, fc.constantFrom(...reminderKinds), ({ secret, before, after }, kind) => {
      const value = `${before}${secret}${after}`;
      const facts = Object.fromEntries(fields.map((field) => [field, value]));
      for (const event of [...peopleTopics, 'code'] as const) {
        const given = { ...facts, kind, scopes: [value, secret] };
        const { subject, body } = told(event, given);
        assert.ok(!`${subject}\n${body}`.includes(secret), `${event}: ${body}`);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a text from outside is one line, and makes no link', () => {
  assert.equal(shown('Chrome\r\non\u2028\u202eLinux\u0000'), 'Chrome on Linux');
  assert.equal(shown('see https://evil.example/x'), 'see https evil.example/x');
  assert.equal(shown(`${'word '.repeat(30)}`).length, 60);
  assert.equal(shown('\ud800'), '\ufffd');
  assert.equal(shown(7), '');
  assert.equal(shown('a@mail.example'), 'a…@mail.example');
});
