// Quotes on their way: one answer each, none sent when it is stale or was followed by another.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { QuoteError } from '../errors.ts';
import { createQuotes } from './quotes.ts';

function harness() {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sent: string[] = [];
  let connected = true;
  const quotes = createQuotes(
    (frame) => {
      const { quote } = frame as { quote: { quoteAmount: string; idempotencyKey: string } };
      if (connected) sent.push(`${quote.quoteAmount} ${quote.idempotencyKey}`);
      return connected;
    },
    () => Date.now(),
  );
  return {
    sent,
    quotes,
    quote: (quoteAmount: string, goodForMs = 1_000, rfqId = 'r') => {
      const wanted = { rfqId, quoteAmount, idempotencyKey: `k${quoteAmount}`, goodForMs };
      return quotes.quote(wanted).then(
        ({ threadId }) => threadId,
        (error: unknown) => (error instanceof QuoteError ? error.fault : String(error)),
      );
    },
    answer: (threadId: string, rfqId = 'r', key: string | null = null) => {
      const idempotencyKey = key === null ? {} : { idempotencyKey: key };
      return quotes.take({ type: 'quoted', rfqId, threadId, ...idempotencyKey, seq: 1 });
    },
    refuse: (code: string) => quotes.take({ type: 'error', error: 'no', code, rfqId: 'r', seq: 1 }),
    lose: () => {
      connected = false;
    },
    back: () => {
      connected = true;
      quotes.connected();
    },
    pass: (ms: number) => mock.timers.tick(ms),
  };
}

test.afterEach(() => mock.timers.reset());

test('a quote is answered by the frame of its RFQ, whatever the case of the id', async () => {
  const { quote, answer, sent } = harness();
  const [one, two] = [quote('1', 1_000, 'A'), quote('2', 1_000, 'b')];
  assert.ok(answer('t2', 'B'));
  assert.ok(answer('t1', 'a'));
  assert.deepEqual([await one, await two], ['t1', 't2']);
  assert.deepEqual(sent, ['1 k1', '2 k2']);
  assert.ok(!answer('t3', 'a'));
});

test('a refusal rejects with the code of the market', async () => {
  const { quotes, refuse } = harness();
  const wanted = { rfqId: 'r', quoteAmount: '1', idempotencyKey: 'k', goodForMs: 1 };
  const quoted = quotes.quote(wanted);
  refuse('rfq_gone');
  await assert.rejects(quoted, (error: QuoteError) => error.code === 'rfq_gone');
});

test('the next price waits for the answer of the one before; of many only the last is sent', async () => {
  const { quote, answer, sent } = harness();
  const all = [quote('1'), quote('2'), quote('3')];
  assert.deepEqual(sent, ['1 k1']);
  answer('t');
  assert.deepEqual(sent, ['1 k1', '3 k3']);
  answer('t');
  assert.deepEqual(await Promise.all(all), ['t', 'superseded', 't']);
});

test('after a lost connection it is sent again under its own key, while it holds', async () => {
  const { quote, answer, sent, lose, back, pass } = harness();
  const quoted = quote('1', 1_000);
  lose();
  pass(900);
  back();
  assert.deepEqual(sent, ['1 k1', '1 k1']);
  answer('t');
  assert.equal(await quoted, 't');
});

test('a stale one is never sent again: it may have been taken, and is said to be', async () => {
  const { quote, sent, lose, back, pass } = harness();
  const quoted = quote('1', 1_000);
  lose();
  pass(1_001);
  back();
  assert.deepEqual(sent, ['1 k1']);
  pass(20_000);
  pass(20_000);
  assert.equal(await quoted, 'unknown');
});

test('one that could not be sent in time was not sent', async () => {
  const { quote, sent, lose, back, pass } = harness();
  lose();
  const quoted = quote('1', 1_000);
  pass(1_001);
  assert.equal(await quoted, 'stale');
  back();
  assert.deepEqual(sent, []);
});

test('one that was followed by another price is never sent again', async () => {
  const { quote, answer, sent, lose, back } = harness();
  const first = quote('1');
  lose();
  const second = quote('2');
  back();
  assert.deepEqual(sent, ['1 k1', '2 k2']);
  answer('t');
  assert.deepEqual([await first, await second], ['superseded', 't']);
  lose();
  const unsent = quote('3');
  const last = quote('4');
  back();
  answer('t');
  assert.deepEqual([await unsent, await last], ['superseded', 't']);
  assert.deepEqual(sent, ['1 k1', '2 k2', '4 k4']);
});

test('no answer lets the next price have its turn', async () => {
  const { quote, sent, pass } = harness();
  const first = quote('1', 1_000);
  const second = quote('2', 60_000);
  pass(1_000);
  pass(15_001);
  assert.equal(await first, 'unknown');
  assert.deepEqual(sent, ['1 k1', '2 k2']);
  pass(60_000);
  pass(20_000);
  assert.equal(await second, 'unknown');
});

test('closing ends all of them', async () => {
  const { quote, quotes } = harness();
  const all = [quote('1'), quote('2'), quote('1', 1_000, 'other')];
  quotes.end();
  assert.deepEqual(await Promise.all(all), ['closed', 'closed', 'closed']);
});

test('a first try that still runs is asked for again, while the price holds', async () => {
  const { quote, answer, refuse, sent, pass } = harness();
  const quoted = quote('1', 1_000);
  refuse('still_running');
  pass(200);
  assert.deepEqual(sent, ['1 k1', '1 k1']);
  answer('t');
  assert.equal(await quoted, 't');
  const late = quote('2', 100);
  refuse('still_running');
  pass(200);
  assert.deepEqual(sent, ['1 k1', '1 k1', '2 k2']);
  pass(20_000);
  assert.equal(await late, 'unknown');
});

test('a late answer to a price that was given up is not taken for the next one', async () => {
  const { quote, answer, pass } = harness();
  const first = quote('1', 1_000);
  const second = quote('2', 60_000);
  pass(1_000);
  pass(15_001);
  assert.equal(await first, 'unknown');
  assert.ok(answer('late', 'r', 'k1'));
  assert.ok(answer('t', 'r', 'k2'));
  assert.equal(await second, 't');
});
