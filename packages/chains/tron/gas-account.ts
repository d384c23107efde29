// An operator's gas key on a TRON network. A transaction is never replaced: both transactions would
// be paid for.

import { larger, smaller } from '@parley/core/amounts.ts';
import { contractsOf } from '../escrows/plan.ts';
import type { GasAccount, GasOutcome, GasSlot, GasTransaction } from '../gas/account.ts';
import type { GasKey } from '../gas/keys.ts';
import { type GasParts, gasAccountOf, mortalOutcome } from '../gas/kit.ts';
import {
  aboveLimit,
  areThese,
  asFarAsTried,
  mustOpen,
  payeeOf,
  presentMultiple,
  type Settling,
  settling,
  touchesOf,
  unseenMargin,
} from '../gas/work.ts';
import type { SignedTron, TronTransaction } from '../interface/material.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { oneSource } from '../nodes/sources.ts';
import type { TronAdapter } from './adapter.ts';
import { tronHex } from './address.ts';
import { readTronSigned, signTronTransaction } from './broadcast.ts';
import {
  feeLimitOf,
  ownEnergy,
  reasonOf,
  settleEnergy,
  transactionBytes,
  trialOf,
  withMargin,
  withoutMargin,
} from './energy.ts';
import type { Http } from './http.ts';
import { accountOf, burntBy, headBlock, infoOf, knows, type Prices, pricesOf } from './node.ts';
import {
  callsIn,
  claimCall,
  referenceTo,
  refundCall,
  type TronCall,
  type TronDeployment,
  tronEscrow,
  tronTransaction,
} from './plan.ts';
import type { TronGasPolicy } from './policy.ts';
import { preflight } from './preflight.ts';
import { tronAddressOfKey } from './proof.ts';
import { mustStillHold } from './read.ts';
import { newWatch, type Watch } from './watch.ts';

export type TronGasOptions = {
  readonly key: GasKey;
  readonly adapter: TronAdapter;
  readonly policy: TronGasPolicy;
};

type Account = {
  readonly options: TronGasOptions;
  readonly address: string;
  /** An empty watch: the helpers that read a chain want one. */
  readonly watch: Watch;
};

const native = 'TRX (sun)';

export function createTronGasAccount(options: TronGasOptions): GasAccount {
  return gasAccountOf(options, 'tron', () => partsOf(options));
}

function partsOf(options: TronGasOptions): GasParts<Settling> {
  const { adapter, key } = options;
  const { chain, node, deployment, policy } = adapter;
  const address = tronAddressOfKey(key.bytes());
  const watch = newWatch({ chain, http: node, deployment, policy });
  const account = { options, address, watch };
  return {
    address,
    escrowOf: (terms) => tronEscrow(terms, deployment),
    able: (work) => settling(chain, work),
    balance: async (signal) => (await accountOf(node, address, signal))?.balance ?? 0n,
    reserve: (work, signal) => reserve(account, work, signal),
    quote: async (work, signal) => (await weighed(account, work, signal)).mostCost,
    sign: (work, slot, signal) => sign(account, work, slot, signal),
    outcome: (sent, signal) => outcomeOf(node, sent, signal),
    costAt: (at, txid, signal) => burntBy(oneSource(node, at), txid, signal),
  };
}

async function weighed(account: Account, work: Settling, signal: AbortSignal) {
  const energy = await energyOf(account, work, signal);
  const prices = await pricesOf(account.watch.http, signal);
  const feeLimitSun = feeLimitOf(energy, prices);
  return { feeLimitSun, mostCost: feeLimitSun + transactionBytes * prices.byteSun };
}

async function sign(account: Account, work: Settling, slot: GasSlot, signal: AbortSignal) {
  const { options, address, watch } = account;
  const { policy, key } = options;
  const { deployment } = watch;
  const { http, chain } = watch;
  const { feeLimitSun, mostCost } = await weighed(account, work, signal);
  if (mostCost > slot.mostCost) throw aboveLimit(chain, 'sun', mostCost, slot.mostCost);
  const { timestampMs: timestamp } = await headBlock(http, 'head', signal);
  // A solid block is never taken back: no reorganisation makes the transaction void.
  const reference = referenceTo(await headBlock(http, 'solid', signal));
  const expiration = timestamp + policy.lifeSeconds * 1_000;
  const unsigned = tronTransaction(callOf(work, deployment, address), {
    ...reference,
    expiration,
    timestamp,
    feeLimitSun,
  });
  mustBeOwn(unsigned, deployment, address);
  const { txid, raw, rawData, owner, called } = readTronSigned(
    signTronTransaction(key.bytes(), unsigned) as SignedTron,
  );
  const touches = touchesOf(work, (terms) => tronEscrow(terms, deployment));
  const isCalled = (to: string | null) => to !== null && contractsOf(deployment).includes(to);
  const isOurs =
    rawData === unsigned.raw_data_hex && areThese(callsIn(rawData, deployment), touches);
  if (!isOurs || owner !== address || !isCalled(called)) throw foreign();
  return {
    txid,
    raw,
    nonce: null,
    offer: feeLimitSun,
    mostCost,
    diesAt: Math.ceil(expiration / 1_000),
  };
}

function callOf(work: Settling, deployment: TronDeployment, from: string): TronCall {
  return work.verb === 'claim'
    ? claimCall(work.terms, deployment, work.secret, from)
    : refundCall(work.terms, deployment, from);
}

function foreign(): Error {
  return new Error('a gas key signs only calls of the escrow contract, without a value');
}

/** Before the key is used at all: one call, of our contract, as itself, with no coins in it. */
function mustBeOwn(unsigned: TronTransaction, deployment: TronDeployment, own: string): void {
  const [call, second] = unsigned.raw_data.contract;
  const value = call?.parameter.value;
  const isOwn =
    second === undefined &&
    call?.type === 'TriggerSmartContract' &&
    value?.owner_address === tronHex(own) &&
    contractsOf(deployment).some((each) => value.contract_address === tronHex(each)) &&
    value.call_value === undefined;
  if (!isOwn) throw foreign();
}

async function energyOf(account: Account, work: Settling, signal: AbortSignal): Promise<bigint> {
  mustOpen(work);
  const { options, watch } = account;
  const { terms } = work;
  const { address } = tronEscrow(terms, watch.deployment);
  const isAwaited = await mustStillHold(watch, { address, terms }, signal);
  const isSecret = work.verb === 'claim' && !work.isPublic;
  const energy = isSecret
    ? await energyUnseen(account, work, signal)
    : await energySeen(account, work, isAwaited, signal);
  const { mostEnergy } = options.policy;
  if (withMargin(energy) <= mostEnergy) return energy;
  const to = payeeOf(work);
  const reason = `it takes ${energy} energy, and ${mostEnergy} is the most with a margin`;
  throw wouldFail(terms, native, 'payout', to, reason);
}

/** The head shows what waits for a block, so a trial beside such would fail in any case. */
async function energySeen(
  { watch, address }: Account,
  work: Settling,
  isAwaited: boolean,
  signal: AbortSignal,
): Promise<bigint> {
  if (isAwaited) {
    await mustBeInTime(watch, work, signal);
    return settleEnergy(watch, work.terms, payeeOf(work), signal);
  }
  const trial = await trialOf(watch, callOf(work, watch.deployment, address), signal);
  const reason = reasonOf(trial);
  if (reason === null) return trial.energy;
  throw wouldFail(work.terms, native, 'payout', payeeOf(work), reason);
}

async function mustBeInTime(watch: Watch, work: Settling, signal: AbortSignal): Promise<void> {
  const { verb, terms } = work;
  const { timestampMs } = await headBlock(watch.http, 'head', signal);
  const isPast = timestampMs >= terms.timelock * 1_000;
  if (isPast === (verb === 'refund')) return;
  const reason = `its timelock ${terms.timelock} has ${isPast ? '' : 'not '}passed`;
  throw wouldFail(terms, native, 'payout', payeeOf(work), reason);
}

/** A secret that no chain has shown is told to no node: the payment is tried without it. */
async function energyUnseen({ watch, options }: Account, work: Settling, signal: AbortSignal) {
  const { terms } = work;
  await mustBeInTime(watch, work, signal);
  await preflight(watch, terms, 'claim', signal);
  const energy = await settleEnergy(watch, terms, terms.payout.address, signal);
  const most = withoutMargin(options.policy.mostEnergy);
  return energy > most ? energy : smaller(energy * unseenMargin, most);
}

/** A token's transfer to a new holder at its dearest (packages/chains/tron/energy.ts), rounded up. */
const usualTransfer = 150_000n;

async function reserve(account: Account, work: Settling, signal: AbortSignal): Promise<bigint> {
  const { options, watch } = account;
  const { reserveEnergySun, reserveByteSun } = options.policy;
  const { energySun, byteSun }: Prices = await pricesOf(watch.http, signal);
  const usual =
    work.terms.token === null
      ? ownEnergy.trxSettle + ownEnergy.newAccount
      : ownEnergy.tokenSettle + usualTransfer;
  const measured = await asFarAsTried(energyOf(account, work, signal));
  const energy = withMargin(larger(usual, measured));
  return (
    energy * larger(reserveEnergySun, presentMultiple * energySun) +
    transactionBytes * larger(reserveByteSun, presentMultiple * byteSun)
  );
}

function outcomeOf(
  http: Http,
  { txid, diesAt }: Pick<GasTransaction, 'txid' | 'diesAt'>,
  signal: AbortSignal,
): Promise<GasOutcome> {
  const seen = (one: Http) => outcomeSeen(one, txid, signal);
  const finalClock = async () => (await headBlock(http, 'solid', signal)).timestampMs / 1_000;
  const waits = () => knows(http, txid, signal);
  return mortalOutcome(http, diesAt, { seen, finalClock, waits }, signal);
}

async function outcomeSeen(
  http: Http,
  txid: string,
  signal: AbortSignal,
): Promise<GasOutcome | null> {
  const solid = await infoOf(http, txid, 'solid', signal);
  if (solid !== null) return solid.succeeded ? 'deep' : 'failed';
  const head = await infoOf(http, txid, 'head', signal);
  if (head !== null) return head.succeeded ? 'mined' : 'failed';
  return null;
}
