// The transaction of a PSBT that anybody may have made up: what costs little is looked at first,
// and signatures, which are dear, are verified in turns with all other work.

import { ParleyError } from '../../core/errors.ts';
import { atOnce } from '../../core/steps.ts';
import type { SignedPsbt } from '../interface/material.ts';
import type { Care } from '../interface/turns.ts';
import type { BitcoinNetwork } from './networks.ts';
import { type Assembled, escrowOf, readPsbt, signing } from './signed-psbt.ts';

/** Without care: at a stretch. Throws `bad_transaction`. */
export async function assembledWith(
  care: Care | undefined,
  network: BitcoinNetwork,
  signed: SignedPsbt,
  signal: AbortSignal,
): Promise<Assembled> {
  const psbt = readPsbt(signed.psbtBase64);
  if (care === undefined) return atOnce(signing(psbt, signed));
  const escrow = escrowOf(psbt, network);
  if (!(await care.isOurs(escrow))) {
    const sentence = `the PSBT spends ${escrow}, which is the escrow of no swap here: send such a`;
    throw new ParleyError('bad_transaction', `${sentence} transaction as raw hex`, { escrow });
  }
  return care.inTurns(signing(psbt, signed), signal);
}
