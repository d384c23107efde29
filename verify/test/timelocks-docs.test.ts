// The worked examples of docs/timelocks.md and its table of pairs, written anew from the policies
// that the service runs with.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bitcoinPolicies } from '@parley/chains/bitcoin/policy.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { tronChains } from '@parley/chains/tron/policy.ts';
import { deadlines, type LegTiming, longLeg } from '@parley/core/deadlines.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { LegName } from '@parley/core/trade.ts';

const text = readFileSync(new URL('../../docs/timelocks.md', import.meta.url), 'utf8');
const ethereum = evmChains.ethereum.policy;
const bitcoin = bitcoinPolicies.mainnet;
const solana = solanaChains.solana.policy;

/** Seconds with a space before each thousand. */
const n = (seconds: number) => String(seconds).replace(/\B(?=(\d{3})+$)/g, ' ');
const clock = (seconds: number) =>
  `(${Math.floor(seconds / 3_600)} h ${(seconds % 3_600) / 60} min)`;
const at = (seconds: number) => `agreedAt + ${n(seconds).padStart(6)}   ${clock(seconds)}`;

/** The lines of an example that say when: as the engine has it. */
function example(short: ChainPolicy, long: ChainPolicy): string[] {
  const timing = (policy: ChainPolicy): LegTiming => ({ policy, depth: policy.normal });
  const times = deadlines(0, { a: timing(short), b: timing(long) }, 'b');
  return [
    `initiatorFundBy    = ${at(times.initiatorFundBy)}`,
    `expiresAt          = ${at(times.expiresAt)}`,
    `counterpartyFundBy = ${at(times.counterpartyFundBy)}`,
    `revealBy           = ${at(times.revealBy)}`,
    `T_short            = ${at(times.refundAt.a)}`,
    `                   = ${at(times.refundAt.b)}`,
  ];
}

test('docs/timelocks.md shows what the policies of Ethereum, Bitcoin and Solana come to', () => {
  const blocks = [...text.matchAll(/```\n([\s\S]*?)\n```/g)].slice(1);
  for (const [nth, long] of [bitcoin, solana].entries()) {
    const shown = blocks[nth]?.[1]?.split('\n') ?? [];
    for (const line of example(ethereum, long)) assert.ok(shown.includes(line), line);
  }
});

const chains = {
  bitcoin,
  ethereum,
  base: evmChains.base.policy,
  optimism: evmChains.optimism.policy,
  arbitrum: evmChains.arbitrum.policy,
  tron: tronChains.tron.policy,
  solana,
} as const;
type Name = keyof typeof chains;

const hours = (seconds: number) => (seconds / 3_600).toFixed(1);

/** Both timelocks in hours. */
function locks(legs: { readonly a: LegTiming; readonly b: LegTiming }, long: LegName): string {
  const { refundAt } = deadlines(0, legs, long);
  const [first, last] = [refundAt.a, refundAt.b].sort((x, y) => x - y) as [number, number];
  return `${hours(first)} / ${hours(last)}`;
}

/** Which is long, whoever gives it, and both timelocks. */
function locked(one: Name, other: Name, depth: 'normal' | 'high'): string {
  const timing = (name: Name) => ({ policy: chains[name], depth: chains[name][depth] });
  const a = timing(one);
  const b = timing(other);
  const long = longLeg({ a, b });
  const isEither = longLeg({ a: b, b: a }) === long;
  const named = isEither ? 'either' : long === 'a' ? one : other;
  return `${named} ${locks({ a, b }, long)}`;
}

test('and the table what every pair of chains comes to, at either depth', () => {
  const names: Name[] = (Object.keys(chains) as Name[]).filter((name) => name !== 'optimism');
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other]));
  pairs.push(['base', 'optimism']);
  const rows = new Map(
    [...text.matchAll(/^\| (\w+, \w+) \| (.+) \|$/gm)].map(([, pair, cells]) => [
      pair,
      cells?.split(' | '),
    ]),
  );
  for (const [one, other] of pairs as [Name, Name][]) {
    const wanted = (['normal', 'high'] as const).map((depth) => locked(one, other, depth));
    assert.deepEqual(rows.get(`${one}, ${other}`), wanted, `${one}, ${other}`);
  }
  assert.equal(rows.size, pairs.length);
});
