// A claim or refund as text, to be sent by any node or wallet: for a person without a node that a
// page can reach. This module sends and keeps nothing.

import { claimCall, refundCall } from '@parley/chains/evm/plan.ts';
import type { EvmCall } from '@parley/chains/interface/material.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { RescueError } from '../errors.ts';
import { readLeg, stopWatching } from '../settle/chains.ts';
import {
  type Context,
  contextOf,
  ownLeg,
  payingLeg,
  type SettleInput,
  sourceOf,
} from '../settle/context.ts';
import type { SetLeg } from '../settle/record.ts';
import { builtSpend } from '../settle/sign.ts';

type Spend = { readonly notBefore: UnixSeconds | null };

/** `notBefore`: by the chain's own clock; a claim has none. */
export type RawSpend = Spend &
  /** Bitcoin: the sender needs no more than this. */
  (
    | { readonly is: 'signed'; readonly txid: string; readonly raw: string }
    /** EVM: the sender pays the gas, and only the agreed address is paid. */
    | { readonly is: 'call'; readonly chainId: number; readonly call: EvmCall }
  );

export type RawInput = Pick<SettleInput, 'swapId' | 'chains' | 'store' | 'now' | 'signal'>;

/**
 * A refund of the own leg, a claim of the other one. A text may be sent at any time: a claim's
 * secret has to be public already. Throws RescueError `not_as_text`, and what a build throws.
 */
export async function rawSpend(input: RawInput, verb: 'claim' | 'refund'): Promise<RawSpend> {
  const context = contextOf({ ...input, client: null });
  await context.store.getSwap(input.swapId);
  try {
    return verb === 'refund'
      ? await textOf(context, ownLeg(context), null)
      : await textOf(context, payingLeg(context), await publicSecret(context));
  } finally {
    stopWatching(context);
  }
}

async function publicSecret(context: Context): Promise<string> {
  const kept = context.record.publicSecret;
  if (kept !== null) return kept;
  const legs = await Promise.all([readLeg(context, 'a'), readLeg(context, 'b')]);
  const shown = legs.map(({ leg }) => leg.facts.secret).find((each) => each !== null);
  if (shown != null) return shown;
  const sentence = 'the secret is not public: a claim as text could show it at a wrong time';
  throw new RescueError('not_as_text', sentence);
}

async function textOf(context: Context, leg: SetLeg, secret: string | null): Promise<RawSpend> {
  const { view } = sourceOf(context, leg.chain);
  const notBefore = secret === null ? leg.timelock : null;
  const asked =
    secret === null ? ({ verb: 'refund' } as const) : ({ verb: 'claim', secret } as const);
  const { terms } = leg.escrow;
  switch (view.family) {
    case 'bitcoin': {
      const { sign } = await builtSpend(context, leg, asked);
      const { txid, raw } = await sign();
      return { is: 'signed', txid, raw, notBefore };
    }
    case 'evm': {
      const { deployment, chainId } = view;
      const call =
        secret === null ? refundCall(terms, deployment) : claimCall(terms, deployment, secret);
      return { is: 'call', chainId, call, notBefore };
    }
    case 'tron':
    case 'solana': {
      const sentence =
        `a transaction of ${leg.chain} is dead within minutes, and of no use as text: ` +
        'send it from here with a wallet';
      throw new RescueError('not_as_text', sentence);
    }
  }
}
