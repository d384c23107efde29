// How a leg is funded: by the plain transactions, or a token by a signature in their place. An
// authorization (EIP-3009) may be sent by anybody, and counts as a funding from when it is kept.

import { signerOf } from '@parley/chains/escrows/typed-data.ts';
import { sameAddress } from '@parley/chains/evm/address.ts';
import { permitAlternative, signedCall } from '@parley/chains/evm/ways.ts';
import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import type {
  AuthorizationAlternative,
  EvmCall,
  EvmMaterial,
  FundAlternative,
  PermitAlternative,
  TypedData,
} from '@parley/chains/interface/material.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { legStatus } from '@parley/core/facts.ts';
import { has } from '@parley/core/families.ts';
import { fundBy } from '@parley/core/gates.ts';
import type { FundQuery, ParleyClient } from '../client.ts';
import { messageOf, ParleyApiError, SettleError, VerificationError } from '../errors.ts';
import { type Authorization, inPlaceOf, type Kept, keptNow } from '../stores/store.ts';
import { signingOf, type TextLimits, verifyTypedData } from '../typed-data.ts';
import type { Built } from '../types.ts';
import { mustTakeNew } from '../verify.ts';
import { verifyMaterial } from '../verify-material.ts';
import type { EvmWallet } from '../wallets/wallet.ts';
import { readLeg } from './chains.ts';
import {
  asPersonWants,
  type Context,
  type FundingWay,
  type On,
  ownLeg,
  sourceOf,
  walletOf,
} from './context.ts';
import type { Signing } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { asked } from './market.ts';
import { claimPayerOf, owing, payerOf } from './owed.ts';
import { doubtsOf, type SetLeg, watchedOf } from './record.ts';
import { overdue, send } from './send.ts';
import { fundingGate, mustAgree, signAndKeep } from './sign.ts';

/**
 * Checked like anybody's bytes. null: the market refuses for now, or the leg may have moved, which
 * is asked before the next build.
 */
export async function askToFund(
  context: Context,
  { sign }: Pick<FundQuery, 'sign'> = {},
): Promise<Built | null> {
  const { client, allowance, asking, heard } = context;
  const leg = ownLeg(context);
  const { leg: gives } = leg;
  if (client === null) {
    context.waits(leg, 'the market is gone: this side funds nothing new');
    return null;
  }
  try {
    const built = await asked(context, (how) =>
      client.fund(context.swapId, gives, { ...how, allowance, sign }),
    );
    const { view } = sourceOf(context, leg.chain);
    const validUntil = fundBy(context.record.swap, leg);
    const limits = { validUntil, outputs: null, now: await context.now() };
    const how = allowance === undefined ? {} : { allowance };
    heard.opening = await openingOf(context, client, leg);
    const wanted = { verb: 'fund', ...how, ...heard.opening } as const;
    verifyMaterial(built, wanted, leg.escrow.terms, view, limits);
    mustTakeNew(leg, view);
    return built;
  } catch (error) {
    if (error instanceof VerificationError) {
      // The other side may correct its key between the last question and the build.
      const { address } = leg.escrow;
      if (asking.doubted === address) throw error;
      asking.doubted = address;
      asking.lastAtMs = -Infinity;
      context.waits(leg, `the leg may have moved: ${error.message}`);
      return null;
    }
    const isForNow = error instanceof ParleyApiError && (error.unreachable || error.status === 409);
    if (!isForNow) throw error;
    if (error.code === 'escrow_moved') asking.lastAtMs = -Infinity;
    context.emit('market_refused', gives, error.message);
    return null;
  }
}

/** The payee's signature, where the leg is in a lane of its: after the build, so that it is there. */
export async function openingOf(
  context: Pick<Context, 'swapId' | 'signal'>,
  client: Pick<ParleyClient, 'swap'>,
  { leg, escrow }: SetLeg,
): Promise<{ readonly laneSignature?: string }> {
  const { lane } = escrow.terms;
  if (lane === undefined || !isOfPayee(lane)) return {};
  const { legs } = await asked(context, (how) => client.swap(context.swapId, how));
  const { laneSignature } = legs[leg];
  return typeof laneSignature === 'string' ? { laneSignature } : {};
}

/** Signs and keeps a funding, as what takes the place of the one before if there was any. */
export async function keepFunding(context: Context, sign: Signing): Promise<Kept> {
  const { funding: before } = context.record;
  const leg = ownLeg(context);
  const { address: escrow } = leg.escrow;
  return signAndKeep(context, leg, {
    sign: async () => (before === null ? sign() : inPlaceOf(before, await sign())),
    keeps: (funding) => ({ funding, asked: null, owedBy: claimPayerOf(context) }),
    asks: () => ({ asked: keptNow({ escrow, txid: null }), owedBy: claimPayerOf(context) }),
    gate: () => fundingGate(context),
    isUrgent: false,
  });
}

function mustBeOwnText(
  context: Context,
  leg: SetLeg,
  alternative: FundAlternative,
  limits: TextLimits,
): Promise<void> {
  const source = sourceOf(context, leg.chain);
  const all = { ...limits, ...context.heard.opening };
  return verifyTypedData(alternative, leg.escrow.terms, source, all, context.limit());
}

/** Throws `no_wallet` where the wallet has signed with another key, or by code. */
export async function signText(
  { context, leg, wallet }: On<EvmWallet>,
  text: TypedData,
): Promise<string> {
  const signature = await wallet.signTypedData?.(text, context.signingLimit(wallet));
  const { address } = leg.escrow.terms.refund;
  const signer = signature === undefined ? 'nobody' : signerOf(text, signature);
  if (signature !== undefined && sameAddress(signer, address)) return signature;
  throw new SettleError('no_wallet', `the funding of ${address} was signed by ${signer}`);
}

export type Way =
  | { readonly way: 'transactions' }
  | { readonly way: 'permit'; readonly alternative: PermitAlternative; readonly built: EvmMaterial }
  | { readonly way: 'authorization' };

const transactions: Way = { way: 'transactions' };
const allWays: readonly FundingWay[] = ['authorization', 'permit', 'approval'];

/** Throws `funding_would_fail` where the owner allows none of what is possible. */
export async function wayOf(context: Context, built: Built): Promise<Way> {
  const leg = ownLeg(context);
  const wallet = walletOf(context, leg.chain);
  const { token, refund } = leg.escrow.terms;
  if (built.sign !== 'evm-tx' || !has(wallet, 'signedFundings') || token === null)
    return transactions;
  const ways = context.fundingWays ?? allWays;
  const isOwn = sameAddress(wallet.address, refund.address);
  const offered = isOwn ? await offeredBy(context, leg, built, wallet) : {};
  const permit = ways.includes('permit') ? offered.permit : undefined;
  const authorization = ways.includes('authorization') ? offered.authorization : undefined;
  const paysGas = ways.some((each) => each !== 'authorization');
  if (authorization !== undefined && (await goesUnsent(context, leg, authorization, paysGas))) {
    return { way: 'authorization' };
  }
  if (built.txs.length === 1 && paysGas) return transactions;
  if (permit !== undefined) return { way: 'permit', alternative: permit, built };
  if (ways.includes('approval')) return transactions;
  const allowed = ways.length === 0 ? 'none' : ways.join(' and ');
  const sentence = `leg ${leg.leg} can be funded by none of the ways allowed: ${allowed}`;
  throw new ParleyError('funding_would_fail', sentence, { chain: leg.chain, token });
}

/**
 * Whether the leg is funded by what is signed alone. A signature that could never be sent is not
 * asked for.
 */
async function goesUnsent(
  context: Context,
  leg: SetLeg,
  { relay }: AuthorizationAlternative,
  paysGas: boolean,
): Promise<boolean> {
  if (paysGas) return relay && (await lacksGas(context, leg));
  return relay || !(await lacksGas(context, leg));
}

type Offered = {
  readonly permit?: PermitAlternative;
  readonly authorization?: AuthorizationAlternative;
};

/**
 * An account with code, by the own nodes, gets no offer: its token may not take what its key signs.
 */
async function offeredBy(
  context: Context,
  { chain }: SetLeg,
  built: EvmMaterial,
  { address, signTypedData }: EvmWallet,
): Promise<Offered> {
  if (signTypedData === undefined) return {};
  const all = alternativesOf(built);
  const permit = all.find((each) => each.way === 'permit');
  const authorization = all.find((each) => each.way === 'authorization');
  if (permit === undefined && authorization === undefined) return {};
  const { ways } = sourceOf(context, chain).adapter;
  if (!(await ways?.signsByKey(address, context.limit()))) return {};
  return { ...(permit && { permit }), ...(authorization && { authorization }) };
}

/** The market's offers beside its transactions. Throws VerificationError: it is no such list. */
export function alternativesOf({ alternatives = [] }: EvmMaterial): readonly FundAlternative[] {
  const said: unknown = alternatives;
  if (!Array.isArray(said)) throw new VerificationError('alternatives', 'a list', typeof said);
  const odd = said.findIndex((each) => typeof each !== 'object' || each === null);
  if (odd === -1) return alternatives;
  throw new VerificationError(`alternatives[${odd}]`, 'an object', String(said[odd]));
}

/** Whether the wallet has too little of the chain's coin to fund by itself. */
export async function lacksGas(context: Context, leg: SetLeg): Promise<boolean> {
  const { adapter } = sourceOf(context, leg.chain);
  const { terms } = leg.escrow;
  const payer = payerOf(context, leg, terms.refund.address);
  const owed = { claims: [], fundings: [terms] };
  return (await adapter.fundsShortage?.(owed, payer, context.limit())) != null;
}

/** The one call that funds, signed permit included; null where the token does not take it. */
export async function permitCall(
  on: On<EvmWallet>,
  alternative: PermitAlternative,
): Promise<EvmCall | null> {
  const { context, leg, wallet } = on;
  const { allowance = 'exact' } = context;
  const latestDeadline = fundBy(context.record.swap, leg);
  await mustBeOwnText(context, leg, alternative, { allowance, latestDeadline });
  const { reads, deployment } = signingOf(sourceOf(context, leg.chain));
  const { terms } = leg.escrow;
  const nonce = await reads.permitNonce(terms.token ?? '', wallet.address, context.limit());
  const { domain, message } = alternative.typedData;
  const values = {
    nonce: nonce ?? 0n,
    value: BigInt(message.value ?? 0),
    deadline: Number(message.deadline),
  };
  const abilities = { permit: domain, authorization: null };
  const { laneSignature } = context.heard.opening;
  const own = permitAlternative(terms, deployment, abilities, values, laneSignature);
  const refuse = (why: string) => {
    context.waits(leg, `approves instead of a permit: ${why}`);
    return null;
  };
  if (nonce === null || own === null) return refuse('your node shows no nonce of the token');
  const call = signedCall(own.call, await signText(on, own.typedData));
  const why = await reads.trial(call, wallet.address, context.limit());
  if (why !== null) return refuse(why);
  const much = allowance === 'standing' ? 'any amount' : 'exactly the amount';
  context.emit('signed', leg.leg, `signed a permit of ${much}: one transaction funds the leg`);
  return call;
}

/** Between two times that the market is given it, in pauses between questions to the market. */
const pausesBetween = 5;

export async function authorize(context: Context): Promise<void> {
  const leg = ownLeg(context);
  const wallet = walletOf(context, leg.chain) as EvmWallet;
  const text = await askForText(context);
  if (text === null) return;
  const signature = await signText({ context, leg, wallet }, text.typedData);
  const still = await fundingGate(context);
  await still();
  const authorization: Authorization = keptNow({
    escrow: leg.escrow.address,
    signature,
    call: signedCall(text.call, signature),
    validBefore: Number(text.typedData.message.validBefore),
  });
  await context.keep({ authorization, owedBy: claimPayerOf(context) });
  const until = timeOf(authorization.validBefore);
  context.emit('signed', leg.leg, `signed the funding of leg ${leg.leg}, valid before ${until}`);
  await handOut(context, authorization);
}

const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString();

type Text = {
  readonly typedData: NonNullable<AuthorizationAlternative['typedData']>;
  readonly call: NonNullable<AuthorizationAlternative['call']>;
};

/** From this question on the market leaves the leg where it is. null: it refuses for now. */
async function askForText(context: Context): Promise<Text | null> {
  const built = await askToFund(context, { sign: 'authorization' });
  if (built === null) return null;
  const found = alternativesOf(built as EvmMaterial).find((each) => each.way === 'authorization');
  const { typedData = null, call = null } = found ?? {};
  if (found === undefined || typedData === null || call === null) {
    throw new VerificationError('alternatives.authorization', 'a text to sign', 'none');
  }
  const limits = { allowance: context.allowance ?? 'exact', latestDeadline: 0 } as const;
  await mustBeOwnText(context, ownLeg(context), { ...found, typedData, call }, limits);
  return { typedData, call };
}

/** The authorization may still be with this side alone: all is asked as before a new funding. */
export async function tendAuthorization(context: Context): Promise<void> {
  const { authorization: kept } = context.record;
  if (!kept || !isDue(context, kept)) return;
  await mustAgree(context);
  await owing(context, { isSent: false }, async () => {
    const still = await fundingGate(context);
    await still();
    await handOut(context, kept);
  });
}

async function handOut(context: Context, kept: Authorization): Promise<void> {
  const leg = ownLeg(context);
  context.sentAtMs.set(keyOf(kept), performance.now());
  const isTaken = await relayed(context, kept);
  const isStuck = overdue(context, leg, { txid: keyOf(kept), keptAtMs: kept.keptAtMs });
  if (isTaken && !isStuck) return;
  if (await lacksGas(context, leg)) {
    const until = `any holder may send it before ${timeOf(kept.validBefore)}`;
    return context.waits(leg, `the funding of leg ${leg.leg} is signed: ${until}`);
  }
  await asPersonWants(context, leg, 'fund', () =>
    owing(context, { isSent: true }, () => sendIt(context, kept)),
  );
}

const keyOf = ({ escrow }: Authorization) => `signed funding of ${escrow}`;

function isDue({ sentAtMs, marketPollMs }: Context, kept: Authorization): boolean {
  const last = sentAtMs.get(keyOf(kept));
  return last === undefined || performance.now() - last >= marketPollMs * pausesBetween;
}

/** Whether the market says that it sends it. */
async function relayed(context: Context, { signature, escrow }: Authorization): Promise<boolean> {
  const { client, swapId } = context;
  const { leg } = ownLeg(context);
  if (client === null) return false;
  try {
    const { txid } = await asked(context, (how) =>
      client.relayFunding(swapId, leg, { signature, escrow }, how),
    );
    context.emit('funded', leg, `the market sends the funding of leg ${leg}`, txid);
    return true;
  } catch (error) {
    context.signal?.throwIfAborted();
    context.emit('market_refused', leg, messageOf(error));
    return false;
  }
}

/** With the own gas. Should others send it too, the contract takes it once. */
async function sendIt(context: Context, { call, escrow }: Authorization): Promise<void> {
  const leg = ownLeg(context);
  const { chainId } = signingOf(sourceOf(context, leg.chain)).deployment;
  const built = { chain: leg.chain, family: 'evm', sign: 'evm-tx', chainId, txs: [call], escrow };
  const [sign] = handOf(context, leg).signFunding(built as EvmMaterial);
  if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
  const funding = await keepFunding(context, sign);
  await send(context, leg, funding);
  context.emit('funded', leg.leg, `sent the signed funding of leg ${leg.leg}`, funding.txid);
}

/** Forgotten once no block can take it, by what is final: that is asked before the leg. */
export async function endUnsent(context: Context): Promise<void> {
  const leg = ownLeg(context);
  const { leg: gives } = leg;
  const { adapter } = sourceOf(context, leg.chain);
  await mustAgree(context, [gives]);
  const mayOpen = adapter.ways?.mayOpen(watchedOf(context.record, gives), context.limit());
  if (mayOpen === undefined || (await mayOpen)) {
    const until = `until its chain is past ${timeOf(fundBy(context.record.swap, leg))} at depth`;
    return context.waits(leg, `the signed funding of leg ${gives} may land ${until}`);
  }
  const shown = await readLeg(context, gives, null);
  if (doubtsOf(shown).length > 0 || legStatus(shown.leg.facts) !== 'unfunded') return;
  await context.keep({ authorization: null, asked: null, funding: null });
  context.emit(
    'cancelled',
    gives,
    'the signed funding can never be mined: the coins have not moved',
  );
}
