// A market that answers what it should not.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { storeWith } from '@parley/sdk/rescue/store.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { catalogueOf } from '@parley/trader/assets.ts';
import { placesOf, writePrivate } from '@parley/trader/places.ts';
import { type Profile, writeProfile } from '@parley/trader/profile.ts';
import { keepRescue } from '@parley/trader/rescue-file.ts';
import { compareTerms, keepTerms, mustBeTerms, type Terms } from '@parley/trader/terms.ts';
import { runParley } from './run.ts';
import { testIo } from './testing/io.ts';

let home: string;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-cli-hostile-'));
});
after(() => rm(home, { recursive: true, force: true }));

/** The words of BIP-39's own vectors. */
const words = `${'abandon '.repeat(11)}about`;

test('claims do not wait for a list of swaps that is none', async () => {
  let answered: unknown;
  const server = createServer((_, response) => response.end(JSON.stringify(answered)));
  await new Promise<void>((next) => server.listen(0, '127.0.0.1', next));
  const { port } = server.address() as AddressInfo;
  const market = `http://127.0.0.1:${port}`;
  const env = { HOME: home };
  const { profileFile, data, account } = placesOf(env, 'one');
  const keyFile = join(data, 'words');
  const named = { market, productName: 'Parley', shortName: 'parley', network: 'dev' } as const;
  await writePrivate(profileFile, writeProfile({ ...named, chains: {}, keyFile }));
  await writePrivate(keyFile, words);
  await writePrivate(account, JSON.stringify({ market, key: 'k', addresses: {} }));
  const { io, said } = testIo(home);
  try {
    let status: number;
    for ([answered, status] of [
      [{}, 4],
      [{ swaps: [null], nextCursor: null }, 4],
      [{ swaps: [{ id: 'one', threadId: '../../words', status: 'agreed' }], nextCursor: null }, 0],
      [{ swaps: [{ id: '../words', threadId: 'one', status: 'agreed' }], nextCursor: null }, 0],
    ] as const) {
      said.err = '';
      assert.equal(
        await runParley(['settle'], io),
        status,
        `${JSON.stringify(answered)}: ${said.err}`,
      );
      // Not that none is open: one may be.
      assert.equal(
        /no swap is kept here, and the market lists none now/.test(said.err),
        status === 4,
      );
    }
    await writePrivate(account, '{');
    assert.equal(await runParley(['settle'], io), 0, said.err);
    assert.match(said.err, /is damaged.*claims and refunds go on/);
  } finally {
    server.close();
  }
});

test('amounts are shown by the decimals that are pinned, whatever a market lists', async () => {
  const address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const bitcoin = { family: 'bitcoin', bitcoin: 'regtest', nodes: [], tokens: {} } as const;
  const tokens = { USDC: { address, decimals: 6 } };
  const evm = { family: 'evm', chainId: 1, nodes: [], tokens } as const;
  const profile = { chains: { bitcoin, ethereum: evm } } as unknown as Profile;
  const listed = [
    { id: 'btc', chain: 'bitcoin', address: null, symbol: 'BTC', decimals: 10 },
    { id: 'usdc', chain: 'ethereum', address: address.toLowerCase(), symbol: 'X', decimals: 18 },
    { id: 'other', chain: 'ethereum', address: '0x1', symbol: 'USDC', decimals: 9 },
  ] as unknown as Asset[];
  const assets = async () => ({ assets: listed, nextCursor: null });
  const session = { profile } as unknown as Parameters<typeof catalogueOf>[0];
  const names = await catalogueOf(session, { assets });
  const shown = listed.map(({ id }) => {
    const { name, decimals } = names.of(id);
    return [name, decimals];
  });
  assert.deepEqual(shown, [
    ['bitcoin', 8],
    ['ethereum:USDC', 6],
    ['ethereum:USDC?', 9],
  ]);
});

test('words that were typed once do not take the place of the rescue file', async () => {
  const places = placesOf({ HOME: home }, 'two');
  const session = { places } as unknown as Parameters<typeof keepRescue>[0];
  const other = `${'legal winner thank year wave sausage worth useful '}legal winner thank yellow`;
  const kept: string[] = [];
  for (const [phrase, isTyped] of [
    [words, false],
    [other, true],
  ] as const) {
    const keys = await phraseKeys(phrase, 'dev');
    const store = storeWith(keys, memoryStore(), () => 1_800_000_000);
    await keepRescue(session, { store, isTyped });
    kept.push(await readFile(places.rescue, 'utf8'));
  }
  assert.equal(kept[0], kept[1]);
});

test('under the price that a script names no other amount, pair or side is accepted', async () => {
  const session = { places: placesOf({ HOME: home }, 'three') };
  const base = { chain: 'bitcoin', token: null };
  const quote = { chain: 'ethereum', token: '0xA0b8' };
  const terms: Terms = {
    party: 'taker',
    direction: 'sell_base',
    baseAmount: 1_000_000n,
    base,
    quote,
  };
  const unknown = (error: { code?: string }) => error.code === 'terms_unknown';
  await assert.rejects(mustBeTerms({ yes: true }, session, 'r1', terms), unknown);
  await mustBeTerms({ yes: false }, session, 'r1', terms);
  await keepTerms(session, 'r1', terms);
  await mustBeTerms({ yes: true }, session, 'r1', terms);
  for (const other of [
    { baseAmount: 100_000_000n },
    { direction: 'buy_base' },
    { party: 'maker' },
    { base: { chain: 'ethereum', token: null } },
    { quote: { ...quote, token: '0xB1' } },
  ] as const) {
    const altered = mustBeTerms({ yes: false }, session, 'r1', { ...terms, ...other });
    await assert.rejects(altered, { name: 'VerificationError' }, Object.keys(other)[0]);
  }
  await assert.rejects(compareTerms(session, '../words', terms), { name: 'VerificationError' });
  // Older than any RFQ can be.
  const folder = join(session.places.data, 'terms');
  const [old, young] = [8 * 86_400 + 60, 8 * 86_400 - 60].map((age) => Date.now() / 1_000 - age);
  await keepTerms(session, 'r2', terms);
  await utimes(join(folder, 'r1.json'), old ?? 0, old ?? 0);
  await utimes(join(folder, 'r2.json'), young ?? 0, young ?? 0);
  await keepTerms(session, 'r3', terms);
  assert.deepEqual((await readdir(folder)).sort(), ['r2.json', 'r3.json']);
});
