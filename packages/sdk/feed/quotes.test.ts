// Quotes on their way: one answer each, none sent when it is stale or was followed by another.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { QuoteError } from '../errors.ts';
import { createQuotes } from './quotes.ts';

/**
 * `what | what happens, in order | keys of what is sent | what becomes of each quote`. A quote is
 * `AMOUNT@RFQ~MS` that it holds, 1 s unless said; `kAMOUNT` is its key.
 */
const table = `
  the frame of its RFQ answers a quote, whatever the case of the id
    | 1@A, 2@b, answer t2@B, answer t1@a, stray t3@a | k1 k2 | t1 t2
  a refusal rejects with the code of the market
    | 1, refuse rfq_gone | k1 | refused:rfq_gone
  the next price waits for the answer of the one before
    | 1, 2, 3 | k1 | superseded
  and of many only the last is sent
    | 1, 2, 3, answer t, answer t | k1 k3 | t superseded t
  after a lost connection it is sent again under its own key, while it holds
    | 1, lose, pass 900, back, answer t | k1 k1 | t
  a stale one is never sent again: it may have been taken, and is said to be
    | 1, lose, pass 1001, back, pass 20000, pass 20000 | k1 | unknown
  one that could not be sent in time was not sent
    | lose, 1, pass 1001, back | | stale
  one that was followed by another price is never sent again
    | 1, lose, 2, back, answer t | k1 k2 | superseded t
  nor is one that was never sent
    | lose, 3, 4, back, answer t | k4 | superseded t
  no answer lets the next price have its turn
    | 1, 2~60000, pass 1000, pass 15001 | k1 k2 | unknown
  which ends in the same way
    | 1, 2~60000, pass 1000, pass 15001, pass 60000, pass 20000 | k1 k2 | unknown unknown
  closing ends all of them
    | 1, 2, 1@other, end | k1 k1 | closed closed closed
  a first try that still runs is asked for again, while the price holds
    | 1, refuse still_running, pass 200, answer t | k1 k1 | t
  and no longer
    | 2~100, refuse still_running, pass 200, pass 20000 | k2 | unknown
  a late answer to a price that was given up is not taken for the next one
    | 1, 2~60000, pass 1000, pass 15001, answer late#k1, answer t#k2 | k1 k2 | unknown t
`;

test.afterEach(() => mock.timers.reset());

async function outcomesOf(steps: readonly string[]) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sent: string[] = [];
  const ends: string[] = [];
  let isConnected = true;
  const send = (frame: unknown) => {
    if (isConnected)
      sent.push((frame as { quote: { idempotencyKey: string } }).quote.idempotencyKey);
    return isConnected;
  };
  const quotes = createQuotes(send, () => Date.now());
  let made = 0;
  const quote = (text: string) => {
    const [, quoteAmount = '', rfqId = 'r', ms = '1000'] =
      /^(\d+)(?:@(\w+))?(?:~(\d+))?$/.exec(text) ?? [];
    const at = made;
    made += 1;
    const wanted = { rfqId, quoteAmount, idempotencyKey: `k${quoteAmount}`, goodForMs: Number(ms) };
    quotes.quote(wanted).then(
      ({ threadId }) => (ends[at] = threadId),
      (error: unknown) => {
        assert.ok(error instanceof QuoteError, String(error));
        ends[at] = error.fault === 'refused' ? `refused:${error.code}` : error.fault;
      },
    );
  };
  const answer = (text: string) => {
    const [, threadId = '', rfqId = 'r', key] = /^(\w+)(?:@(\w+))?(?:#(\w+))?$/.exec(text) ?? [];
    const own = key === undefined ? {} : { idempotencyKey: key };
    return quotes.take({ type: 'quoted', rfqId, threadId, ...own, seq: 1 });
  };
  for (const step of steps) {
    const [verb = '', what = ''] = step.split(' ');
    if (verb === 'answer') assert.ok(answer(what), step);
    else if (verb === 'stray') assert.ok(!answer(what), step);
    else if (verb === 'refuse')
      quotes.take({ type: 'error', error: 'no', code: what, rfqId: 'r', seq: 1 });
    else if (verb === 'pass') mock.timers.tick(Number(what));
    else if (verb === 'end') quotes.end();
    else if (verb === 'lose') isConnected = false;
    else if (verb === 'back') {
      isConnected = true;
      quotes.connected();
    } else quote(step);
    for (let turns = 0; turns < 5; turns += 1) await null;
  }
  return { sent: sent.join(' '), ends: Object.values(ends).join(' ') };
}

for (const [, what = '', steps = '', sent = '', ends = ''] of table.matchAll(
  /^ {2}(\S.*)\n +\|([^|]*)\|([^|]*)\|(.*)$/gm,
)) {
  test(what, async () => {
    const found = await outcomesOf(steps.split(',').map((each) => each.trim()));
    assert.deepEqual(found, { sent: sent.trim(), ends: ends.trim() });
  });
}
