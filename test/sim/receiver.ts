// Where the webhooks of all parties arrive: checks who signed, forgets nothing, and fails as often
// as it is told to.

import type { Sending, Sent } from '../../server/webhooks/send.ts';
import { signatureOf } from '../../server/webhooks/sign.ts';
import type { Chance } from './chance.ts';

export type Told = {
  readonly deliveryId: string;
  readonly topic: string;
  readonly swapId: string | null;
  readonly status: string | null;
  readonly body: string;
};

export type Receiver = {
  take(sending: Sending): Promise<Sent>;
  expect(path: string, secret: string): void;
  /** What arrived at a path, each delivery once, in the order of first arrival. */
  heard(path: string): readonly Told[];
  /** Whether an attempt failed since this was asked last. */
  failedSince(): boolean;
  readonly complaints: string[];
  failing: number;
};

export function createReceiver(chance: Chance, hear: (told: Told) => void): Receiver {
  const secrets = new Map<string, string>();
  const heard = new Map<string, Map<string, Told>>();
  const complaints: string[] = [];
  let failed = false;
  const orders = new Map<string, { readonly ids: Set<string>; newest: string }>();
  /** Of one swap each event waits for the first attempt of the one before. */
  const note = (path: string, { headers, body }: Sending) => {
    const { swapId = '', createdAt = '' } = JSON.parse(body) as Record<string, string>;
    const id = headers['x-parley-delivery'] ?? '';
    const order = orders.get(`${path} ${swapId}`) ?? { ids: new Set(), newest: '' };
    orders.set(`${path} ${swapId}`, order);
    if (swapId === '' || order.ids.has(id)) return;
    order.ids.add(id);
    if (createdAt < order.newest) complaints.push(`${path}: ${createdAt} after ${order.newest}`);
    order.newest = createdAt;
  };
  const keep = (path: string, sending: Sending) => {
    const id = sending.headers['x-parley-delivery'] ?? '';
    const body = JSON.parse(sending.body) as Record<string, string>;
    const own = heard.get(path) ?? new Map<string, Told>();
    heard.set(path, own);
    const known = own.get(id);
    if (known !== undefined && known.body !== sending.body) complaints.push(`${id} changed`);
    const { type = '', swapId = null, status = null } = body;
    const told = { deliveryId: id, topic: type, swapId, status, body: sending.body };
    if (known !== undefined) return;
    own.set(id, told);
    hear(told);
  };
  const receiver: Receiver = {
    failing: 0,
    complaints,
    take: async (sending) => {
      const path = new URL(sending.url).pathname;
      const timestamp = sending.headers['x-parley-timestamp'] ?? '';
      const right = signatureOf(secrets.get(path) ?? '', timestamp, sending.body);
      if (sending.headers['x-parley-signature'] !== right) complaints.push(`${path}: not signed`);
      note(path, sending);
      const how = chance.hits(receiver.failing) ? chance.int(1, 3) : 0;
      // 1: unreachable, 2: it has it but its answer is lost, 3: it has it and fails.
      if (how !== 1) keep(path, sending);
      if (how > 0) failed = true;
      if (how === 0) return { status: 200, error: null };
      return how === 3 ? { status: 500, error: null } : { status: 0, error: 'no answer' };
    },
    expect: (path, secret) => {
      secrets.set(path, secret);
    },
    heard: (path) => [...(heard.get(path)?.values() ?? [])],
    failedSince: () => {
      const was = failed;
      failed = false;
      return was;
    },
  };
  return receiver;
}
