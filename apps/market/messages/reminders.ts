// Reminds parties of deadlines, and owners of keys that end, each once: a row says so, written in
// the transaction of the event. By the market's clock, which moves with that of a dev network.

import type { Tx } from '../db/database.ts';
import { insertOutbox } from '../db/outbox.ts';
import {
  type Candidate,
  type CandidatePage,
  claimable,
  insertReminders,
  nearFirstFunding,
  nearRevealing,
  nearSecondFunding,
  refundable,
  takeExpiringKeys,
} from '../db/reminders.ts';
import { swapsByIds } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { type Service, service, services } from '../ports/service.ts';
import {
  deadlinesPauseMs,
  keyReminderMs,
  keysPauseMs,
  mostPages,
  reminderPage,
  reminderSeconds,
} from './bounds.ts';
import { type Due, dueOf } from './due.ts';
import type { ReminderKind } from './texts.ts';

type Find = (tx: Tx, page: CandidatePage) => Promise<Candidate[]>;

const finds: readonly { readonly kind: ReminderKind; readonly find: Find }[] = [
  { kind: 'fund_by', find: nearFirstFunding },
  { kind: 'fund_by', find: nearSecondFunding },
  { kind: 'reveal_by', find: nearRevealing },
  { kind: 'claim_now', find: claimable },
  { kind: 'refund_possible', find: refundable },
];

const noUuid = '00000000-0000-0000-0000-000000000000';
const fromTheStart: Candidate = { swapId: noUuid, accountId: noUuid };

export type Reminding = Omit<Service, 'ring'> & {
  deadlines(): Promise<number>;
  keys(): Promise<number>;
};

export function createReminding(
  deps: Pick<Deps, 'db' | 'now' | 'log' | 'metrics' | 'randomBytes'>,
): Reminding {
  const deadlines = async (signal?: AbortSignal) => {
    let told = 0;
    for (const { kind, find } of finds) {
      let after: Candidate | null = fromTheStart;
      while (after !== null && !signal?.aborted) {
        const page: Page = await remind(deps, kind, find, after);
        told += page.told;
        after = page.last;
      }
    }
    return told;
  };
  const keys = () => remindOfKeys(deps);
  const every = (
    everyMs: number,
    name: string,
    look: (signal?: AbortSignal) => Promise<number>,
  ) => {
    const pass = async (signal: AbortSignal) => {
      await look(signal);
      return undefined;
    };
    return service(deps, { name, pass, everyMs });
  };
  const { start, stop } = services([
    every(deadlinesPauseMs, 'reminders of deadlines', deadlines),
    every(keysPauseMs, 'reminders of keys', keys),
  ]);
  return { deadlines: () => deadlines(), keys, start, stop };
}

/** `last`: null where it was the last page. */
type Page = { readonly told: number; readonly last: Candidate | null };

async function remind(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  kind: ReminderKind,
  find: Find,
  after: Candidate,
): Promise<Page> {
  const nowMs = now();
  const limit = reminderPage;
  const page = { now: Math.floor(nowMs / 1_000), lead: reminderSeconds, limit, after };
  const found = await find(db, page);
  const swaps = await swapsByIds(db, [...new Set(found.map(({ swapId }) => swapId))]);
  const byId = new Map(swaps.map((swap) => [swap.id, swap]));
  const due = found.flatMap(({ swapId, accountId }) => {
    const swap = byId.get(swapId);
    const what = swap === undefined ? null : dueOf(swap, accountId, kind, nowMs);
    return what === null ? [] : [{ swapId, accountId, due: what }];
  });
  const told = due.length === 0 ? 0 : await tell(db, due, new Date(nowMs));
  return { told, last: found.length < limit ? null : (found.at(-1) ?? null) };
}

type Told = Candidate & { readonly due: Due };

function tell(db: Deps['db'], all: readonly Told[], at: Date): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = all.map(({ swapId, accountId, due }) => {
      const { kind: event, deadline } = due;
      return { swapId, accountId, event, deadline };
    });
    const inserted = await insertReminders(tx, rows, at);
    const isNew = (one: Candidate) =>
      inserted.some((each) => each.swapId === one.swapId && each.accountId === one.accountId);
    const entries = all.filter(isNew).map(({ swapId, accountId, due }) => {
      return { topic: 'swap.reminder', accountId, payload: { swapId, ...due }, at };
    });
    await insertOutbox(tx, entries);
    return entries.length;
  });
}

async function remindOfKeys({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<number> {
  let told = 0;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const at = new Date(now());
    const until = new Date(at.getTime() + keyReminderMs);
    const asked = { now: at, until, lifeMs: keyReminderMs, limit: reminderPage };
    const keys = await db.transaction(async (tx) => {
      const taken = await takeExpiringKeys(tx, asked);
      const entries = taken.map(({ accountId, ...payload }) => {
        return { topic: 'key.expiring', accountId, payload, at };
      });
      await insertOutbox(tx, entries);
      return taken.length;
    });
    told += keys;
    if (keys < reminderPage) break;
  }
  return told;
}
