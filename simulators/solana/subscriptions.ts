// Subscriptions: after every block each is asked what is new at its commitment.

import { accountJson } from './account-json.ts';
import { mintOf, nothing, readAccount, sameAccount } from './accounts.ts';
import { accountAt, blockAt, type Ledger, tipOf } from './ledger.ts';
import { addressAt, commitmentOf, configAt, inContext, textAt } from './params.ts';
import { invalidParams } from './rpc-error.ts';
import { isAt } from './transaction-methods.ts';

/** What to tell now; `ended` when nothing will follow. */
type News = { readonly results: readonly unknown[]; readonly ended: boolean };
type Ask = () => News;

const still: News = { results: [], ended: false };

type Kind = {
  readonly notification: string;
  open(ledger: Ledger, params: readonly unknown[]): Ask;
};

function signature(ledger: Ledger, params: readonly unknown[]): Ask {
  const wanted = textAt(params, 0);
  const config = configAt(params, 1);
  const at = commitmentOf(config);
  let received = config.enableReceivedNotification !== true;
  return () => {
    const done = ledger.history.get(wanted);
    const context = blockAt(ledger, at);
    const results: unknown[] = [];
    if (!received && (done !== undefined || ledger.pending.has(wanted))) {
      received = true;
      results.push(inContext(context, 'receivedSignature'));
    }
    if (done === undefined || !isAt(ledger, done, at)) return { results, ended: false };
    return { results: [...results, inContext(context, { err: done.err })], ended: true };
  };
}

function account(ledger: Ledger, params: readonly unknown[]): Ask {
  const of = addressAt(params, 0);
  const config = configAt(params, 1);
  const at = commitmentOf(config);
  let before = accountAt(ledger, of, at);
  return () => {
    const now = accountAt(ledger, of, at);
    if (sameAccount(before, now)) return still;
    before = now;
    const json = accountJson(now ?? nothing, config, (mint) => {
      return mintOf(readAccount(ledger.svm, mint))?.decimals ?? 0;
    });
    return { results: [inContext(blockAt(ledger, at), json)], ended: false };
  };
}

function slot(ledger: Ledger): Ask {
  let seen = ledger.slot;
  return () => {
    const { slot, parent } = tipOf(ledger);
    if (slot <= seen) return still;
    seen = slot;
    const root = blockAt(ledger, 'finalized').slot;
    return { results: [{ slot, parent, root }], ended: false };
  };
}

const kinds: Readonly<Record<string, Kind>> = {
  signatureSubscribe: { notification: 'signatureNotification', open: signature },
  accountSubscribe: { notification: 'accountNotification', open: account },
  slotSubscribe: { notification: 'slotNotification', open: slot },
};

const mostSubscriptions = 10_000;

export type Subscriber = {
  /** Null when it is no call about subscriptions. */
  call(method: string, params: readonly unknown[]): unknown;
  /** Tells what is new. */
  tell(): void;
};

let lastId = 0;

/** The subscriptions of one connection. */
export function subscriber(ledger: Ledger, send: (message: object) => void): Subscriber {
  const open = new Map<number, { notification: string; ask: Ask }>();
  const tell = (id: number, { notification, ask }: { notification: string; ask: Ask }) => {
    const { results, ended } = ask();
    for (const result of results) {
      send({ jsonrpc: '2.0', method: notification, params: { result, subscription: id } });
    }
    if (ended) open.delete(id);
  };
  return {
    call: (method, params) => {
      const kind = Object.hasOwn(kinds, method) ? kinds[method] : undefined;
      if (kind !== undefined) {
        if (open.size >= mostSubscriptions) throw invalidParams('too many subscriptions');
        lastId += 1;
        const entry = { notification: kind.notification, ask: kind.open(ledger, params) };
        open.set(lastId, entry);
        const id = lastId;
        // What is there already is told at once, but after the subscription's own id.
        setImmediate(() => open.has(id) && tell(id, entry));
        return id;
      }
      const isEnd = Object.hasOwn(kinds, method.replace(/Unsubscribe$/, 'Subscribe'));
      return isEnd ? open.delete(Number(params[0])) : null;
    },
    tell: () => {
      for (const [id, entry] of [...open]) tell(id, entry);
    },
  };
}
