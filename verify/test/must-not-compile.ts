// Code that must not compile: one value in another's place. `npm run check` fails where one of them
// compiles, since its `@ts-expect-error` then expects nothing.

import type { CoreRpc } from '@parley/chains/bitcoin/rpc.ts';
import type { EvmMaterial, TronMaterial } from '@parley/chains/interface/material.ts';
import type { Heads } from '@parley/chains/interface/reading.ts';
import type { Rpc } from '@parley/chains/nodes/rpc.ts';
import type { Http } from '@parley/chains/tron/http.ts';
import { formatUnits } from '@parley/core/amounts.ts';
import { type Deadlines, deadlines, type LegTiming } from '@parley/core/deadlines.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { type Hashlock, hashlockOf, opens, type Secret } from '@parley/core/hashlock.ts';
import type { BaseUnits, Millis, Nominal, UnixSeconds } from '@parley/core/nominal.ts';
import { hasPassed, type Leg } from '@parley/core/swap.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { SecretStore } from '@parley/sdk/stores/store.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import type {
  BitcoinWallet,
  EvmWallet,
  SolanaWallet,
  TronWallet,
} from '@parley/sdk/wallets/wallet.ts';

declare const nodes: { readonly core: CoreRpc; readonly rpc: Rpc; readonly tron: Http };
declare const signal: AbortSignal;
declare const secret: Secret;
declare const hashlock: Hashlock;
declare const terms: EscrowTerms;
declare const store: SecretStore;
declare const seconds: UnixSeconds;
declare const millis: Millis;
declare const times: Deadlines;
declare const heads: Heads;
declare const facts: EscrowFacts;
declare const leg: Leg;
declare const timings: { readonly a: LegTiming; readonly b: LegTiming };
declare const evm: EvmWallet;
declare const bitcoin: BitcoinWallet;
declare const tron: TronWallet;
declare const solana: SolanaWallet;

/** Compiled and never called. */
export function mixedUp(): readonly unknown[] {
  return [
    // @ts-expect-error: a method that no operator's look at a node tries (packages/chains/nodes/methods.ts)
    nodes.rpc.call('eth_syncing', [], signal),
    // @ts-expect-error: nor this one of Core
    nodes.core.call('getpeerinfo', [], signal),
    // @ts-expect-error: nor this one of java-tron
    nodes.tron.call('wallet/listnodes', {}, signal),
    // @ts-expect-error: a hashlock is no secret
    hashlockOf(hashlock),
    // @ts-expect-error: the two the other way round
    opens(hashlock, secret),
    // @ts-expect-error: a funder of this has shown the secret
    { ...terms, hashlock: secret } satisfies EscrowTerms,
    // @ts-expect-error: the two the other way round
    store.putSecret(secret, hashlock).catch(() => {}),
    // @ts-expect-error: milliseconds are no seconds
    deadlines(millis, timings, 'a'),
    // @ts-expect-error: nor as a timelock
    hasPassed(leg, millis, { wall: seconds, a: seconds, b: seconds }),
    // @ts-expect-error: nor as a clock
    hasPassed(leg, seconds, { wall: millis, a: seconds, b: seconds }),
    // @ts-expect-error: nor as the moment of an acceptance
    { acceptedAt: millis } satisfies Pick<OwnTrade, 'acceptedAt'>,
    // @ts-expect-error: a timelock is in seconds
    terms.timelock satisfies Millis,
    // @ts-expect-error: and so is a deadline
    times.revealBy satisfies Millis,
    // @ts-expect-error: and a chain's clock
    heads.clock satisfies Millis,
    // @ts-expect-error: a balance is of an asset, and no gas
    facts.balance satisfies Nominal<bigint, 'Gas'>,
    // @ts-expect-error: gas is no amount
    formatUnits(5n as Nominal<bigint, 'Gas'>, 8),
    // @ts-expect-error: an amount is no number
    8 satisfies BaseUnits,
    // @ts-expect-error: an address of one family is none of another
    bitcoin.address satisfies EvmMaterial['from'],
    // @ts-expect-error: nor this
    evm.address satisfies TronMaterial['from'],
    // @ts-expect-error: nor this
    solana.address satisfies BitcoinWallet['address'],
    // @ts-expect-error: nor this
    tron.address satisfies SolanaWallet['address'],
    // @ts-expect-error: nor this
    bitcoin.address satisfies TronWallet['address'],
    // @ts-expect-error: nor this
    tron.address satisfies EvmMaterial['escrow'],
  ];
}
