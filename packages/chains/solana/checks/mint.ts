// A mint: whether there is one at an address, what it says of itself, who has powers over it, and
// whether the escrow program takes its Token-2022 extensions. The list of those is the program's.

import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import {
  type Finding,
  found,
  notAToken,
  type Outcome,
  type PowerRules,
  passed,
} from '@parley/tokens/inspection.ts';
import { solanaAddressOf } from '../address.ts';
import type { Account } from '../node.ts';
import { isTokenProgram, systemProgram, type TokenProgram, tokenProgram } from '../programs.ts';
import { type Extension, extensionsOf } from '../tokens.ts';

/** Two of the longest extensions; a mint has fewer bytes than this by far, whoever made it. */
export const mostMintBytes = 131_072;
/** A token of more decimals than this has no whole unit within the 64 bits of its supply. */
export const mostDecimals = 19;

const plainBytes = 82;
/** A group of signers has this length in both programs, and no mint has. */
const multisigBytes = 355;
const typeAt = 165;
const isMint = 1;

export type Mint = {
  readonly address: string;
  readonly program: TokenProgram;
  readonly supply: bigint;
  readonly decimals: number;
  readonly mintAuthority: string | null;
  readonly freezeAuthority: string | null;
  readonly extensions: readonly Extension[];
  /** Whether it has more bytes than were read: extensions may be missing here. */
  readonly isCut: boolean;
};

/** Takes an account read up to one byte more than `mostMintBytes`. Throws `not_a_token`. */
export function readMintAt(chain: string, address: string, account: Account | null): Mint {
  const no = (why: string) => notAToken(chain, address, why);
  if (account === null) throw no('there is no account');
  const { owner, data, executable } = account;
  if (executable) throw no('it is a program');
  if (owner === systemProgram) throw no('it is a wallet');
  if (!isTokenProgram(owner)) throw no(`it belongs to ${owner}, not to a token program`);
  const isExtended =
    owner !== tokenProgram && data.length > typeAt && data.length !== multisigBytes;
  if (data.length !== plainBytes && !(isExtended && data[typeAt] === isMint)) {
    throw no(`it is a token program's account of ${data.length} bytes, and no mint`);
  }
  if (data[45] !== 1) throw no('it is a mint that was never set up');
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const optional = (at: number) =>
    view.getUint32(at, true) === 0 ? null : solanaAddressOf(data.subarray(at + 4, at + 36));
  return {
    address,
    program: owner,
    supply: view.getBigUint64(36, true),
    decimals: data[44] ?? 0,
    mintAuthority: optional(0),
    freezeAuthority: optional(46),
    extensions: extensionsOf(data),
    isCut: data.length > mostMintBytes,
  };
}

export function checkMint({ supply, decimals }: Mint): Finding {
  if (decimals > mostDecimals) {
    const why = `it has ${decimals} decimals: at most ${mostDecimals} leave its supply a whole unit`;
    return found('mint', 'reject', why);
  }
  return supply === 0n ? found('mint', 'wait', 'its supply is 0') : passed('mint');
}

export function checkAuthorities(mint: Mint, rules: PowerRules): Finding[] {
  const { mintAuthority, freezeAuthority } = mint;
  return [
    power('mintable', rules.mintable, mintAuthority, 'can make more of it'),
    power('blacklist', rules.blacklist, freezeAuthority, 'can freeze any holding, an escrow’s too'),
  ];
}

function power(check: string, rule: Outcome, who: string | null, what: string): Finding {
  return who === null || rule === 'pass' ? passed(check) : found(check, rule, `${who} ${what}`);
}

/** The extensions of Token-2022 mints that an escrow does not take, by the program's numbers. */
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
