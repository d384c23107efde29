// The connection: how long it waits before it comes again, and how it breaks a silence.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { ParleyApiError } from '../errors.ts';
import { createLink, type LinkState, type ServerFrame } from './link.ts';

/** A socket that does what it is told. */
class Fake extends EventTarget {
  readonly sent: unknown[] = [];
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {}
  say(frame: object): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(frame) }));
  }
  end(code: number): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }
  open(): void {
    this.dispatchEvent(new Event('open'));
  }
}

function harness(
  random: number,
  heard: (frame: ServerFrame) => void = () => {},
  key: string | (() => Promise<string>) = 'k',
) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sockets: Fake[] = [];
  const states: LinkState[] = [];
  const said: string[] = [];
  const link = createLink({
    url: 'ws://nowhere',
    key,
    heard,
    changed: (state) => states.push(state),
    troubled: (sentence) => said.push(sentence),
    ended: (sentence) => said.push(sentence),
    random: () => random,
    open: () => {
      const socket = new Fake();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
  });
  const last = () => sockets.at(-1) as Fake;
  return { sockets, states, said, link, last };
}

test.afterEach(() => mock.timers.reset());

for (const random of [0.25, 1]) {
  test(`the wait is ${random} of a span that doubles from 250 ms to 30 s`, () => {
    const { sockets, last, said } = harness(random);
    for (const span of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const count = sockets.length;
      last().end(1006);
      mock.timers.tick(span * random - 1);
      assert.equal(sockets.length, count);
      mock.timers.tick(1);
      assert.equal(sockets.length, count + 1);
    }
    assert.match(said[0] ?? '', /code 1006.*trying again/);
  });
}

test('too many sockets are waited for longer; a good connection begins anew', () => {
  const { sockets, last } = harness(1);
  last().end(4429);
  mock.timers.tick(29_999);
  assert.equal(sockets.length, 1);
  mock.timers.tick(1);
  last().open();
  last().say({ type: 'ready', seq: 1 });
  mock.timers.tick(10_001);
  last().end(1012);
  mock.timers.tick(250);
  assert.equal(sockets.length, 3);
});

test('a silence is broken by a ping, and no answer to it is a lost connection', () => {
  const { last, states, sockets } = harness(1);
  last().open();
  last().say({ type: 'ready', seq: 7 });
  mock.timers.tick(15_000);
  assert.ok('ping' in (last().sent.at(-1) as object));
  last().say({ type: 'pong', pong: '', seq: 7 });
  mock.timers.tick(14_999);
  assert.equal(last().sent.length, 2);
  mock.timers.tick(1);
  assert.equal(last().sent.length, 3);
  mock.timers.tick(10_000);
  assert.equal(states.at(-1), 'connecting');
  mock.timers.tick(250);
  last().open();
  assert.equal(sockets.length, 2);
  assert.deepEqual(last().sent, [{ apiKey: 'k', resume: true, since: 7 }]);
});

test('a frame sent again under one number is heard once, and a new one all the same', () => {
  const emitted: string[] = [];
  const { last } = harness(1, (frame) => {
    if (frame.type === 'rfq') emitted.push(`${frame.kind} ${frame.rfq.id}`);
    if (frame.type === 'gone') emitted.push(`gone ${frame.rfqId}`);
  });
  const say = (text: string, seq: number) => {
    const [kind = '', id = ''] = text.split(' ');
    const what =
      kind === 'gone'
        ? { type: 'gone', rfqId: id, reason: 'expired' }
        : { type: 'rfq', kind, rfq: { id } };
    last().say({ ...what, seq });
  };
  const again = (seq: number) => {
    last().end(1006);
    mock.timers.tick(30_000);
    last().open();
    assert.equal((last().sent[0] as { since: number }).since, seq);
    last().say({ type: 'resumed', seq });
  };
  const closing = ['created b', 'cancelled b'];
  last().open();
  for (const each of ['created a', ...closing]) say(each, 7);
  again(7);
  say('created b', 7);
  // Lost once more before all of it came again.
  again(7);
  for (const each of [...closing, 'created b', 'created c', 'gone c']) say(each, 7);
  assert.deepEqual(emitted, ['created a', ...closing, 'created b', 'created c', 'gone c']);
  again(7);
  for (const each of [...closing, 'created b', 'created c', 'gone c']) say(each, 7);
  // Another number: frames heard under the one before do not come again.
  say('created d', 8);
  again(8);
  say('cancelled b', 8);
  assert.deepEqual(emitted.slice(6), ['created d', 'cancelled b']);
  last().end(1006);
  mock.timers.tick(30_000);
  last().open();
  last().say({ type: 'reset', seq: 8 });
  say('created b', 8);
  assert.deepEqual(emitted.slice(8), ['created b']);
});

test('a frame that is too long ends its connection, and is not read', () => {
  const heard: ServerFrame[] = [];
  const { last, said, states } = harness(1, (frame) => void heard.push(frame));
  last().open();
  const frame = { type: 'ready', seq: 1, x: '' };
  const fits = 8_388_608 - JSON.stringify(frame).length;
  last().say({ ...frame, x: 'x'.repeat(fits) });
  last().say({ ...frame, x: 'x'.repeat(fits + 1) });
  assert.deepEqual([heard.length, states], [1, ['live', 'connecting']]);
  assert.match(said[0] ?? '', /code 1009/);
});

test('a frame whose id or RFQ is longer than any is not heard', () => {
  const heard: ServerFrame[] = [];
  const { last } = harness(0, (frame) => heard.push(frame));
  const rfq = (fields: object) => ({ type: 'rfq', kind: 'created', rfq: { id: 'a', ...fields } });
  const gone = (length: number) => ({ type: 'gone', reason: 'expired', rfqId: 'a'.repeat(length) });
  for (const frame of [gone(64), gone(65), rfq({ id: 'a'.repeat(65) })]) last().say(frame);
  for (const length of [16_000, 16_384]) last().say(rfq({ note: 'n'.repeat(length) }));
  last().say({ type: 'snapshot', rfqs: [{ id: 'a', note: 'n'.repeat(16_384) }] });
  assert.deepEqual(
    heard.map(({ type }) => type),
    ['gone', 'rfq'],
  );
});

test('a closed link stays so: it neither comes again nor sends', () => {
  for (const isLost of [false, true]) {
    const { link, last, states, sockets } = harness(1);
    last().open();
    last().say({ type: 'ready', seq: 1 });
    if (isLost) last().end(1006);
    link.close();
    last().end(1000);
    mock.timers.tick(120_000);
    assert.deepEqual([sockets.length, states.at(-1)], [1, 'closed']);
    assert.equal(link.send({}), false);
    mock.timers.reset();
  }
});

test('a close alone never ends it; an error that says that the key is wrong does', () => {
  const { last, states, said, sockets } = harness(1);
  for (const code of [4401, 4403, 1012]) {
    last().end(code);
    mock.timers.tick(30_000);
    assert.equal(states.at(-1), 'connecting');
  }
  last().say({ type: 'error', error: 'no', code: 'key_invalid' });
  assert.equal(states.at(-1), 'closed');
  assert.match(said.at(-1) ?? '', /not valid/);
  last().end(4401);
  mock.timers.tick(60_000);
  assert.equal(sockets.length, 4);
});

test('each connection has a ticket of its own; nobody signed in is the end, all else is tried again', async () => {
  const given: (string | Error)[] = [
    't1',
    'stale',
    new ParleyApiError({ status: 503, code: 'unavailable', message: 'away' }),
    't2',
    new ParleyApiError({ status: 401, code: 'session_missing', message: 'nobody' }),
  ];
  const ticket = async () => {
    const next = given.shift() ?? assert.fail('nobody may ask any more');
    if (next instanceof Error) throw next;
    return next;
  };
  const { sockets, last, states, said } = harness(1, undefined, ticket);
  const shown = () => (last().sent[0] as { apiKey: string }).apiKey;
  const asked = () => new Promise((resolve) => setImmediate(resolve));
  const again = async () => {
    mock.timers.tick(30_000);
    await asked();
  };
  await asked();
  last().open();
  assert.equal(shown(), 't1');
  last().end(1006);
  await again();
  last().open();
  assert.equal(shown(), 'stale');
  // Refused as unknown: a key's refusal would be the end.
  last().say({ type: 'error', error: 'the ticket is unknown', code: 'key_invalid' });
  last().end(4401);
  await again();
  assert.equal(sockets.length, 2);
  assert.match(said.at(-1) ?? '', /^no ticket for the feed \(away\): trying again$/);
  await again();
  last().open();
  assert.equal(shown(), 't2');
  last().end(4401);
  await again();
  await again();
  assert.deepEqual([sockets.length, given.length], [3, 0]);
  assert.deepEqual(
    [states.at(-1), said.at(-1)],
    ['closed', 'no account is signed in here any more'],
  );
});
