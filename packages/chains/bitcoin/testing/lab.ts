// Parts that tests on a real node share: adapters over it, swaps by its clock, and spends that
// their parties signed.

import type { ChainAdapter } from '../../adapter.ts';
import type { BtcSighash } from '../../interface/material.ts';
import { type BitcoinAdapter, type BitcoinSource, bitcoinAdapter } from '../adapter.ts';
import type { BitcoinBackend } from '../backend.ts';
import { coreBackend } from '../core-backend.ts';
import { bitcoinNetworks } from '../networks.ts';
import type { Regtest } from './regtest.ts';
import { signed, type TestSwap, testSwap } from './swaps.ts';

export const signal = (ms = 60_000) => AbortSignal.timeout(ms);

export const adapterOn = (
  node: Regtest,
  source: BitcoinSource = { coreUrl: node.rpcUrl },
  second?: BitcoinSource,
): BitcoinAdapter =>
  bitcoinAdapter({
    chain: 'bitcoin',
    network: 'regtest',
    source,
    ...(second && { second }),
    now: node.now,
  });

export const coreOf = ({ rpcUrl: url, now }: Regtest, longList?: number): BitcoinBackend => {
  const own = { url, network: bitcoinNetworks.regtest, now };
  return coreBackend(longList === undefined ? own : { ...own, longList });
};

export const swapOn = (
  node: Regtest,
  lockSeconds = 90_000,
  amount = 1_000_000n,
  form?: 'p2tr',
): TestSwap => {
  const about = { timelock: node.now() + lockSeconds, since: node.now(), amount };
  return testSwap(form === undefined ? about : { ...about, form });
};

export async function fundedOn(node: Regtest, lockSeconds?: number): Promise<TestSwap> {
  const swap = swapOn(node, lockSeconds);
  await node.pay(swap.escrow.address, swap.terms.amount);
  await node.mine(2);
  return swap;
}

export const inputOf = ({ escrow }: TestSwap, feeRateSatPerVbyte: number | null = null) => ({
  escrow,
  feeRateSatPerVbyte,
  isPublic: false,
});

export const read = (by: ChainAdapter, swap: TestSwap) => by.readEscrow(swap.escrow, signal());

export type Verb = 'claim' | 'refund';

export async function build(
  by: ChainAdapter,
  swap: TestSwap,
  verb: Verb,
  rate: number | null = null,
): Promise<BtcSighash> {
  const input = inputOf(swap, rate);
  const material =
    verb === 'claim'
      ? by.buildClaim(input, swap.secret, signal())
      : by.buildRefund(input, signal());
  return (await material) as BtcSighash;
}

/** As its party signs it. */
export const signedBy = (swap: TestSwap, material: BtcSighash, verb: Verb) =>
  verb === 'claim' ? signed(material, swap.claimer, swap.secret) : signed(material, swap.funder);

export async function spend(
  by: ChainAdapter,
  swap: TestSwap,
  verb: Verb,
  rate: number | null = null,
) {
  const material = await build(by, swap, verb, rate);
  return by.readSigned(signedBy(swap, material, verb), signal());
}
