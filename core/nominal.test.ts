// What is the same underneath and has two names is not taken for each other. Each line below that
// is expected not to compile fails the type check once its name is lost.

import { test } from 'node:test';
import type { EvmMaterial, TronMaterial } from '../chains/interface/material.ts';
import type { Heads } from '../chains/interface/reading.ts';
import type { OwnTrade } from '../sdk/trade.ts';
import type { BitcoinWallet, EvmWallet, SolanaWallet, TronWallet } from '../sdk/wallets/wallet.ts';
import { formatUnits } from './amounts.ts';
import { type Deadlines, deadlines } from './deadlines.ts';
import type { EscrowFacts } from './facts.ts';
import { type Hashlock, hashlockOf, type Secret } from './hashlock.ts';
import type {
  BaseUnits,
  BitcoinAddress,
  EvmAddress,
  Millis,
  Nominal,
  UnixSeconds,
} from './nominal.ts';
import { hasPassed } from './swap.ts';
import type { EscrowTerms } from './terms.ts';

type Named = {
  secret: Secret;
  hashlock: Hashlock;
  seconds: UnixSeconds;
  millis: Millis;
  units: BaseUnits;
  bitcoin: BitcoinAddress;
  evm: EvmAddress;
};
type Wallets = { evm: EvmWallet; bitcoin: BitcoinWallet; tron: TronWallet; solana: SolanaWallet };
type Values = { terms: EscrowTerms; heads: Heads; facts: EscrowFacts; times: Deadlines };

/** Never run: the type check is the test. */
export function swapped(
  { secret, hashlock, seconds, millis, units, bitcoin, evm }: Named,
  wallets: Wallets,
  { terms, heads, facts, times }: Values,
  leg: Parameters<typeof hasPassed>[0],
  timings: Parameters<typeof deadlines>[1],
) {
  const literals: readonly Named[] = [
    { secret: '', hashlock: '', seconds: 1, millis: 1, units: 1n, bitcoin: '', evm: '' },
  ];
  // @ts-expect-error a hashlock is no secret
  hashlockOf(hashlock);
  // @ts-expect-error a secret is no hashlock
  const withSecret: Pick<EscrowTerms, 'hashlock'> = { hashlock: secret };
  // @ts-expect-error milliseconds are no seconds
  deadlines(millis, timings, 'a');
  // @ts-expect-error nor as a timelock
  hasPassed(leg, millis, { wall: seconds, a: seconds, b: seconds });
  // @ts-expect-error nor as a clock
  hasPassed(leg, seconds, { wall: millis, a: seconds, b: seconds });
  // @ts-expect-error a timelock is in seconds
  const toMillis: Millis = terms.timelock;
  // @ts-expect-error and so is a deadline
  const revealBy: Millis = times.revealBy;
  // @ts-expect-error and a chain's clock
  const clock: Millis = heads.clock;
  // @ts-expect-error and when a trade was accepted
  const accepted: Pick<OwnTrade, 'acceptedAt'> = { acceptedAt: millis };
  // @ts-expect-error an amount is of an asset, not of anything that is a bigint and has a name
  const gas: Nominal<bigint, 'Gas'> = facts.balance;
  // @ts-expect-error money is no number
  formatUnits(seconds, 8);
  // @ts-expect-error an address of one family is none of another
  const from: EvmMaterial['from'] = bitcoin;
  // @ts-expect-error
  const payer: TronMaterial['from'] = wallets.evm.address;
  // @ts-expect-error
  const onBitcoin: BitcoinAddress = wallets.solana.address;
  // @ts-expect-error
  const onSolana: SolanaWallet['address'] = wallets.tron.address;
  // @ts-expect-error
  const onTron: TronWallet['address'] = wallets.bitcoin.address;
  // @ts-expect-error
  const escrow: EvmMaterial['escrow'] = wallets.tron.address;
  const right: readonly [EvmAddress, BaseUnits] = [evm, units];
  return {
    ...{ literals, withSecret, toMillis, revealBy, clock, accepted, gas, right },
    ...{ from, payer, onBitcoin, onSolana, onTron, escrow },
  };
}

test('names that were swapped do not compile', () => {});
