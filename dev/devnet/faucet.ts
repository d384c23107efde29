// The checks that the faucets of all dev chains share: how much they give, of which token, and
// their refusals.

import { RefusedRequest } from '@parley/host/failure.ts';
import type { DevToken, Gift } from './dev-chain.ts';

const defaultTokens = 1_000_000n;
const mostTokens = 1_000_000_000n;

export type Range = {
  readonly usual: bigint;
  readonly most: bigint;
  readonly unit: string;
  readonly least?: bigint;
};

/** In base units. Throws RefusedRequest. */
export function amountOf({ amount }: Gift, { usual, most, unit, least = 1n }: Range): bigint {
  const value = amount ?? usual;
  if (value >= least && value <= most) return value;
  const sentence = `The faucet gives ${least} to ${most} ${unit} at a time, not ${value}.`;
  throw new RefusedRequest(400, sentence);
}

/** One of these tokens, and how much of it. Hex in any case. Throws RefusedRequest. */
export function tokenGift(tokens: readonly DevToken[], gift: Gift) {
  const wanted = gift.token ?? '';
  const found = tokens.find(({ address }) => isSameAddress(address, wanted));
  if (found === undefined) throw new RefusedRequest(400, `The faucet has no token ${wanted}.`);
  const one = 10n ** BigInt(found.decimals);
  const unit = `units of ${found.symbol}`;
  const amount = amountOf(gift, { usual: defaultTokens * one, most: mostTokens * one, unit });
  return { token: found.address, amount };
}

/** Hex in any case; in base58 the case is part of the address. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (one.startsWith('0x') && one.toLowerCase() === other.toLowerCase());
}

export function cannotSend(error: unknown): RefusedRequest {
  const why = error instanceof Error ? error.message : String(error);
  return new RefusedRequest(409, `The faucet cannot send now: ${why}`);
}

/** Calls `mint(address,uint256)`, open to everyone in dev tokens. `to`: 20 bytes in hex. */
export function mintCall(to: string, amount: bigint): string {
  return `40c10f19${to.padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
}
