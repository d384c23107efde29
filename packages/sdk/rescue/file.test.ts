import assert from 'node:assert/strict';
import test from 'node:test';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import type { LegName } from '@parley/core/trade.ts';
import fc from 'fast-check';
import { memoryStore } from '../stores/memory.ts';
import type { SwapRecord } from '../stores/store.ts';
import {
  bitcoinView,
  evmView,
  keptRecord,
  now,
  pinned,
  pinnedTo,
  secret,
} from '../testing/honest.ts';
import type { ChainView } from '../trade.ts';
import { phraseKeys } from './derive.ts';
import { mostBytes, readOwnRescue, readRescue, writeRescue } from './file.ts';
import { newPhrase } from './phrase.ts';
import { restoreFromFile } from './restore.ts';
import { storeWith } from './store.ts';

const keys = await phraseKeys(newPhrase(), 'dev');
const sent = { txid: 'aa'.repeat(32), raw: `02${secret}` };
/** A taker that has claimed: its record is full of the secret. */
const record = keptRecord('taker', { funding: sent, claim: sent, publicSecret: secret });

async function storeOf(records: readonly SwapRecord[], at = now) {
  const store = storeWith(keys, memoryStore(), () => at);
  for (const { swap } of records) await store.putSecret(swap.hashlock, secret);
  for (const each of records) await store.putSwap(each);
  return store;
}
const store = await storeOf([record]);
const text = await writeRescue(store, pinned);

test('the file holds terms, escrows and public keys of both, chains and contracts, no secret', () => {
  const { network, writtenAt, chains, swaps } = readRescue(text);
  assert.deepEqual([network, writtenAt], ['dev', now]);
  assert.deepEqual(swaps, [{ trade: record.trade, swap: record.swap }]);
  const { policy: _, ...evm } = evmView;
  const bitcoin = { chain: bitcoinView.chain, family: 'bitcoin', network: 'regtest' };
  assert.deepEqual(new Set(chains), new Set([evm, bitcoin]));
  for (const { refund, payout } of [record.swap.legs.b.escrow!.terms]) {
    for (const { pubkey } of [refund, payout]) assert.ok(text.includes(String(pubkey)));
  }
  for (const each of [secret, sent.raw, keys.bitcoinKey(0).privateKey]) {
    assert.ok(!text.includes(each));
  }
  assert.ok(text.includes(record.swap.hashlock));
});

test('blanks and line ends do not count; one other letter does, wherever it is', () => {
  const bare = JSON.stringify(JSON.parse(text));
  assert.deepEqual(readOwnRescue(store, bare), readRescue(text));
  const property = fc.property(
    fc.nat(bare.length - 1),
    fc.constantFrom('0', 'f', '"', '}'),
    (at, letter) => {
      if (bare[at] === letter) return;
      const altered = bare.slice(0, at) + letter + bare.slice(at + 1);
      assert.throws(() => readOwnRescue(store, altered), { name: 'RescueError' });
    },
  );
  fc.assert(property, { numRuns: 300 });
  const format = '"parley-rescue"';
  const named = bare.indexOf(format) + format.length;
  const cuts = fc.property(fc.nat(bare.length - 1), (at) => {
    const code = at >= named ? 'bad_file' : 'foreign_file';
    assert.throws(() => readRescue(bare.slice(0, at)), { code });
  });
  fc.assert(cuts, { numRuns: 100 });
});

test('a file that cannot be used says why', async () => {
  const written = JSON.parse(text);
  const as = (change: object) => JSON.stringify({ ...written, ...change });
  for (const [given, code, words] of [
    ['', 'foreign_file', /no JSON/],
    ['null', 'foreign_file', /no format "parley-rescue"/],
    ['{"format":"boltz-rescue"}', 'foreign_file', /no format/],
    [as({ version: 2 }), 'newer_file', /version 2, this software reads 1: use a newer one/],
    [as({ version: 'x' }), 'bad_file', /no version/],
    [as({ content: {} }), 'bad_file', /checksum/],
    [as({ content: null }), 'bad_file', /checksum/],
    [as({ checksum: '' }), 'bad_file', /checksum/],
    [' '.repeat(mostBytes + 1), 'too_large', /4194305 characters; .* at most 4194304/],
  ] as const) {
    assert.throws(() => readRescue(given), { code, message: words }, given.slice(0, 40));
  }
  const other = storeWith(await phraseKeys(newPhrase(), 'dev'), memoryStore(), () => now);
  assert.throws(() => readOwnRescue(other, text), { code: 'other_phrase' });
  assert.throws(() => readOwnRescue(store, as({ seal: '' })), { code: 'other_phrase' });
  const real = storeWith(await phraseKeys(newPhrase(), 'mainnet'), memoryStore(), () => now);
  await assert.rejects(restoreFromFile(real, text, { chains: {} }), { code: 'other_network' });
});

test('the file is no word about contracts and networks: the person’s own pins are', async () => {
  const restored = (bitcoin: ChainView, evm: ChainView) => {
    return restoreFromFile(
      storeWith(keys, memoryStore(), () => now),
      text,
      { chains: pinnedTo(bitcoin, evm) },
    );
  };
  const contract = `0x${'11'.repeat(20)}` as const;
  const another = { ...evmView, deployment: { ...evmView.deployment, contract } };
  const [found] = await restored(bitcoinView, another);
  assert.equal(found?.outcome, 'refused');
  assert.match(found?.why ?? '', /legs\.a\.escrow must be 0x1111/);
  const mainnet = { ...bitcoinView, network: bitcoinNetworks.mainnet };
  await assert.rejects(restored(mainnet, evmView), { code: 'other_network' });
});

test('a swap is in the file until nothing of it can be taken or come back', async () => {
  const seen = { txid: 'bb', confirmations: 9, deep: true };
  const funded: EscrowFacts = { ...nothingSeen, funded: seen, balance: 1n };
  const claimed: EscrowFacts = { ...funded, claimed: seen, balance: 0n };
  const refunded: EscrowFacts = { ...funded, refunded: seen, balance: 0n };
  const shallow = { ...claimed, claimed: { ...seen, deep: false } };
  const last = Math.max(...Object.values(record.swap.deadlines.refundAt));
  const month = 30 * 86_400;
  const much = record.swap.legs.b.amount / 100n;
  // The taker gives b.
  for (const [a, b, at, isIn] of [
    [nothingSeen, nothingSeen, last + month, true],
    [nothingSeen, nothingSeen, last + month + 1, false],
    [nothingSeen, funded, last + month + 1, true],
    [funded, nothingSeen, last + month + 1, true],
    [nothingSeen, { ...nothingSeen, balance: 1n }, last + month, true],
    [nothingSeen, { ...nothingSeen, balance: much - 1n }, last + month + 1, false],
    [nothingSeen, { ...nothingSeen, balance: much }, last + month + 1, true],
    [funded, claimed, now, true],
    [claimed, claimed, now, false],
    [claimed, shallow, now, true],
    [claimed, { ...claimed, balance: 1n }, last + month, true],
    [claimed, { ...claimed, balance: much - 1n }, last + month + 1, false],
    [claimed, { ...claimed, balance: much }, last + month + 1, true],
    [funded, refunded, now, false],
  ] as const) {
    const facts = { a, b };
    const address = (leg: LegName) => record.swap.legs[leg].escrow!.address;
    const shown = { [address('a')]: facts.a, [address('b')]: facts.b };
    const found = readRescue(
      await writeRescue(await storeOf([{ ...record, seen: shown }], at), pinned),
    );
    assert.equal(
      found.swaps.length,
      isIn ? 1 : 0,
      JSON.stringify([a, b, at], (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
    );
  }
});
