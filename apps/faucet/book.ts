// The gifts of a faucet, in one SQLite file that survives kill -9 and power cuts. A gift is in it
// with its signed bytes before any node hears of it: a payment sent again is the same transaction.

import { DatabaseSync } from 'node:sqlite';
import type { Kept } from '@parley/sdk/stores/store.ts';

export const daySeconds = 86_400;
/** The book forgets a gift that ended that long ago, and its recipient. */
const keptSeconds = 7 * daySeconds;

/** `lost`: no block can take it any more. */
export type End = 'landed' | 'lost';

export type Asset = { readonly chain: string; readonly token: string | null };

export type Given = Asset & {
  readonly address: string;
  /** The client network that asked. */
  readonly client: string;
  readonly amount: bigint;
  readonly kept: Kept;
  /** Unix seconds. */
  readonly at: number;
};

/** The count of one asset since a moment. */
export type Counted = {
  /** To the address, what was lost left out; null: nothing. */
  readonly toAddress: { readonly txid: string; readonly at: number } | null;
  readonly toClient: number;
  /** When the oldest of those was. */
  readonly oldestToClient: number | null;
  /** The amount of all gifts, lost ones included: it bounds whatever nodes say. */
  readonly given: bigint;
};

type Row = {
  readonly chain: string;
  readonly token: string;
  readonly address: string;
  readonly client: string;
  readonly amount: string;
  readonly kept: string;
  readonly at: number;
};

const schema = `
  create table if not exists gifts (
    txid text primary key, chain text not null, token text not null, address text not null,
    client text not null, amount text not null, kept text not null, at integer not null, ended text
  ) strict;
  create index if not exists gifts_of_asset on gifts (chain, token, at);
  create index if not exists gifts_open on gifts (at) where ended is null;`;

export type Book = ReturnType<typeof openBook>;

/** Throws where another process has it open. */
export function openBook(file: string) {
  const db = new DatabaseSync(file);
  try {
    // Held until the process ends, however it ends: two faucets of one file would give twice.
    db.exec('pragma locking_mode = exclusive; pragma synchronous = extra;');
    db.exec(`begin exclusive; ${schema} commit;`);
  } catch (cause) {
    db.close();
    throw new Error(`${file} cannot be opened, or another faucet has it open`, { cause });
  }
  const insert = db.prepare(
    `insert into gifts (txid, chain, token, address, client, amount, kept, at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const ofAsset = db.prepare(
    `select txid, address, client, amount, at, ended from gifts
     where chain = ? and token = ? and at > ? order by at`,
  );
  const open = db.prepare(`select * from gifts where ended is null order by at`);
  const setKept = db.prepare(`update gifts set txid = ?, kept = ? where txid = ?`);
  const setEnd = db.prepare(`update gifts set ended = ? where txid = ?`);
  const forget = db.prepare(`delete from gifts where ended is not null and at < ?`);
  return {
    keep: ({ chain, token, address, client, amount, kept, at }: Given): void => {
      const row = [kept.txid, chain, token ?? '', address, client, `${amount}`] as const;
      insert.run(...row, JSON.stringify(kept), at);
    },
    counted: ({ chain, token }: Asset, whose: Who, since: number): Counted => {
      const rows = ofAsset.all(chain, token ?? '', since) as (Row & {
        readonly txid: string;
        readonly ended: End | null;
      })[];
      const same = rows.find((row) => row.address === whose.address && row.ended !== 'lost');
      const ofClient = rows.filter((row) => row.client === whose.client);
      return {
        toAddress: same === undefined ? null : { txid: same.txid, at: same.at },
        toClient: ofClient.length,
        oldestToClient: ofClient[0]?.at ?? null,
        given: rows.reduce((sum, row) => sum + BigInt(row.amount), 0n),
      };
    },
    /** Not known to have ended, the oldest first. */
    open: (): Given[] =>
      (open.all() as Row[]).map((row) => ({
        ...row,
        token: row.token === '' ? null : row.token,
        amount: BigInt(row.amount),
        kept: JSON.parse(row.kept) as Kept,
      })),
    /** Another version of a payment: whichever is mined, it is one gift. */
    replace: (txid: string, kept: Kept): void =>
      void setKept.run(kept.txid, JSON.stringify(kept), txid),
    end: (txid: string, end: End): void => void setEnd.run(end, txid),
    forget: (now: number): void => void forget.run(now - keptSeconds),
    close: (): void => db.close(),
  };
}

export type Who = { readonly address: string; readonly client: string };
