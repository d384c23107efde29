// In the place of the driver's hands of each family: a wallet signs a simulated transaction, sent
// again while it waits. Tests of the families try their hands' nonces, fees and coins.

import type { Material } from '@parley/chains/interface/material.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Context } from '@parley/sdk/settle/context.ts';
import {
  buildAnew,
  forgetFunding,
  type Hand,
  isInVain,
  keepCancel,
  notYetDeep,
  type Spending,
  unshared,
} from '@parley/sdk/settle/hands/hand.ts';
import type { SetLeg } from '@parley/sdk/settle/record.ts';
import { due, lookedAfter, sendAlone, sendToAll, sendWaiting } from '@parley/sdk/settle/send.ts';
import type { Kept } from '@parley/sdk/stores/store.ts';
import {
  minedAbout,
  rawOf,
  releaseWord,
  type SimChain,
  type SimTransaction,
  tipOf,
  transactionOf,
  txidOf,
} from '../chain.ts';
import { insideOf } from '../material.ts';
import { unsignedFunding } from '../node.ts';
import { checkReleased } from './oracle.ts';
import { nowSeconds } from './time.ts';
import type { Person, World } from './world.ts';

/** A wallet of the one swap of this seed; it says whose. */
export type SimWallet = { readonly world: World; readonly person: Person };

/** How long signed bytes live, where they do not live for ever. */
const lifeSeconds = { tron: 600, solana: 120 } as const;

type State = 'waiting' | 'mined' | 'failed' | 'dead';

export function stateOf(chain: SimChain, raw: string, depth: number): State {
  const tx = transactionOf(raw);
  const txid = txidOf(raw);
  if (tx === null) return 'dead';
  const found = [...chain.about.values()].flat().find((each) => each.txid === txid);
  const { height } = tipOf(chain);
  const isDeep = (at: number) => height - at + 1 >= depth;
  if (found !== undefined) return found.ok || !isDeep(found.height) ? 'mined' : 'failed';
  const deepAt = chain.blocks[Math.max(0, height - depth)]?.time ?? 0;
  const diesAt = tx.gas?.diesAt ?? null;
  if (diesAt !== null && deepAt >= diesAt) return 'dead';
  const other = [...chain.about.values()]
    .flat()
    .find((each) => each.tx.coins.some((coin) => tx.coins.includes(coin)));
  return other !== undefined && isDeep(other.height) ? 'dead' : 'waiting';
}

const keptOf = (tx: SimTransaction): Kept => {
  const raw = rawOf(tx);
  return { raw, txid: txidOf(raw) };
};

export function handOf(context: Context, leg: SetLeg): Hand {
  const wallet = context.chains[leg.chain]?.wallet as unknown as SimWallet;
  const { world, person } = wallet;
  const chain = world.chains[leg.leg];
  const depth = leg.requiredConfirmations;
  const about = ({ raw }: Kept) => stateOf(chain, raw, depth);
  const tendSpend = (verb: Spending['verb']) => tendSpendOf(context, leg, verb, about);
  const isBitcoin = leg.family === 'bitcoin';
  const signRelease = async () => {
    checkReleased(world, person);
    return releaseWord(leg.escrow.terms.payout.address, leg.escrow.address);
  };
  return {
    ...unshared,
    paysByHand: isBitcoin && person.byHand,
    approvesTokens: false,
    alone: (work) => work(),
    signFunding: (built) => [async () => fundingIn(world, leg.leg, leg.escrow.address, built)],
    ...(leg.family === 'evm' || leg.family === 'tron' ? { signRelease } : {}),
    signSpend: async (built) => ({
      sign: async () => spendIn(built),
      gas: null,
    }),
    tendFunding: async () => {
      const { funding } = context.record;
      if (funding === null || !due(context, leg, funding)) return 'tended';
      const state = about(funding);
      lookedAfter(context, funding);
      if (state === 'waiting') await sendWaiting(context, leg, funding, sendAlone);
      return !isBitcoin && (state === 'dead' || state === 'failed') ? 'dead' : 'tended';
    },
    tendApproval: async () => {},
    recallApproval: async () => {},
    tendSpend,
    sendSpend: async (verb) => {
      const kept = context.record[verb];
      if (kept !== null) await sendWaiting(context, leg, kept, sendToAll);
    },
    untilMined: async () => {},
    isStuck: () => false,
    raiseFunding: async () => {},
    cancelFunding: () => cancel(context, leg, chain, about),
  };
}

/** A funding of the escrow at this address, signed. */
export function fundingIn(world: World, leg: LegName, address: string, built: Material): Kept {
  const chain = world.chains[leg];
  const terms = chain.plans.get(address) as EscrowTerms;
  const tx = insideOf(built) ?? unsignedFunding(chain, address, terms, world.chance.hex(6));
  const { family } = chain;
  if (family !== 'tron' && family !== 'solana') return keptOf(tx);
  const diesAt = nowSeconds() + lifeSeconds[family];
  return keptOf({ ...tx, gas: { nonce: null, diesAt } });
}

export const spendIn = (built: Material): Kept => keptOf(insideOf(built) as SimTransaction);

/** The transaction that takes the place of a late funding; null: it dies by itself. */
export function cancelOf(funding: string): Kept | null {
  const tx = transactionOf(funding);
  if (tx === null || tx.gas?.diesAt) return null;
  const other = { verb: 'move', escrow: '', amount: '0', fee: tx.fee + 5 } as const;
  return keptOf({ ...tx, ...other });
}

async function tendSpendOf(
  context: Context,
  leg: SetLeg,
  verb: Spending['verb'],
  about: (kept: Kept) => State,
): Promise<void> {
  const kept = context.record[verb];
  if (kept === null) return;
  const state = about(kept);
  lookedAfter(context, kept);
  const isElsewhere = leg.family !== 'evm' && isInVain(context, leg, kept);
  if (state === 'waiting' && isElsewhere) return buildAnew(context, leg, verb, kept);
  if (state === 'waiting') return sendWaiting(context, leg, kept, sendToAll);
  if (state !== 'mined') await context.keep({ [verb]: null });
}

/**
 * The hands wait for a transaction that expires, and spend the coin, or the nonce, of the rest
 * otherwise.
 */
async function cancel(
  context: Context,
  leg: SetLeg,
  chain: SimChain,
  about: (kept: Kept) => State,
): Promise<void> {
  const { funding, cancel: kept } = context.record;
  if (funding === null || !due(context, leg, kept ?? funding)) return;
  lookedAfter(context, kept ?? funding);
  const state = about(funding);
  if (state === 'dead' || state === 'failed') return forgetFunding(context, leg);
  if (state === 'mined') return context.waits(leg, 'the funding was mined after all');
  const signed = cancelOf(funding.raw);
  if (signed === null) return;
  if (kept) {
    if (minedAbout(chain, '').some(({ txid }) => txid === kept.txid)) {
      return notYetDeep(context, leg);
    }
    return sendWaiting(context, leg, kept, sendAlone);
  }
  await keepCancel(context, leg, signed);
  await sendWaiting(context, leg, signed, sendAlone);
}
