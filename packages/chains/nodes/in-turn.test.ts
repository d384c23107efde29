// Which node is asked, how often, and what is said when none answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParleyError } from '@parley/core/errors.ts';
import { inTurn, type Question } from './in-turn.ts';

const urls = ['http://user:key@one.example:8545/v1/key', 'https://two.example/key', 'no address'];
const never = new AbortController().signal;

class Own extends Error {}

/** A question, and the places at which it was asked. */
function asking(answers: (at: number, times: number) => unknown) {
  const asked: number[] = [];
  const question: Question<unknown> = {
    name: 'the height',
    facts: { path: 'height' },
    worth: (failure) => {
      if (!(failure instanceof Own) || failure.message === 'busy') return 'another round';
      return failure.message === 'no' ? 'nothing' : 'another node';
    },
    ask: async (at) => {
      asked.push(at);
      return answers(at, asked.length);
    },
  };
  return { asked, question };
}

const fails = (failure: unknown) => () => {
  throw failure;
};

test('the node that answered last is asked first', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const first = asking((at) => (at === 1 ? 'yes' : fails(new Error('busy'))()));
  assert.equal(await nodes.ask(first.question, never), 'yes');
  assert.deepEqual(first.asked, [0, 1]);
  const second = asking((at) => (at === 0 ? 'now' : fails(new Error('busy'))()));
  assert.equal(await nodes.ask(second.question, never), 'now');
  assert.deepEqual(second.asked, [1, 2, 0]);
});

test('rounds end, with the names of the hosts and nothing else of the addresses', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const refused = Object.assign(new Error(`connect to ${urls[0]}`), { code: 'ECONNREFUSED' });
  const { asked, question } = asking(fails(refused));
  await assert.rejects(nodes.ask(question, never), (error: ParleyError) => {
    assert.equal(error.code, 'chain_unavailable');
    assert.equal(error.message, 'the evm-dev node does not serve the height now: ECONNREFUSED');
    const all = 'one.example:8545, two.example, an unreadable address';
    assert.deepEqual(error.facts, { chain: 'evm-dev', path: 'height', nodes: all });
    assert.equal(error.cause, refused);
    return true;
  });
  assert.deepEqual(asked, [0, 1, 2, 0, 1, 2]);
});

test('a question that no other node would answer otherwise is not asked again', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const { asked, question } = asking(fails(new Own('no')));
  await assert.rejects(nodes.ask(question, never), new Own('no'));
  assert.deepEqual(asked, [0]);
});

test('where a node says no of its own the others are asked once, and then asked first', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const { asked, question } = asking((at) =>
    at === 2 ? 'yes' : fails(new Own(at === 0 ? 'no such key' : 'busy'))(),
  );
  assert.equal(await nodes.ask(question, never), 'yes');
  assert.deepEqual(asked, [0, 1, 2]);
  assert.equal(await nodes.ask(question, never), 'yes');
  assert.deepEqual(asked, [0, 1, 2, 2]);
});

test('one that hangs holds up the words of another for two seconds, not for its whole limit', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls: urls.slice(0, 2), rounds: 2 });
  const { question } = asking(fails(new Own('mine')));
  const ask: typeof question.ask = (at, signal) =>
    at === 0
      ? question.ask(at, signal)
      : new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
  const asked = performance.now();
  const until = AbortSignal.timeout(60_000);
  await assert.rejects(nodes.ask({ ...question, ask }, until), new Own('mine'));
  assert.ok(performance.now() - asked < 10_000);
});

test('silence is a timeout, and who waits no longer gets the same at once', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const silent = asking(fails(new DOMException('no answer in 8000 ms', 'TimeoutError')));
  const sentence =
    'the evm-dev node did not answer the height in time; the request changed nothing';
  const late = { code: 'chain_timeout', message: sentence };
  await assert.rejects(nodes.ask(silent.question, never), late);
  assert.equal(silent.asked.length, 6);

  const left = new AbortController();
  const cut = asking((_, times) => {
    if (times === urls.length) left.abort();
    return fails(new Own('busy'))();
  });
  const isToldAsIs = () => true;
  const gone = nodes.ask({ ...cut.question, isToldAsIs }, left.signal);
  await assert.rejects(gone, { code: 'chain_timeout' });
  assert.equal(cut.asked.length, urls.length);
});

test('a chain without nodes is not begun with', () => {
  const none = () => inTurn({ chain: 'evm-dev', urls: [], rounds: 2 });
  assert.throws(none, /chain evm-dev has no node address/);
});
