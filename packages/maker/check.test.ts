// `parley-maker CONFIG check`: each line has its numbers, and one that is not well is the status.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { OwnChains } from './chains.ts';
import { found } from './check.ts';
import { parseConfig } from './config/config.ts';

/** A market and a price source on one port; the test decides what they and the node answer. */
async function stage(t: TestContext) {
  const at = { price: '64000' as string | null, units: 60n, blockAgo: 7, isNodeThere: true };
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/price') && at.price === null) response.writeHead(500);
    response.end(request.url?.startsWith('/price') ? at.price : '{}');
  });
  await new Promise<void>((next) => server.listen(0, '127.0.0.1', next));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = parseConfig(
    [
      `store = "store"\n[market]\nurl = "${url}"\nlogin = "sol"`,
      '[chains.sol]\nfamily = "solana"\nkey_file = "k"\nrpc_urls = ["http://127.0.0.1:1"]',
      'policy = "dev"\nprogram = "11111111111111111111111111111111"\nwarn_below_swaps = 2',
      '[chains.other]\nfamily = "solana"\nkey_file = "k"\nrpc_urls = ["http://127.0.0.1:1"]',
      'policy = "dev"\nprogram = "11111111111111111111111111111111"\nwarn_below_swaps = 0',
      '[assets.a]\nchain = "sol"\ndecimals = 9\n[assets.b]\nchain = "other"\ndecimals = 9',
      `[prices.p]\ntype = "http"\nurl = "${url}/price"`,
      '[[pairs]]\nbase = "a"\nquote = "b"\nleast = "1"\nmost = "2"\nspread_bps = 1\nprice = "p"',
      '[addresses.cold]\nsol = "mine"',
    ].join('\n'),
    'maker.toml',
  );
  const cost = (most: bigint) => ({ most });
  const chainOf = (chain: string) => ({
    source: {
      view: { chain, policy: { driftSeconds: 0 } },
      adapter: {
        parseAddress: (text: string) => {
          if (at.isNodeThere) return text;
          throw new Error('it is of another network');
        },
        held: async () => {
          if (!at.isNodeThere) throw new Error('the node is away');
          return at.units * 10n ** 9n;
        },
        costs: async () => ({
          fund: cost(10n ** 10n),
          claim: cost(10n ** 10n),
          refund: cost(10n ** 10n),
          deposit: null,
          settlesFromAmount: false,
        }),
        heads: async () => {
          if (!at.isNodeThere) throw new Error('the node is away');
          return { clock: Math.floor(Date.now() / 1_000) - at.blockAgo };
        },
      },
    },
    wallet: { family: 'solana', address: 'own' },
  });
  const chains = { sol: chainOf('sol'), other: chainOf('other') } as unknown as OwnChains;
  const lines = () => found(config, chains, () => Date.now());
  const bad = async () => (await lines()).flatMap(({ text, isWell }) => (isWell ? [] : [text]));
  return { at, lines, bad };
}

test('a maker that has all it needs is told its balances, gas, clock and prices in numbers', async (t) => {
  const { lines } = await stage(t);
  const all = await lines();
  assert.ok(all.every(({ isWell }) => isWell));
  const said = all.map(({ text }) => text.replace(/\b[78] s ahead/, '7 s ahead'));
  assert.deepEqual(
    said.map((each) => each.replace(/(market: )[01] s (ahead|behind)/, '$10 s ahead')),
    [
      'a on sol: 60',
      'b on other: 60',
      'gas on sol: 60, for 2 swaps',
      'gas on other: 60, for 2 swaps',
      'clock, of the market: 0 s ahead',
      'clock, of the last block of sol: 7 s ahead',
      'clock, of the last block of other: 7 s ahead',
      'price p: 64000',
      'address cold on sol: mine',
    ],
  );
});

test("a maker's lack is named and is not well: gas, a price, a right clock, a node", async (t) => {
  const { at, bad } = await stage(t);
  at.units = 59n;
  assert.deepEqual(await bad(), ['gas on sol: 59, for 1 swaps, and the settings want 2']);
  at.units = 60n;
  at.price = null;
  assert.deepEqual(await bad(), ['price p: the source answered 500']);
  at.price = '64000';
  at.blockAgo = -3_600;
  assert.match((await bad()).join(), /clock is 3\d{3} s behind the last block of sol/);
  at.blockAgo = 7;
  at.isNodeThere = false;
  assert.deepEqual(await bad(), [
    'a on sol: the node is away',
    'b on other: the node is away',
    'gas on sol: the node is away',
    'gas on other: the node is away',
    'clock, of the last block of sol: no node answers',
    'clock, of the last block of other: no node answers',
    'address cold on sol: it is of another network',
  ]);
});
