// The market's interface of accounts, `/account/*`: for its own pages alone. Refusals are
// ParleyApiError. Described by GET /account/openapi.json.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import { type BodyOf, operationsOf } from '@parley/sdk/operations.ts';
import type {
  AskCode,
  Login,
  MadePasskey,
  MakeKey,
  Operations,
  Payouts,
  ProvePayout,
  SignedIn,
  StopPayout,
  TextToSign,
  UsedPasskey,
} from './generated.ts';
import { mustBeFor } from './own-text.ts';
import { ownSite } from './site.ts';

export type {
  Account,
  Delivery,
  KeyShown as ShownKey,
  Login,
  PayoutBegun,
  Session,
  SignedIn,
  Ways,
} from './generated.ts';
export type Way = Login['way'];
export type Purpose = AskCode['purpose'];
export type Payout = Payouts['payouts'][number];
export type WalletName = StopPayout;
export type SignedText = Pick<ProvePayout, 'message' | 'signature'>;

/** Whether the market refused with one of these codes (docs/errors.md). */
export function isRefused(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof ParleyApiError && codes.includes(error.code);
}

/** A command is tried once: a code, a text and a passkey's answer are good once. */
const { ask } = operationsOf<Operations>(ownSite, (method) => method !== 'GET');
type Body<K extends keyof Operations> = BodyOf<Operations, K>;
/** A wallet is asked to sign a text only after it is known to be for this site. */
async function forHere<T extends Pick<TextToSign, 'message'>>(asking: Promise<T>): Promise<T> {
  const asked = await asking;
  mustBeFor(window.location.host, asked.message);
  return asked;
}

export const account = {
  me: (signal?: AbortSignal) => ask('GET /account/me', { signal }, {}),
  ways: (signal?: AbortSignal) => ask('GET /account/ways', { signal }, {}),
  sessions: (signal?: AbortSignal) => ask('GET /account/sessions', { signal }, {}),
  keys: (signal?: AbortSignal) => ask('GET /account/keys', { signal }, {}),
  payouts: (signal?: AbortSignal) => ask('GET /account/payout', { signal }, {}),

  deliveries: (id: string, query: { limit?: number; cursor?: string }, signal?: AbortSignal) =>
    ask('GET /account/webhooks/{id}/deliveries', { signal }, { path: { id }, query }),
  sendAgain: (id: string, deliveryId: string) =>
    ask(
      'POST /account/webhooks/{id}/deliveries/{deliveryId}/again',
      {},
      { path: { id, deliveryId } },
    ),

  askForCode: (address: string, purpose: Purpose) =>
    ask('POST /account/email', {}, { body: { address, purpose } }),
  giveCode: (address: string, code: string) =>
    ask('POST /account/email/code', {}, { body: { address, code } }),
  beginAtProvider: (provider: string, purpose: Purpose) =>
    ask('POST /account/provider', {}, { body: { provider, purpose } }),
  askForText: (wallet: WalletName & { chainId?: number }, purpose: Purpose) =>
    forHere(ask('POST /account/wallet', {}, { body: { ...wallet, purpose } })),
  giveSignature: (wallet: WalletName, signed: SignedText) =>
    ask('POST /account/wallet/proof', {}, { body: { ...wallet, ...signed } }),
  askPasskey: (purpose: Body<'POST /account/passkey'>['purpose']) =>
    ask('POST /account/passkey', {}, { body: { purpose } }),
  /** `response`, here and below: `PublicKeyCredential.toJSON()`. */
  givePasskey: (response: unknown) =>
    ask('POST /account/passkey/proof', {}, { body: { response } as UsedPasskey }),
  beginPasskey: () => ask('POST /account/passkey/add', {}, {}),
  addPasskey: (name: string, response: unknown) =>
    ask('POST /account/passkey/add/proof', {}, { body: { name, response } as MadePasskey }),

  signOut: () => ask('POST /account/sign-out', {}, {}),
  endSession: (id: string) => ask('DELETE /account/sessions/{id}', {}, { path: { id } }),
  endOtherSessions: () => ask('DELETE /account/sessions', {}, {}),
  removeLogin: (id: string) => ask('DELETE /account/logins/{id}', {}, { path: { id } }),
  keepLogin: (id: string) => ask('POST /account/logins/{id}/stay', {}, { path: { id } }),
  deleteAccount: () => ask('DELETE /account/me', {}, {}),
  keepAccount: () => ask('POST /account/me/stay', {}, {}),

  makeKey: (body: MakeKey) => ask('POST /account/keys', {}, { body }),
  revokeKey: (id: string) => ask('DELETE /account/keys/{id}', {}, { path: { id } }),
  feedTicket: () => ask('POST /account/feed-ticket', {}, {}),

  beginPayout: async (wallet: WalletName, paid: boolean) => {
    const begun = await forHere(ask('POST /account/payout', {}, { body: { ...wallet, paid } }));
    if (begun.voucher !== null) mustBeFor(window.location.host, begun.voucher.message);
    return begun;
  },
  provePayout: (wallet: WalletName, paid: boolean, signed: SignedText, voucher?: SignedText) =>
    ask('POST /account/payout/proof', {}, { body: { ...wallet, paid, ...signed, voucher } }),
  stopPayout: (body: WalletName) => ask('POST /account/payout/stop', {}, { body }),
  stopAllPayouts: () => ask('POST /account/payout/stop-all', {}, {}),
};

/** By a wallet's signature of a text that the market writes for it. */
export async function signInBy(
  { family, address, signMessage }: MessageSigner,
  purpose: Purpose,
): Promise<SignedIn> {
  const wallet = { family, address };
  const { message } = await account.askForText(wallet, purpose);
  const signature = await signMessage(message);
  return account.giveSignature(wallet, { message, signature });
}
