// Which node is asked, how often, and what is said when none answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParleyError } from '../core/errors.ts';
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
    isFinal: (failure) => failure instanceof Own && failure.message === 'no',
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
  assert.equal(await nodes(first.question, never), 'yes');
  assert.deepEqual(first.asked, [0, 1]);
  const second = asking((at) => (at === 0 ? 'now' : fails(new Error('busy'))()));
  assert.equal(await nodes(second.question, never), 'now');
  assert.deepEqual(second.asked, [1, 2, 0]);
});

test('rounds end, with the names of the hosts and nothing else of the addresses', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const refused = Object.assign(new Error(`connect to ${urls[0]}`), { code: 'ECONNREFUSED' });
  const { asked, question } = asking(fails(refused));
  await assert.rejects(nodes(question, never), (error: ParleyError) => {
    assert.equal(error.code, 'chain_unavailable');
    assert.equal(error.message, 'the evm-dev node does not serve the height now: ECONNREFUSED');
    const all = 'one.example:8545, two.example, an unreadable address';
    assert.deepEqual(error.facts, { chain: 'evm-dev', path: 'height', nodes: all });
    assert.equal(error.cause, refused);
    return true;
  });
  assert.deepEqual(asked, [0, 1, 2, 0, 1, 2]);
});

test('what no other node would say otherwise is not asked again', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const { asked, question } = asking(fails(new Own('no')));
  await assert.rejects(nodes(question, never), new Own('no'));
  assert.deepEqual(asked, [0]);
});

test('the last failure is told as it is only where that is wanted', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 1 });
  const { asked, question } = asking(fails(new Own('busy')));
  const isToldAsIs = (failure: unknown) => failure instanceof Own;
  await assert.rejects(nodes({ ...question, isToldAsIs }, never), new Own('busy'));
  assert.deepEqual(asked, [0, 1, 2]);
  await assert.rejects(nodes(question, never), { code: 'chain_unavailable' });
});

test('silence is a timeout, and who waits no longer is told the same at once', async () => {
  const nodes = inTurn({ chain: 'evm-dev', urls, rounds: 2 });
  const silent = asking(fails(new DOMException('no answer in 8000 ms', 'TimeoutError')));
  const sentence = 'the evm-dev node did not answer the height in time; nothing changed';
  await assert.rejects(nodes(silent.question, never), { code: 'chain_timeout', message: sentence });
  assert.equal(silent.asked.length, 6);

  const left = new AbortController();
  const cut = asking((_, times) => {
    if (times === urls.length) left.abort();
    return fails(new Own('busy'))();
  });
  const isToldAsIs = () => true;
  const gone = nodes({ ...cut.question, isToldAsIs }, left.signal);
  await assert.rejects(gone, { code: 'chain_timeout' });
  assert.equal(cut.asked.length, urls.length);
});

test('a chain without nodes is not begun with', () => {
  const none = () => inTurn({ chain: 'evm-dev', urls: [], rounds: 2 });
  assert.throws(none, /chain evm-dev has no node address/);
});
