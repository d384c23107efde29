// A token funded by a signature alone (EIP-3009). Anybody may carry it to the chain: the market
// does with its gas, or this side with its own. The signature binds the escrow and its fund-by. It
// is kept before anybody has it, and counts as a funding from then on. No other funding of this
// hashlock is signed until the chain can take this one no more.

import { signedCall } from '../../../chains/evm/ways.ts';
import type { AuthorizationAlternative, EvmMaterial } from '../../../chains/interface/material.ts';
import { legStatus } from '../../../core/facts.ts';
import { VerificationError } from '../../errors.ts';
import { type Authorization, inPlaceOf, keptNow, type SwapRecord } from '../../stores/store.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { askToFund } from '../ask-to-fund.ts';
import { mustAgree, signAndKeep } from '../before-sending.ts';
import {
  type Context,
  legOf,
  lookAt,
  ownSides,
  type SetLeg,
  sourceOf,
  walletOf,
  watchedOf,
} from '../context.ts';
import { sendGate } from '../fund-gate.ts';
import { handOf } from '../hands/of.ts';
import { asked } from '../market.ts';
import { claimPayerOf, owing } from '../owed.ts';
import { overdue, send } from '../send.ts';
import { alternativesOf, lacksGas } from './choose.ts';
import { mustBeOwnText, signingOf, signText } from './typed.ts';

/** Between two times that the market is given it, in pauses between questions to the market. */
const pausesBetween = 5;

/** Signs, keeps, and hands out. */
export async function authorize(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  const wallet = walletOf(context, leg.chain) as EvmWallet;
  const text = await askForText(context, record);
  if (text === null) return record;
  const signature = await signText({ context, leg, wallet }, text.typedData);
  const still = await sendGate(context, record);
  await still();
  const authorization: Authorization = keptNow({
    escrow: leg.escrow.address,
    signature,
    call: signedCall(text.call, signature),
    validBefore: Number(text.typedData.message.validBefore),
  });
  const next = { ...record, authorization, owedBy: claimPayerOf(context, record) };
  await context.store.putSwap(next);
  const until = timeOf(authorization.validBefore);
  context.tell('signed', gives, `signed the funding of leg ${gives}, valid before ${until}`);
  return handOut(context, next, authorization);
}

const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString();

type Text = {
  readonly typedData: NonNullable<AuthorizationAlternative['typedData']>;
  readonly call: NonNullable<AuthorizationAlternative['call']>;
};

/** From this question on the market leaves the leg where it is. null: it refuses for now. */
async function askForText(context: Context, record: SwapRecord): Promise<Text | null> {
  const built = await askToFund(context, record, { sign: 'authorization' });
  if (built === null) return null;
  const leg = legOf(record, ownSides(record).gives);
  const found = alternativesOf(built as EvmMaterial).find((each) => each.way === 'authorization');
  const { typedData = null, call = null } = found ?? {};
  if (found === undefined || typedData === null || call === null) {
    throw new VerificationError('alternatives.authorization', 'a text to sign', 'none');
  }
  const limits = { allowance: context.allowance ?? 'exact', latestDeadline: 0 } as const;
  await mustBeOwnText(context, leg, { ...found, typedData, call }, limits);
  return { typedData, call };
}

/**
 * Hands it out again: the same one, however often this side begins anew. Nobody may have it yet, so
 * all is asked as before a new funding.
 */
export async function tendAuthorization(
  context: Context,
  record: SwapRecord,
  kept: Authorization,
): Promise<SwapRecord> {
  if (!isDue(context, kept)) return record;
  await mustAgree(context, record);
  return owing(context, record, { isSent: false }, async () => {
    const still = await sendGate(context, record);
    await still();
    return handOut(context, record, kept);
  });
}

async function handOut(
  context: Context,
  record: SwapRecord,
  kept: Authorization,
): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  context.sentAtMs.set(keyOf(kept), performance.now());
  const isTaken = await relayed(context, leg, kept);
  const isStuck = overdue(context, leg, { txid: keyOf(kept), keptAtMs: kept.keptAtMs });
  if (isTaken && !isStuck) return record;
  if (await lacksGas(context, leg)) {
    const until = timeOf(kept.validBefore);
    const text = `the funding of leg ${gives} is signed: whoever has it may send it before ${until}`;
    context.tell('waiting', gives, text);
    return record;
  }
  return owing(context, record, { isSent: true }, () => sendIt(context, record, kept));
}

const keyOf = ({ escrow }: Authorization) => `signed funding of ${escrow}`;

function isDue({ sentAtMs, marketPollMs }: Context, kept: Authorization): boolean {
  const last = sentAtMs.get(keyOf(kept));
  return last === undefined || performance.now() - last >= marketPollMs * pausesBetween;
}

/** Whether the market says that it sends it. */
async function relayed(
  context: Context,
  leg: SetLeg,
  { signature, escrow }: Authorization,
): Promise<boolean> {
  const { client, swapId } = context;
  if (client === null) return false;
  try {
    const { txid } = await asked(context, (how) =>
      client.relayFunding(swapId, leg.leg, { signature, escrow }, how),
    );
    context.tell('funded', leg.leg, `the market sends the funding of leg ${leg.leg}`, txid);
    return true;
  } catch (error) {
    context.signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    context.tell('market_refused', leg.leg, why);
    return false;
  }
}

/** With the own gas. Should others send it too, the contract takes it once. */
async function sendIt(
  context: Context,
  record: SwapRecord,
  { call, escrow }: Authorization,
): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  const { deployment } = signingOf(context, leg);
  const { chainId } = deployment;
  const built = { chain: leg.chain, family: 'evm', sign: 'evm-tx', chainId, txs: [call], escrow };
  const [sign] = handOf(context, leg).signFunding(built as EvmMaterial);
  if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
  const { funding } = record;
  const next = await signAndKeep(context, leg, {
    sign: async () => (funding === null ? sign() : inPlaceOf(funding, await sign())),
    next: (signed) => ({ ...record, funding: keptNow(signed) }),
    gate: () => sendGate(context, record),
    turn: { isUrgent: false },
  });
  await send(context, leg, next.funding);
  context.tell('funded', gives, `sent the signed funding of leg ${gives}`, next.funding.txid);
  return next;
}

/**
 * A signed funding that never came: forgotten once no block can take it any more, by what is deep.
 * That is asked first: what is not funded by a later look never will be.
 */
export async function endAuthorization(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const { authorization: kept } = record;
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  if (!kept) return record;
  const { adapter } = sourceOf(context, leg.chain);
  await mustAgree(context, record, [gives]);
  const mayOpen = adapter.ways?.mayOpen(watchedOf(record, gives), context.limit());
  if (mayOpen === undefined || (await mayOpen)) {
    const until = timeOf(kept.validBefore);
    const text = `the signed funding of leg ${gives} may land until its chain is past ${until} at depth`;
    context.tell('waiting', gives, text);
    return record;
  }
  const { leg: shown } = await lookAt(context, record, gives);
  if (legStatus(shown.facts) !== 'unfunded') return record;
  const next = { ...record, authorization: null };
  await context.store.putSwap(next);
  context.tell('cancelled', gives, 'the signed funding can never be mined: nothing has moved');
  return next;
}
