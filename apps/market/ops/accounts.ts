// `ops accounts`: the traders, and an operator's acts on them. A block holds an account off new
// business and leaves its open swaps alone (apps/market/market/blocking.ts).

import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { openTradingOf, setBlocked, setUnblocked } from '../db/accounts.ts';
import {
  accountShown,
  accountsByAbandoned,
  accountsBySettled,
  accountsNamed,
  blockedAccounts,
  countLiveSessions,
  hooksShown,
  newestAccounts,
  type ShownAccount,
  walletsShown,
  waysShown,
} from '../db/accounts-shown.ts';
import type { Standing } from '../db/agreements.ts';
import type { Tx } from '../db/database.ts';
import { liveKeysOf, revokeKeys } from '../db/keys.ts';
import { revokeSessions } from '../db/sessions.ts';
import { type Swept, withdrawBlocked } from '../market/blocking.ts';
import { withoutKeys } from '../market/keys.ts';
import { isUuid } from '../ports/ids.ts';
import { act, print, reading, rfqs, withDatabase } from './operator.ts';

const orders = {
  recent: newestAccounts,
  abandoned: accountsByAbandoned,
  settled: accountsBySettled,
};
const mostNamed = 20;
const mostWallets = 100;
type Changing = 'block' | 'unblock' | 'sign-out';

/** `account`, `reason`: without a key that somebody pasted, as they are kept for ever. */
type Asked = { readonly account: string; readonly reason: string };

async function theAccount(tx: Tx, given: string): Promise<ShownAccount> {
  const isEvm = /^0x[0-9a-f]{40}$/i.test(given);
  const texts = isEvm ? [given, parseEvmAddress(given)] : [given];
  const id = isUuid(given) ? given.toLowerCase() : null;
  const found = await accountsNamed(tx, { id, texts }, mostNamed + 1);
  if (found.length > 1) {
    const ids = found.slice(0, mostNamed).map((each) => `  ${each.id}`);
    throw new Error(`${found.length} accounts are called ${given}; name one:\n${ids.join('\n')}`);
  }
  const account = found[0] === undefined ? null : await accountShown(tx, found[0].id);
  if (account !== null) return account;
  throw new Error(`there is no account ${given}: by its id, a wallet, or the prefix of a key`);
}

function line({ id, kind, createdAt, deletedAt, blockedAt, blockedFor, standing }: ShownAccount) {
  const kept = standing === null ? 'not counted yet' : keptUntil(standing);
  const block =
    blockedAt === null ? '' : `  BLOCKED since ${blockedAt.toISOString()}: ${blockedFor}`;
  const end = deletedAt === null ? '' : `  deleted ${deletedAt.toISOString()}`;
  return `${id}  ${kind.padEnd(7)}  since ${createdAt.toISOString()}  ${kept}${block}${end}`;
}

/** Swaps of today are in no count: without its day a zero reads as never. */
function keptUntil({ settled, abandoned, refunded, until }: Standing): string {
  const day = new Date(until * 1_000).toISOString().slice(0, 10);
  return `settled ${settled}, abandoned ${abandoned}, refunded ${refunded} before ${day}`;
}

async function everythingOf(tx: Tx, account: ShownAccount) {
  const now = new Date();
  const { id } = account;
  const keys = (await liveKeysOf(tx, id, now)).map((each) => ({
    id: each.id,
    prefix: each.prefix,
    scopes: each.scopes,
    createdAt: each.createdAt,
    expiresAt: each.expiresAt,
    usedOn: each.usedOn,
  }));
  const wallets = await walletsShown(tx, id, mostWallets);
  const ways = await waysShown(tx, id);
  const sessions = await countLiveSessions(tx, id, now);
  const webhooks = await hooksShown(tx, id);
  const open = await openTradingOf(tx, id, now);
  return { ...account, open, keys, wallets, ways, sessions, webhooks };
}

function lines(of: Awaited<ReturnType<typeof everythingOf>>): string {
  const { open, keys, wallets, ways, sessions, webhooks } = of;
  const hooks = `${webhooks?.count ?? 0} webhooks, ${webhooks?.failing ?? 0} of them failing or off`;
  return [
    line(of),
    `  open: ${open.swaps} swaps, ${open.rfqs} RFQs and quotes; ${sessions} sessions; ${hooks}`,
    ...wallets.map(({ family, address, standing, authorised }) => {
      return `  wallet ${family} ${address} (${standing}${authorised ? ', authorised' : ''})`;
    }),
    ...ways.map(({ way, count }) => `  signs in by ${way} (${count})`),
    ...keys.map(({ prefix, scopes, expiresAt, usedOn }) => {
      const use = usedOn === null ? 'not used' : `used ${usedOn}`;
      return `  key ${prefix}… ${scopes.join(' ')}, until ${expiresAt.toISOString()}, ${use}`;
    }),
  ].join('\n');
}

type Changed = { readonly accountId: string; readonly changed: boolean };
type Ended = Changed & { readonly keys: number; readonly sessions: number };

async function change(tx: Tx, verb: Changing, { account, reason }: Asked, at: Date) {
  const { id, deletedAt } = await theAccount(tx, account);
  if (deletedAt !== null) throw new Error(`account ${id} was deleted ${deletedAt.toISOString()}`);
  const facts = { accountId: id };
  switch (verb) {
    case 'block': {
      const changed = (await setBlocked(tx, { id, reason, at })) > 0;
      const open = await openTradingOf(tx, id, at);
      return { result: { ...facts, changed }, changed, facts: { ...facts, ...open } };
    }
    case 'unblock': {
      const changed = (await setUnblocked(tx, id)) > 0;
      return { result: { ...facts, changed }, changed, facts };
    }
    case 'sign-out': {
      const keys = await revokeKeys(tx, id, at);
      const sessions = await revokeSessions(tx, id, null, at);
      const ended: Ended = { ...facts, changed: keys + sessions > 0, keys, sessions };
      return { result: ended, changed: ended.changed, facts: { ...ended } };
    }
  }
}

function told(of: Changed | Ended, swept: Swept | null): string {
  const { accountId, changed } = of;
  if (swept !== null) {
    const { rfqs: orders, quotes, levels } = swept;
    const gone = `${rfqs(orders)}, ${quotes} quotes and ${levels} levels left the market`;
    return `${accountId} ${changed ? 'is blocked' : 'was blocked so already'}: ${gone}`;
  }
  if ('keys' in of) return `${accountId}: ${of.keys} keys and ${of.sessions} sessions ended`;
  return changed ? `${accountId} may begin again` : `${accountId} is not blocked: no change`;
}

type List = {
  readonly blocked?: true | undefined;
  readonly by?: keyof typeof orders | undefined;
  readonly limit: number;
};

export async function list(
  json: boolean,
  { blocked, by = 'recent', limit }: List,
): Promise<number> {
  const accounts = blocked === true ? blockedAccounts : orders[by];
  const found = await reading((db) => accounts(db, limit));
  for (const each of found) print(json ? JSON.stringify(each) : line(each));
  return 0;
}

export async function show(json: boolean, account: string): Promise<number> {
  const found = await reading(async (db) => everythingOf(db, await theAccount(db, account)));
  print(json ? JSON.stringify(found) : lines(found));
  return 0;
}

/** A block sweeps in small transactions after its row. */
const changing =
  (verb: Changing) =>
  async (json: boolean, named: string, { reason }: { readonly reason: string }) => {
    const account = withoutKeys(named);
    const at = new Date();
    const action = { command: `accounts ${verb}`, arguments: { account, reason } } as const;
    await withDatabase({}, async (db) => {
      const result: Changed | Ended = await act(db, action, (tx) =>
        change(tx, verb, { account, reason }, at),
      );
      const swept = verb === 'block' ? await withdrawBlocked(db, result.accountId, at) : null;
      print(json ? JSON.stringify({ ...result, ...swept }) : told(result, swept));
    });
    return 0;
  };

export const block = changing('block');
export const unblock = changing('unblock');
export const signOut = changing('sign-out');
