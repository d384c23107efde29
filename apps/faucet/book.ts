// The gifts of a faucet of the last day, in one SQLite file that survives kill -9 and power cuts. A
// gift is in it before any node hears of it.

import { DatabaseSync } from 'node:sqlite';

export const daySeconds = 86_400;

export type Asset = { readonly chain: string; readonly token: string | null };
export type Who = {
  readonly address: string;
  /** The client network that asked. */
  readonly client: string;
};
export type Given = Asset &
  Who & {
    readonly txid: string;
    readonly amount: bigint;
    /** Unix seconds. */
    readonly at: number;
  };

/** The count of one asset since a moment. */
export type Counted = {
  /** To the address, what no node took left out; null: nothing. */
  readonly toAddress: { readonly txid: string; readonly at: number } | null;
  readonly toClient: number;
  /** When the oldest of those was. */
  readonly oldestToClient: number | null;
  /** The amount of all gifts, refused ones included: it bounds whatever nodes say. */
  readonly given: bigint;
};

type Row = Record<'txid' | 'address' | 'client' | 'amount', string> & { readonly at: number };

const schema = `
  create table if not exists gifts (
    txid text primary key, chain text not null, token text not null, address text not null,
    client text not null, amount text not null, at integer not null
  ) strict;
  create index if not exists gifts_of_asset on gifts (chain, token, at);`;

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
  const forget = db.prepare(`delete from gifts where at < ?`);
  const insert = db.prepare(
    `insert into gifts (txid, chain, token, address, client, amount, at)
     values (?, ?, ?, ?, ?, ?, ?)`,
  );
  const refuse = db.prepare(`update gifts set address = '' where txid = ?`);
  const ofAsset = db.prepare(
    `select txid, address, client, amount, at from gifts
     where chain = ? and token = ? and at > ? order by at`,
  );
  return {
    keep: ({ txid, chain, token, address, client, amount, at }: Given): void => {
      forget.run(at - daySeconds);
      insert.run(txid, chain, token ?? '', address, client, `${amount}`, at);
    },
    /** No node took it: its address may ask again. */
    refused: (txid: string): void => void refuse.run(txid),
    counted: ({ chain, token }: Asset, whose: Who, since: number): Counted => {
      const rows = ofAsset.all(chain, token ?? '', since) as Row[];
      const same = rows.find((row) => row.address === whose.address);
      const ofClient = rows.filter((row) => row.client === whose.client);
      return {
        toAddress: same === undefined ? null : { txid: same.txid, at: same.at },
        toClient: ofClient.length,
        oldestToClient: ofClient[0]?.at ?? null,
        given: rows.reduce((sum, row) => sum + BigInt(row.amount), 0n),
      };
    },
    close: (): void => db.close(),
  };
}
