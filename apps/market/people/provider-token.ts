// The facts of an ID token about a person, once openid-client has checked it: issuer, audience,
// expiry, nonce, algorithm and signature are right by then.

import type { IDToken } from 'openid-client';
import { type ProviderSettings, writingScope } from '../settings/people.ts';
import { longestLabel, minuteMs } from './bounds.ts';
import { toleranceSeconds } from './provider-server.ts';
import type { Proven } from './sign-in.ts';

/** How old a sign-in at the provider may be where a new one was asked for. */
export const maxAgeSeconds = minuteMs / 1_000;

/** A token that proves nothing. Names nothing that the provider said. */
export class UnprovenError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UnprovenError';
  }
}

export type Told = {
  readonly claims: IDToken;
  /** As the token endpoint says; undefined = all that was asked for (RFC 6749, 5.1). */
  readonly scope: string | undefined;
};

export type TokenRules = {
  readonly provider: ProviderSettings;
  /** By the clock of the machine, which providers go by too. */
  readonly nowSeconds: number;
  /** When a new sign-in at the provider was asked for; null = any will do. */
  readonly anewSince: number | null;
  /** The provider says that it tells when people signed in. */
  readonly tellsAuthTime: boolean;
};

export function provenBy(
  { claims, scope }: Told,
  rules: TokenRules,
): Proven & { readonly way: 'provider' } {
  const { provider, nowSeconds } = rules;
  const { sub, iat, azp } = claims;
  // At most 255 characters of ASCII (OpenID Connect Core 1.0, 2).
  if (!/^[\x20-\x7e]{1,255}$/.test(sub))
    throw new UnprovenError('"sub" is not 1 to 255 characters');
  if (iat > nowSeconds + toleranceSeconds) throw new UnprovenError('the token is from the future');
  if (azp !== undefined && azp !== provider.clientId) {
    throw new UnprovenError('the token was issued to another client');
  }
  mustBeAnew(claims, rules);
  const granted = scope?.split(' ') ?? provider.scopes;
  return {
    way: 'provider',
    issuer: provider.issuer,
    subject: sub,
    label: labelOf(claims) ?? provider.label,
    chatId: provider.messages && granted.includes(writingScope) ? chatOf(claims) : null,
  };
}

/** A login is added, and a session renewed, by a person who is there, not by an open browser. */
function mustBeAnew(
  { auth_time: signedInAt }: IDToken,
  { anewSince, tellsAuthTime }: TokenRules,
): void {
  if (anewSince === null) return;
  if (signedInAt === undefined) {
    if (!tellsAuthTime) return;
    throw new UnprovenError('the token does not say when the person signed in');
  }
  if (signedInAt >= anewSince - maxAgeSeconds - toleranceSeconds) return;
  throw new UnprovenError('the person did not sign in anew');
}

/** An e-mail address of a provider is shown, and links nothing. */
function labelOf(claims: IDToken): string | null {
  const { email, preferred_username: username, name } = claims;
  const labels = [email, username, name].map((each) =>
    typeof each === 'string' ? shown(each) : '',
  );
  return labels.find((each) => each !== '') ?? null;
}

/** Without what would be invisible, or would turn the text beside it around. */
function shown(text: string): string {
  const visible = text
    .slice(0, 10 * longestLabel)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/gu, '')
    .trim();
  return [...visible].slice(0, longestLabel).join('');
}

/** A private chat has the number of its person, which Telegram gives as the claim `id`. */
function chatOf({ id }: IDToken): string | null {
  const text = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
  return typeof text === 'string' && /^[1-9]\d{0,19}$/.test(text) ? text : null;
}
