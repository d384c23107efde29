// Where one is paid and refunded, as whoever holds the wallets names it: without keys nothing here
// could derive it.

import { hexToBytes } from '@noble/hashes/utils.js';
import { has } from '@parley/core/families.ts';
import type { ChainSource } from '@parley/sdk/chains.ts';
import type { Thread } from '@parley/sdk/types.ts';
import type { OwnAsset } from '@parley/trader/assets.ts';
import type { Destination } from '@parley/trader/deal.ts';
import { Failure, misused } from '@parley/trader/failures.ts';
import { chainsIn } from '@parley/trader/sides.ts';
import { p2wpkh } from '@scure/btc-signer';
import type { Desk } from '../desk.ts';

export type Addresses = {
  readonly payTo: string;
  readonly refundTo: string;
  /** Bitcoin: of the escrow that is asked for, as its wallet signs. */
  readonly form?: Destination['form'];
};

const keyShape = /^0[23][0-9a-f]{64}$/;

/** On Bitcoin the address is that of the key (P2WPKH). Throws Failure `usage`. */
export function destinationOf(
  { view }: Pick<ChainSource, 'view'>,
  given: string,
  form?: Destination['form'],
): Destination {
  if (!has(view, 'coins')) return { address: given, pubkey: null };
  if (!keyShape.test(given)) {
    throw misused('on Bitcoin an address is named by its compressed public key, 66 hex digits');
  }
  try {
    const { address } = p2wpkh(hexToBytes(given), view.network);
    return { address, pubkey: given, ...(form && { form }) };
  } catch (cause) {
    const sentence = `${given} is no point of the curve: no private key belongs to it`;
    throw new Failure('usage', 'usage', sentence, { cause });
  }
}

export async function destinationsOf(
  { session, userId }: Desk,
  thread: Thread,
  assets: { readonly base: OwnAsset; readonly quote: OwnAsset },
  { payTo, refundTo, form }: Addresses,
): Promise<(chain: string) => Destination> {
  const party = thread.makerId === userId ? ('maker' as const) : ('taker' as const);
  const { direction } = thread.rfq;
  const { gives, gets } = chainsIn({ party, direction, ...assets });
  const own = {
    [gives]: destinationOf(await session.source(gives), refundTo, form),
    [gets]: destinationOf(await session.source(gets), payTo, form),
  };
  return (chain) => own[chain] ?? { address: '', pubkey: null };
}
