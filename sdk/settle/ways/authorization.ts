// A token funded by a signature alone (EIP-3009), which anybody may send. It counts as a funding
// from when it is kept.

import { signedCall } from '../../../chains/evm/ways.ts';
import type { AuthorizationAlternative, EvmMaterial } from '../../../chains/interface/material.ts';
import { legStatus } from '../../../core/facts.ts';
import { messageOf, VerificationError } from '../../errors.ts';
import { type Authorization, keptNow } from '../../stores/store.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { readLeg } from '../chains.ts';
import { type Context, ownLeg, sourceOf, walletOf } from '../context.ts';
import { askToFund, keepFunding } from '../funding.ts';
import { handOf } from '../hands/of.ts';
import { asked } from '../market.ts';
import { claimPayerOf, owing } from '../owed.ts';
import { watchedOf } from '../record.ts';
import { overdue, send } from '../send.ts';
import { fundingGate, mustAgree } from '../sign.ts';
import { alternativesOf, lacksGas } from './choose.ts';
import { mustBeOwnText, signingOf, signText } from './typed.ts';

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

/** Nobody may have it yet: all is asked as before a new funding. */
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
    const until = `whoever has it may send it before ${timeOf(kept.validBefore)}`;
    return context.waits(leg, `the funding of leg ${leg.leg} is signed: ${until}`);
  }
  await owing(context, { isSent: true }, () => sendIt(context, kept));
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
  const { chainId } = signingOf(context, leg).deployment;
  const built = { chain: leg.chain, family: 'evm', sign: 'evm-tx', chainId, txs: [call], escrow };
  const [sign] = handOf(context, leg).signFunding(built as EvmMaterial);
  if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
  const funding = await keepFunding(context, sign);
  await send(context, leg, funding);
  context.emit('funded', leg.leg, `sent the signed funding of leg ${leg.leg}`, funding.txid);
}

/** Forgotten once no block can take it, by what is final: that is asked before the leg. */
export async function endAuthorization(context: Context): Promise<void> {
  const { authorization: kept } = context.record;
  if (!kept) return;
  const leg = ownLeg(context);
  const { leg: gives } = leg;
  const { adapter } = sourceOf(context, leg.chain);
  await mustAgree(context, [gives]);
  const mayOpen = adapter.ways?.mayOpen(watchedOf(context.record, gives), context.limit());
  if (mayOpen === undefined || (await mayOpen)) {
    const until = `until its chain is past ${timeOf(kept.validBefore)} at depth`;
    return context.waits(leg, `the signed funding of leg ${gives} may land ${until}`);
  }
  const { leg: shown } = await readLeg(context, gives);
  if (legStatus(shown.facts) !== 'unfunded') return;
  await context.keep({ authorization: null });
  context.emit('cancelled', gives, 'the signed funding can never be mined: nothing has moved');
}
