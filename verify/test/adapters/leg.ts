// One leg on a driver's chain, and what its parties do to it through an adapter.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { ReadTransaction } from '@parley/chains/interface/sending.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { type EscrowTerms, formOf } from '@parley/core/terms.ts';
import { freshLane } from '@parley/core/testing.ts';
import type { CoinKind, Driver, Side } from './driver.ts';

export const signal = () => AbortSignal.timeout(60_000);
const lookAgainMs = 500;

export type Leg = { readonly secret: string; readonly escrow: WatchedEscrow };

export function newLeg(
  driver: Driver,
  kind: CoinKind = 'native',
  over: Partial<EscrowTerms> = {},
): Leg {
  const secret = randomBytes(32).toString('hex');
  const hasLanes = driver.adapter().lanes !== undefined;
  const terms: EscrowTerms = {
    chain: driver.dev.info.chain,
    hashlock: hashlockOf(secret),
    payout: driver.parties.receiver,
    refund: driver.parties.funder,
    ...formOf(driver.parties.receiver, driver.parties.funder),
    token: driver.token(kind),
    amount: driver.amount(kind),
    timelock: driver.now() + 4 * 3_600,
    ...(hasLanes && { fundBefore: driver.now() + 3 * 3_600, lane: freshLane() }),
    ...over,
  };
  const { address } = driver.adapter().plan(terms);
  const since = driver.now() - 60;
  return { secret, escrow: { address, terms, requiredConfirmations: driver.depth, since } };
}

/**
 * The chain's own coin and a token. How a token answers makes no difference to what is reported or
 * built: all are funded, tried and claimed by gas keys.
 */
export const plainCoins = ({ coins }: Driver): readonly CoinKind[] => coins.slice(0, 2);

export const inputOf = ({ escrow }: Leg) => ({ escrow, feeRateSatPerVbyte: null, isPublic: false });

export async function read(
  { sign }: Driver,
  adapter: ChainAdapter,
  by: Side,
  material: Material,
  secret?: string,
): Promise<ReadTransaction> {
  return adapter.readSigned(await sign(by, material, secret), signal());
}

/** Sends the approvals, each with its block, and then the funding, which waits for its own. */
export async function fund(driver: Driver, adapter: ChainAdapter, leg: Leg): Promise<string> {
  for (let tries = 0; tries < 4; tries += 1) {
    const material = await adapter.buildFund(inputOf(leg), signal());
    const transaction = await read(driver, adapter, 'funder', material);
    const txid = await adapter.broadcast(transaction, signal());
    const count =
      material.sign === 'evm-tx'
        ? material.txs.length
        : material.sign === 'tron-txid'
          ? material.transactions.length
          : 1;
    if (count === 1) return txid;
    await driver.dev.mine(1);
  }
  throw new Error('there is no end of approvals');
}

export async function claim(driver: Driver, adapter: ChainAdapter, leg: Leg): Promise<string> {
  const material = await adapter.buildClaim(inputOf(leg), leg.secret, signal());
  return adapter.broadcast(await read(driver, adapter, 'receiver', material, leg.secret), signal());
}

export async function refund(driver: Driver, adapter: ChainAdapter, leg: Leg): Promise<string> {
  const material = await adapter.buildRefund(inputOf(leg), signal());
  return adapter.broadcast(await read(driver, adapter, 'funder', material), signal());
}

/** Funded, and as deep as the policy wants. */
export async function deepLeg(
  driver: Driver,
  adapter: ChainAdapter,
  kind: CoinKind = 'native',
  over: Partial<EscrowTerms> = {},
): Promise<Leg> {
  const leg = newLeg(driver, kind, over);
  adapter.watch([leg.escrow]);
  await fund(driver, adapter, leg);
  await driver.dev.mine(1);
  await driver.deepen();
  return leg;
}

export const facts = (adapter: ChainAdapter, { escrow }: Leg): Promise<EscrowFacts> =>
  adapter.readEscrow(escrow, signal());

/** With the ids of its transactions, which a slow node has for a later look. */
export async function namedFacts(
  driver: Driver,
  adapter: ChainAdapter,
  leg: Leg,
): Promise<EscrowFacts> {
  for (let more = driver.isSlow ? 30 : 0; ; more -= 1) {
    const seen = await facts(adapter, leg);
    const all = [seen.funded, seen.claimed, seen.refunded];
    if (more === 0 || all.every((each) => each?.txid !== 'unknown')) return seen;
    await sleep(lookAgainMs);
  }
}

/** The code of the refusal. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ParleyError, String((error as Error).stack));
    return error.code;
  }
  return 'none';
}

/**
 * A final transaction stays for good: on Bitcoin six blocks more, elsewhere what finality takes.
 */
export async function finalise(driver: Driver): Promise<void> {
  for (let more = 0; more < 4; more += 1) await driver.deepen();
}

/** Everything named until nothing more is. */
export async function allChanges(adapter: ChainAdapter): Promise<Set<string>> {
  const named = new Set<string>();
  for (let round = 0; round < 5; round += 1) {
    const { touched } = await adapter.changes(signal());
    for (const each of touched) named.add(each);
  }
  return named;
}

/** Deep, and told: the past is no news any more. */
export async function settleDown(driver: Driver, adapter: ChainAdapter): Promise<void> {
  await driver.dev.mine(1);
  await driver.deepen();
  await allChanges(adapter);
  await driver.dev.mine(1);
  await allChanges(adapter);
}
