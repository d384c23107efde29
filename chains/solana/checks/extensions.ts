// Whether the escrow program takes a mint: none of its Token-2022 extensions may touch a balance,
// stop a transfer or change what people see. The list is the program's own.

import layout from '../../../contracts/solana/layout.json' with { type: 'json' };
import { type Finding, found, passed } from '../../tokens/inspection.ts';
import { type Mint, mostMintBytes } from './mint.ts';

/** What mints of Token-2022 may have and an escrow does not take, by the program's numbers. */
export const unsafeExtensions: Readonly<Record<number, string>> = {
  1: 'transfer fee',
  4: 'confidential transfers',
  6: 'default account state (holdings may begin frozen)',
  9: 'non-transferable',
  10: 'interest-bearing',
  12: 'permanent delegate',
  14: 'transfer hook',
  16: 'confidential transfer fee',
  24: 'confidential minting and burning',
  25: 'scaled amounts',
  26: 'pausable',
  28: 'permissioned burning',
};

/** As many as one sentence names. */
const mostNamed = 5;

/** A mint keeps its extensions for ever. */
export function checkExtensions({ extensions, isCut }: Mint): Finding {
  const unsafe = extensions
    .map(({ type }) => type)
    .filter((type) => !layout.constants.safeMintExtensions.includes(type));
  if (unsafe.length > 0) {
    const names = unsafe.slice(0, mostNamed).map((type) => unsafeExtensions[type] ?? `no. ${type}`);
    const more = unsafe.length > mostNamed ? ` and ${unsafe.length - mostNamed} more` : '';
    const why = `its Token-2022 extensions could take, stop or change what an escrow holds: `;
    return found('extensions', 'reject', `${why}${names.join(', ')}${more}`);
  }
  if (!isCut) return passed('extensions');
  return found('extensions', 'wait', `its account has more than the ${mostMintBytes} bytes read`);
}
