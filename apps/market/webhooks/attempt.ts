// One attempt to deliver: signed for this moment, sent, and what came of it.

import type { Ended } from '../db/deliveries.ts';
import type { Deps } from '../ports/deps.ts';
import { keyringOf } from '../ports/keyring.ts';
import type { Visit } from './hosts.ts';
import { reachable } from './public-address.ts';
import { type Sending, type Sent, sendDelivery } from './send.ts';
import { signatureOf } from './sign.ts';

export type Send = (sending: Sending) => Promise<Sent>;

/** Sends to where deliveries may go, and nowhere else. */
export function senderOf({ webhookNetworks }: Deps['settings']): Send {
  const mayReach = reachable(webhookNetworks);
  return (sending) => sendDelivery(sending, mayReach);
}

export type Target = {
  readonly url: string;
  readonly secret: Uint8Array;
  readonly secretVersion: number;
};

export type Message = { readonly id: string; readonly event: string; readonly body: string };

export async function attempt(
  deps: Pick<Deps, 'settings' | 'now'>,
  target: Target,
  message: Message,
  send: Send,
  visit: Visit,
): Promise<Ended> {
  const startedAt = new Date(deps.now());
  const { hostname } = new URL(target.url);
  const admit = (address: string) => visit.admit(hostname, address);
  const sendThere: Send = (sending) => send({ ...sending, admit });
  const {
    status,
    error,
    answer = null,
  } = await trySending(deps.settings, startedAt, target, message, sendThere);
  const endedAt = new Date(deps.now());
  const delivered = status >= 200 && status < 300;
  if (delivered) await visit.answered();
  return { startedAt, endedAt, status, error, answer, delivered };
}

async function trySending(
  settings: Deps['settings'],
  at: Date,
  target: Target,
  { id, event, body }: Message,
  send: Send,
): Promise<Sent> {
  const { shortName, productName } = settings;
  const secret = keyringOf(settings).decrypt(target.secretVersion, target.secret)?.toString();
  if (secret === undefined) {
    return { status: 0, error: 'its secret cannot be read: register it anew' };
  }
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  return send({
    url: target.url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `${tokenOf(productName)}-Webhooks/1`,
      [`x-${shortName}-event`]: event,
      [`x-${shortName}-delivery`]: id,
      [`x-${shortName}-timestamp`]: timestamp,
      [`x-${shortName}-signature`]: signatureOf(secret, timestamp, body),
    },
  });
}

/** One token of RFC 9110: a hyphen between words, what no token may hold as in a URL. */
const tokenOf = (name: string) =>
  name
    .toWellFormed()
    .trim()
    .replace(/\s+/gu, '-')
    .replace(/[^\w!#$%&'*+.^`|~-]+/gu, (letters) =>
      Buffer.from(letters)
        .toString('hex')
        .replace(/../g, (byte) => `%${byte.toUpperCase()}`),
    );

/** The bytes that are signed and sent, behind type and id: db/deliveries.ts. */
export function restOf(at: Date, payload: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ createdAt: at.toISOString(), ...payload }).slice(1);
}
