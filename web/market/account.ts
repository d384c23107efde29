// The market's interface of accounts, `/account/*`: for its own pages alone. Refusals are
// ParleyApiError. Described by GET /account/openapi.json.

import type { Family } from '../../core/families.ts';
import type { Scope } from '../../core/scopes.ts';
import { ParleyApiError } from '../../sdk/errors.ts';
import { call, type Request } from '../../sdk/http.ts';
import { ownSite } from './own-site.ts';
import { mustBeFor } from './own-text.ts';

export type Way = 'email' | 'provider' | 'passkey' | 'wallet';
export type Purpose = 'sign-in' | 'add' | 'renew';
/** All times are RFC 3339 UTC. */
export type Session = {
  readonly id: string;
  readonly current: boolean;
  readonly signedInBy: Way;
  readonly signedInAt: string;
  readonly madeAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  readonly device: string;
  readonly place: string;
};
export type Login = {
  /** A UUID; a wallet has its family and address: `evm:0x…`. */
  readonly id: string;
  readonly way: Way;
  readonly label: string;
  readonly issuer: string | null;
  readonly addedAt: string;
  readonly lastUsedAt: string | null;
  readonly backupEligible: boolean | null;
  readonly backedUp: boolean | null;
  readonly messages: 'on' | 'ended' | null;
  readonly waitsUntil: string | null;
  readonly leavesAt: string | null;
};
export type Account = {
  readonly accountId: string;
  readonly kind: 'wallet' | 'browser';
  readonly createdAt: string;
  /** When it is deleted; null = it stays. */
  readonly leavesAt: string | null;
  readonly session: Session;
  readonly freshUntil: string;
  readonly walletSession: boolean;
  /** Never empty. */
  readonly logins: readonly Login[];
  readonly recovery: string | null;
};
export type Ways = {
  readonly email: boolean;
  readonly mailIsDown: boolean;
  readonly providers: readonly {
    readonly id: string;
    readonly label: string;
    readonly messages: boolean;
  }[];
  readonly passkeys: boolean;
  readonly wallets: readonly Family[];
};
export type SignedIn = {
  readonly accountId: string;
  readonly isNew: boolean;
  readonly outcome: 'made' | 'signed_in' | 'added' | 'renewed';
};
export type WalletName = { readonly family: Family; readonly address: string };
type TextToSign = {
  readonly address: string;
  readonly message: string;
  readonly expiresAt: string;
};
export type SignedText = { readonly message: string; readonly signature: string };
export type ShownKey = {
  readonly id: string;
  readonly prefix: string;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly expiresAt: string;
  /** A day, UTC. */
  readonly usedOn: string | null;
  readonly usedFrom: string | null;
};
type MintedKey = Omit<ShownKey, 'createdAt' | 'usedOn' | 'usedFrom'> & {
  readonly key: string;
  readonly replaced: boolean;
};
export type Payout = {
  readonly family: Family;
  readonly paid: string | null;
  readonly receives: readonly string[];
  readonly waiting: readonly {
    readonly address: string;
    readonly fromAt: string;
    readonly paid: boolean;
  }[];
  readonly leaving: readonly { readonly address: string; readonly at: string }[];
};
export type PayoutBegun = TextToSign & {
  readonly voucher: (WalletName & { readonly message: string }) | null;
  readonly waitSeconds: number;
};
type PayoutChosen = WalletName & { readonly paid: boolean; readonly fromAt: string };
export type Delivery = {
  readonly id: string;
  readonly event: string;
  readonly state: 'waiting' | 'delivered' | 'dropped';
  /** As it is sent, byte for byte. */
  readonly body: string;
  readonly createdAt: string;
  readonly nextAt: string | null;
  /** The newest first. */
  readonly attempts: readonly {
    readonly at: string;
    readonly milliseconds: number;
    /** HTTP status; 0 = no answer. */
    readonly status: number;
    readonly error: string | null;
    /** How the body of the answer begins. */
    readonly answer: string | null;
  }[];
};
type DeliveryPage = {
  readonly deliveries: readonly Delivery[];
  readonly nextCursor: string | null;
};
type Done = { readonly ok: true };

/** Whether the market refused with one of these codes (docs/errors.md). */
export function isRefused(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof ParleyApiError && codes.includes(error.code);
}

const ask = <T>(path: string, signal?: AbortSignal, query: Request['query'] = {}) =>
  call<T>(ownSite, {
    method: 'GET',
    path: `/account/${path}`,
    query,
    ...(signal === undefined ? {} : { signal }),
  });
/** Tried once: a code, a text and a passkey's answer are good once. */
const act = <T>(method: Request['method'], path: string, body?: unknown) =>
  call<T>(ownSite, {
    method,
    path: `/account/${path}`,
    once: true,
    ...(body === undefined ? {} : { body }),
  });
const post = <T>(path: string, body?: unknown) => act<T>('POST', path, body);
const remove = <T>(path: string) => act<T>('DELETE', path);
const segment = encodeURIComponent;
/** A wallet is asked to sign a text only after it is known to be for this site. */
async function forHere<T extends Pick<TextToSign, 'message'>>(asking: Promise<T>): Promise<T> {
  const asked = await asking;
  mustBeFor(window.location.host, asked.message);
  return asked;
}

export const account = {
  me: (signal?: AbortSignal) => ask<Account>('me', signal),
  ways: (signal?: AbortSignal) => ask<Ways>('ways', signal),
  sessions: (signal?: AbortSignal) => ask<{ sessions: Session[] }>('sessions', signal),
  keys: (signal?: AbortSignal) => ask<{ keys: ShownKey[] }>('keys', signal),
  payouts: (signal?: AbortSignal) => ask<{ payouts: Payout[] }>('payout', signal),

  deliveries: (
    webhookId: string,
    query: { limit?: number; cursor?: string },
    signal?: AbortSignal,
  ) => ask<DeliveryPage>(`webhooks/${segment(webhookId)}/deliveries`, signal, query),
  sendAgain: (webhookId: string, deliveryId: string) =>
    post<Done>(`webhooks/${segment(webhookId)}/deliveries/${segment(deliveryId)}/again`),

  askForCode: (address: string, purpose: Purpose) =>
    post<{ address: string; expiresAt: string }>('email', { address, purpose }),
  giveCode: (address: string, code: string) => post<SignedIn>('email/code', { address, code }),
  beginAtProvider: (provider: string, purpose: Purpose) =>
    post<{ url: string }>('provider', { provider, purpose }),
  askForText: (wallet: WalletName & { chainId?: number }, purpose: Purpose) =>
    forHere(post<TextToSign>('wallet', { ...wallet, purpose })),
  giveSignature: (wallet: WalletName, signed: SignedText) =>
    post<SignedIn>('wallet/proof', { ...wallet, ...signed }),
  /** `response`, here and below: `PublicKeyCredential.toJSON()`. */
  askPasskey: (purpose: 'sign-in' | 'renew') =>
    post<PublicKeyCredentialRequestOptionsJSON>('passkey', { purpose }),
  givePasskey: (response: unknown) => post<SignedIn>('passkey/proof', { response }),
  beginPasskey: () => post<PublicKeyCredentialCreationOptionsJSON>('passkey/add'),
  addPasskey: (name: string, response: unknown) =>
    post<SignedIn>('passkey/add/proof', { name, response }),

  signOut: () => post<Done>('sign-out'),
  endSession: (id: string) => remove<Done>(`sessions/${segment(id)}`),
  endOtherSessions: () => remove<Done>('sessions'),
  removeLogin: (id: string) => remove<Done & { leavesAt: string | null }>(`logins/${segment(id)}`),
  keepLogin: (id: string) => post<Done>(`logins/${segment(id)}/stay`),
  deleteAccount: () => remove<Done & { leavesAt: string }>('me'),
  keepAccount: () => post<Done>('me/stay'),

  makeKey: (wanted: { name: string; scopes: readonly Scope[]; lifeDays: number }) =>
    post<MintedKey>('keys', wanted),
  revokeKey: (id: string) => remove<Done>(`keys/${segment(id)}`),
  feedTicket: () => post<{ ticket: string; expiresAt: string }>('feed-ticket'),

  beginPayout: async (wallet: WalletName, paid: boolean) => {
    const begun = await forHere(post<PayoutBegun>('payout', { ...wallet, paid }));
    if (begun.voucher !== null) mustBeFor(window.location.host, begun.voucher.message);
    return begun;
  },
  provePayout: (wallet: WalletName, paid: boolean, signed: SignedText, voucher?: SignedText) =>
    post<PayoutChosen>('payout/proof', {
      ...wallet,
      paid,
      ...signed,
      ...(voucher === undefined ? {} : { voucher }),
    }),
  stopPayout: (wallet: WalletName) => post<Done>('payout/stop', wallet),
  stopAllPayouts: () => post<Done>('payout/stop-all'),
};
