import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { amountOf, quantity, rpcClient } from '../nodes/rpc.ts';
import { lyingNode, type TestNode } from '../testing/nodes.ts';
import { ask } from './checks/ask.ts';
import { balanceAt, blockAt, chainIdOf, transactionCount, txOf } from './node.ts';
import { lends } from './simulate.ts';

const own = '0x00000000000000000000000000000000000000A1';
const signal = () => AbortSignal.timeout(30_000);
const nodes: TestNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((each) => each.stop()));
});

async function saying(result: unknown) {
  const node = await lyingNode('http://127.0.0.1:1', () => ({ result }));
  nodes.push(node);
  return rpcClient({ chain: 'evm-dev', urls: [node.url], rounds: 1 });
}

test('a quantity is hex of a word at most, and is not parsed where it is longer', () => {
  assert.equal(quantity('0x7a69'), 31_337);
  assert.equal(quantity('0X0A'), 10);
  assert.equal(amountOf(`0x${'f'.repeat(64)}`), 2n ** 256n - 1n);
  const long = '9'.repeat(200);
  const wrong = ['', '0x', '12', long, `0x${'0'.repeat(65)}`, '0x1g', ' 0x1', '-0x1', 1, null, {}];
  for (const value of wrong) {
    assert.throws(() => amountOf(value), /the node gave .{0,81} as a number$/, String(value));
    assert.throws(() => quantity(value), /the node gave .{0,81} as a number$/, String(value));
  }
  assert.throws(() => quantity('0xfffffffffffffff'), /gave 0xfffffffffffffff as a number/);
  const list = Array.from({ length: 3 }, () => ({ toString: () => assert.fail('was quoted') }));
  assert.throws(() => quantity(list), /gave object as a number/);
});

test('an answer of one word that is longer ends the call in a short sentence', async () => {
  const short = (sentence: RegExp) => (error: Error & { code?: string }) => {
    assert.equal(error.code, 'chain_unavailable');
    assert.match(error.message, sentence);
    assert.ok(error.message.length < 500, `${error.message.length} characters`);
    return true;
  };
  // Within what is read of a few words, and beyond.
  for (const [digits, sentence] of [
    [10_000, /cannot be read: the node gave 9{80}… as a number/],
    [100_000, /an answer of more than 16384 bytes/],
  ] as const) {
    const rpc = await saying('9'.repeat(digits));
    await assert.rejects(chainIdOf(rpc, signal()), short(sentence));
    await assert.rejects(transactionCount(rpc, own, signal()), short(sentence));
    await assert.rejects(balanceAt(rpc, null, own, 'latest', signal()), short(sentence));
  }
  const head = { hash: '0x', parentHash: '0x', timestamp: '0x1', number: '9'.repeat(100_000) };
  const unread = short(/eth_getBlockByNumber that cannot be read: the node gave 9{80}… as/);
  await assert.rejects(blockAt(await saying(head), 'latest', false, signal()), unread);
  const big = { ...head, extraData: 'f'.repeat(8 * 2 ** 20) };
  const refused = short(/an answer of more than 8388608 bytes/);
  await assert.rejects(blockAt(await saying(big), 'latest', false, signal()), refused);
});

test('a transaction is read up to what a block lets it be, a token’s answer up to what its gas does', async () => {
  const rpc = await saying(`0x${'0'.repeat(9 * 2 ** 20)}`);
  const tooLong = { code: 'chain_unavailable', message: /more than 8388608 bytes/ };
  await assert.rejects(ask(rpc, own, '0x', signal()), tooLong);
  const unread = { code: 'chain_unavailable', message: /cannot be read: not an object/ };
  await assert.rejects(txOf(rpc, own, signal()), unread);
  const longer = await saying(`0x${'0'.repeat(33 * 2 ** 20)}`);
  const over = { code: 'chain_unavailable', message: /more than 33554432 bytes/ };
  await assert.rejects(txOf(longer, own, signal()), over);
  assert.equal(await lends(await saying(`0x${'0'.repeat(20_000)}2a`), signal()), false);
});
