// Each provider's client on answers of that provider, over real HTTP: the requests, the accepted
// answers, and those that it refuses. Where the answers are from stands in testing/recorded.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { mainnetChainIds, testnetChainIds } from '@parley/core/worlds.ts';
import { marketNumbers } from '../../settings/listing.ts';
import { geckoNames, goPlusNames } from './chains.ts';
import { type FailureKind, type Provider, ProviderFailure } from './facts.ts';
import { geckoTerminal } from './geckoterminal.ts';
import { goPlus, goPlusLimited } from './goplus.ts';
import { jsonClient } from './http.ts';
import type { Json } from './read.ts';
import { recorded, startProvider, testClock } from './testing/server.ts';

const never = new AbortController().signal;
const all = new Set([...marketNumbers, 'honeypot' as const]);
const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const bsc = '0x6331BF8D601f0D7F0d2101772af5137c418c4444';
const bonk = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
const startMs = Date.UTC(2026, 9, 1);

async function served(t: TestContext, kind: 'gecko' | 'goplus') {
  const server = await startProvider(t);
  const clock = testClock(startMs);
  const options = { name: kind, base: server.base, perMinute: 1_000, clock };
  const now = () => clock.now();
  const provider: Provider =
    kind === 'goplus'
      ? goPlus(jsonClient({ ...options, limited: goPlusLimited }))
      : geckoTerminal(jsonClient(options), now);
  const refuses = async (chain: string, address: string, failure: FailureKind) => {
    const isIt = (error: unknown) => error instanceof ProviderFailure && error.kind === failure;
    await assert.rejects(provider.look(chain, address, all, never), isIt);
  };
  return { server, provider, refuses };
}

/** A recorded answer with a value at a path, such as `data.attributes.fdv_usd`, replaced. */
function changed(answer: unknown, path: string, value: unknown): unknown {
  const parts = path.split('.');
  const last = parts.pop() as string;
  const at = parts.reduce((inner, part) => (inner as Json)[part], answer);
  (at as Record<string, unknown>)[last] = value;
  return answer;
}

test('GeckoTerminal: the market and the holders of a token, in two requests', async (t) => {
  const { server, provider } = await served(t, 'gecko');
  server.answer(({ url = '' }, response) => {
    const body = recorded(url.includes('/info') ? 'gecko-info' : 'gecko-token');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  assert.deepEqual(await provider.look('eth', usdt, all, never), {
    capUsd: 171_798_403_974.784,
    liquidityUsd: 405_089_394.14192414,
    volume24hUsd: 1_142_454_033.37436,
    ageSeconds: Math.floor((startMs - Date.UTC(2025, 8, 18, 8, 28, 30)) / 1_000),
    holders: 7_041_203,
    topHoldersShare: 0.455782,
    honeypot: false,
  });
  const path = `/networks/eth/tokens/${usdt.toLowerCase()}`;
  assert.deepEqual(server.asked.sort(), [`${path}/info`, `${path}?include=top_pools`].sort());
  server.asked.length = 0;
  await provider.look('eth', usdt, new Set(['holders']), never);
  assert.deepEqual(server.asked, [`${path}/info`], 'only what is wanted is asked for');
});

test('GeckoTerminal: an answer about another token or network, or with others pools, is refused', async (t) => {
  const { server, provider, refuses } = await served(t, 'gecko');
  const other = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
  const cases: [string, unknown, FailureKind][] = [
    ['data.id', `eth_${other}`, 'misanswered'],
    ['data.attributes.address', other, 'misanswered'],
    ['included.0.relationships.quote_token.data.id', `eth_${other}`, 'misanswered'],
    ['data', [], 'unreadable'],
    ['data.attributes.volume_usd', '5', 'unreadable'],
    ['included.0.attributes.pool_created_at', '2027-01-01T00:00:00Z', 'unreadable'],
    ['included', {}, 'unreadable'],
  ];
  for (const [path, value, kind] of cases) {
    server.json(changed(recorded('gecko-token'), path, value));
    const wanted = new Set(['capUsd'] as const);
    const isIt = (error: unknown) => error instanceof ProviderFailure && error.kind === kind;
    await assert.rejects(provider.look('eth', usdt, wanted, never), isIt, path);
    server.json(recorded('gecko-token'));
    await provider.look('eth', usdt, wanted, never);
  }
  server.json(recorded('gecko-info'));
  await refuses('eth', other, 'misanswered');
});

test('GoPlus: holders and the share of the ten largest without pools', async (t) => {
  const { server, provider } = await served(t, 'goplus');
  server.json(recorded('goplus-evm'));
  const told = await provider.look('56', bsc, all, never);
  assert.deepEqual([told.holders, told.honeypot, told.capUsd], [14_983, false, undefined]);
  // Nine are no pool, and a tenth may follow who has as much as the last.
  const ten = 0.177949 + 0.012752;
  assert.ok(Math.abs((told.topHoldersShare ?? 0) - ten) < 0.000002, String(told.topHoldersShare));
  assert.deepEqual(server.asked, [`/token_security/56?contract_addresses=${bsc.toLowerCase()}`]);
});

test('GoPlus: burn addresses hold nothing, time locks do', async (t) => {
  const { server, provider } = await served(t, 'goplus');
  const share = async (address: string, more: object = {}) => {
    const holders = [
      { address, percent: '0.6', is_locked: 0, ...more },
      { address: '0x2df5a838e177242adf16a3cbc41012b8be2f0793', percent: 0.1, is_locked: 0 },
    ];
    const record = { holder_count: 2, holders, dex: null, is_honeypot: '1' };
    server.json({ code: 1, message: 'OK', result: { [bsc.toLowerCase()]: record } });
    return (await provider.look('56', bsc, all, never)).topHoldersShare;
  };
  assert.equal(await share('0x000000000000000000000000000000000000dEaD', { is_locked: 1 }), 0.1);
  assert.equal(await share('0x0000000000000000000000000000000000000000'), 0.1);
  assert.equal(await share('0x1111111111111111111111111111111111111111', { is_locked: 1 }), 0.7);
});

test('GoPlus: Solana and TRON are asked in their own ways', async (t) => {
  const { server, provider } = await served(t, 'goplus');
  server.json(recorded('goplus-solana'));
  const told = await provider.look('solana', bonk, all, never);
  assert.deepEqual([told.holders, told.honeypot, told.topHoldersShare], [978_112, null, 0.068]);
  const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const burnt = { address: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', percent: '0.5' };
  const holders = [burnt, { address: tron, percent: '0.25' }];
  for (const key of [tron, tron.toLowerCase()]) {
    server.json({ code: 1, result: { [key]: { holder_count: '5', holders } } });
    const { topHoldersShare, honeypot } = await provider.look('tron', tron, all, never);
    assert.deepEqual([topHoldersShare, honeypot], [0.25, null]);
  }
  assert.deepEqual(server.asked.slice(0, 2), [
    `/solana/token_security?contract_addresses=${bonk}`,
    `/token_security/tron?contract_addresses=${tron}`,
  ]);
});

test('GoPlus: a limit with status 200 is a limit, and its other codes are no answer', async (t) => {
  const { server, provider, refuses } = await served(t, 'goplus');
  server.json({ code: 1, message: 'OK', result: {} });
  assert.deepEqual(await provider.look('56', bsc, all, never), {});
  for (const [code, kind] of [
    [2, 'limited'],
    [2_004, 'unreachable'],
    ['1', 'unreachable'],
  ]) {
    server.json({ code, message: 'x', result: (recorded('goplus-evm') as Json).result });
    await refuses('56', bsc, kind as FailureKind);
  }
  server.json(recorded('goplus-limited'));
  server.asked.length = 0;
  await refuses('56', bsc, 'limited');
  assert.equal(server.asked.length, 1, 'it is given a pause, and not asked again');
});

test('GoPlus: an answer about another token, and numbers that cannot be, are refused', async (t) => {
  const { server, refuses, provider } = await served(t, 'goplus');
  server.json(recorded('goplus-evm'));
  await refuses('56', usdt, 'misanswered');
  const at = `result.${bsc.toLowerCase()}`;
  const cases: [string, unknown][] = [
    [`${at}.holder_count`, '14,983'],
    [`${at}.holders.0.percent`, '0.9'],
    [`${at}.holders`, {}],
    [`${at}`, 'x'],
    ['result', []],
  ];
  for (const [path, value] of cases) {
    server.json(changed(recorded('goplus-evm'), path, value));
    await refuses('56', bsc, 'unreadable');
    server.json({ code: 1, result: null });
    assert.deepEqual(await provider.look('56', bsc, all, never), {});
  }
});

test('a chain is known by what it is, and only mainnets have a market', () => {
  const client = jsonClient({ name: 'x', base: 'https://x.example', perMinute: 1 });
  for (const [provider, names] of [
    [geckoTerminal(client, Date.now), geckoNames],
    [goPlus(client), goPlusNames],
  ] as const) {
    for (const [chainId, name] of names.evm) {
      assert.ok(mainnetChainIds.has(chainId), String(chainId));
      assert.equal(provider.chainOf({ family: 'evm', chainId }), name);
    }
    assert.equal(new Set(names.evm.values()).size, names.evm.size);
    for (const chainId of [...testnetChainIds, 31_337, 987_654]) {
      assert.equal(provider.chainOf({ family: 'evm', chainId }), null);
    }
    assert.equal(provider.chainOf({ family: 'tron', chainId: 728_126_428 }), 'tron');
    assert.equal(provider.chainOf({ family: 'tron', chainId: 3_448_148_188 }), null);
    const genesisHash = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
    assert.equal(provider.chainOf({ family: 'solana', genesisHash }), 'solana');
    assert.equal(provider.chainOf({ family: 'solana', genesisHash: 'EtWTRABZaYq6' }), null);
    assert.equal(provider.chainOf({ family: 'bitcoin' }), null);
  }
});
