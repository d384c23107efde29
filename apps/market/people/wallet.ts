// Sign-in by a wallet of any family: it signs a text that names this site, what signing does, and a
// nonce that is good once, in the browser that asked for it. Other texts that a wallet signs in the
// browser are asked for and checked in the same way, under another statement.

import { ParleyError } from '@parley/core/errors.ts';
import type { Family } from '@parley/core/families.ts';
import { base58 } from '@scure/base';
import { type Ceremony, giveBackCeremony, type Purpose } from '../db/ceremonies.ts';
import type { Tx } from '../db/database.ts';
import { canonicalAddress, checkSignature, type ProofDeps } from '../market/proofs.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { type Begun, begin, take } from './ceremonies.ts';
import type { Browser } from './sessions.ts';
import {
  isPlain,
  mustBeWritten,
  nonceIn,
  type SignInText,
  writeSignInText,
} from './sign-in-text.ts';
import type { Site } from './site.ts';
import { chainLineOf } from './wallet-chains.ts';

/** A text of one way is none of the other: each has nonces of its own. */
type TextWay = 'wallet' | 'payout';

type TextRequest = Begun & {
  readonly way: TextWay;
  readonly site: Site;
  readonly family: Family;
  /** In any spelling of its family. */
  readonly address: string;
  /** The effect of signing: one sentence of the characters of `isPlain`. */
  readonly statement: string;
  /** The chain of an EVM wallet: the one that it is on; null = the first that is served. */
  readonly chainId: number | null;
};

export type TextToSign = {
  readonly address: string;
  readonly message: string;
  readonly expiresAt: Date;
};

// 128 random bits, at most 22 letters and digits of base58: a Ledger has no room for hex.
const nonceBytes = 16;

/** Throws `bad_address`, `wrong_network`, `bad_field`. */
export async function beginText(tx: Tx, deps: Making, request: TextRequest): Promise<TextToSign> {
  const { way, site, family, statement, chainId } = request;
  if (!isPlain(statement)) throw new Error(`no wallet shows this statement: ${statement}`);
  const { settings } = deps;
  const address = canonicalAddress(family, request.address, settings.network);
  const facts = { family, address, statement, chain: chainLineOf(settings, family, chainId) };
  const subject = base58.encode(deps.randomBytes(nonceBytes));
  const times = await begin(tx, deps, request, { way, subject, facts });
  const message = writeSignInText(textOf({ subject, facts, ...times }, site));
  return { address, message, expiresAt: times.expiresAt };
}

/** As it is written when the ceremony is begun, and again for the site that is asked then. */
function textOf(
  {
    facts,
    subject,
    madeAt,
    expiresAt,
  }: Pick<Ceremony, 'facts' | 'subject' | 'madeAt' | 'expiresAt'>,
  { host, origin }: Site,
): SignInText {
  const own = facts as Pick<SignInText, 'family' | 'address' | 'statement' | 'chain'>;
  return { ...own, domain: host, uri: origin, nonce: subject, issuedAt: madeAt, expiresAt };
}

type TextSigned = {
  readonly way: TextWay;
  readonly site: Site;
  readonly browser: Browser;
  readonly family: Family;
  readonly address: string;
  readonly message: string;
  readonly signature: string;
};

type SignatureFound = {
  /** The ceremony of the text: its purpose and its session are still to be looked at. */
  readonly ceremony: Ceremony;
  readonly statement: string;
  readonly address: string;
  /** Bitcoin: the key, where the signature showed it. */
  readonly pubkey: string | null;
};

/** Uses the text up, unless no node answered. Throws `bad_message`, `bad_signature`. */
export async function checkText(
  deps: ProofDeps & Pick<Deps, 'db' | 'now'>,
  signed: TextSigned,
  signal: AbortSignal,
): Promise<SignatureFound> {
  const { way, site, browser, family, message, signature } = signed;
  const address = canonicalAddress(family, signed.address, deps.settings.network);
  // The nonce goes first: it has been presented, even if the text is wrong otherwise.
  const ceremony = await take(deps.db, deps, browser, { way, subject: nonceIn(message) });
  const wanted = textOf(ceremony, site);
  mustBeWritten(message, wanted);
  if (family !== wanted.family || address !== wanted.address) {
    const sentence = `the text is of the wallet ${wanted.address}, and the request names ${address}`;
    throw new ParleyError('bad_message', sentence);
  }
  try {
    const proof = { family, address, message, signature };
    const { pubkey } = await checkSignature(deps, proof, signal);
    return { ceremony, statement: wanted.statement, address, pubkey };
  } catch (error) {
    const untold = error instanceof ParleyError && ['timeout', 'unavailable'].includes(error.kind);
    if (untold) await giveBackCeremony(deps.db, ceremony.id);
    throw error;
  }
}

/** The statement that a wallet displays above its address and nonce when it signs in. */
export function signInStatement(purpose: Purpose, product: string): string {
  return {
    'sign-in': `Sign in to ${product}.`,
    add: `Add this wallet as a login of your ${product} account.`,
    renew: `Sign in to your ${product} account again.`,
  }[purpose];
}

/** Wallets show only the ASCII of a name in such a text: the site's own name then. */
export function productIn({ productName }: { productName: string }, { host }: Site): string {
  const longest = 80;
  return productName.length <= longest && isPlain(productName) ? productName : host;
}
