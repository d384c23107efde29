// A withdrawal as the store keeps it: one file each, written by whoever asks, and from then on by
// the process alone that has the lock of the store. Its signed bytes are in it before they are sent.

import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { makePrivateFolder, syncFolder } from '@parley/host/private-file.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { type Kept, readKept, writeKept } from '@parley/sdk/stores/store.ts';
import { Failure } from '@parley/trader/failures.ts';
import { namedFiles } from '@parley/trader/named-files.ts';
import { z } from 'zod';

/**
 * `taken`: a process checks it. `signed`: its bytes may have been sent. `mined`: in a block. `paid`: as deep as the policy wants.
 * `refused`: no payment was signed. `failed`: no version of it will ever be mined, or it reverted.
 */
export type WithdrawalState = (typeof states)[number];

export type Withdrawal = {
  readonly id: string;
  /** The asker has chosen the id: another one of the same is another payment. */
  readonly isNamed: boolean;
  /** As the settings name it. */
  readonly asset: string;
  readonly chain: string;
  readonly token: string | null;
  readonly decimals: number;
  readonly amount: BaseUnits;
  /** The name of the address in the settings, and that address in its one spelling. */
  readonly name: string;
  readonly to: string;
  /** By the machine's clock. */
  readonly askedAtMs: Millis;
  /** After it nobody takes it up. */
  readonly untilMs: Millis;
  readonly state: WithdrawalState;
  /** Why it was refused or failed, or what it waits for. */
  readonly why: string | null;
  readonly kept: Kept | null;
  readonly minedAtMs: Millis | null;
};

/** A person, or a program, chose it: the same one is paid once. */
export const idShape = /^[a-zA-Z\d][a-zA-Z\d-]{0,62}$/;
/** Those that have not ended, at a time. */
export const mostOpen = 100;

const states = ['asked', 'taken', 'refused', 'signed', 'mined', 'paid', 'failed'] as const;
const text = z.string();
const shape = z.looseObject({
  id: text.regex(idShape),
  isNamed: z.boolean(),
  asset: text,
  chain: text,
  token: text.nullable(),
  decimals: z.int(),
  amount: z.bigint().positive(),
  name: text,
  to: text,
  askedAtMs: z.number(),
  untilMs: z.number(),
  state: z.enum(states),
  why: text.nullable(),
  kept: z.looseObject({ txid: text.min(1), raw: text.min(1) }).nullable(),
  minedAtMs: z.number().nullable(),
});

const folderIn = (dir: string) => join(dir, 'withdrawals');
const openIn = (dir: string) => namedFiles(folderIn(dir));
const endedIn = (dir: string) => namedFiles(join(folderIn(dir), 'ended'));
/** Those whose asker has not heard yet how they ended: it may be killed. */
const untoldIn = (dir: string) => namedFiles(join(folderIn(dir), 'untold'));
/** An older version marked those whose asker has heard. */
const toldIn = (dir: string) => namedFiles(join(folderIn(dir), 'told'));

export const hasEnded = ({ state }: Withdrawal) =>
  state === 'refused' || state === 'paid' || state === 'failed';

/** No payment of it was made, and none will be. */
export const isUnpaid = ({ state }: Withdrawal) => state === 'refused' || state === 'failed';

/** Never in the place of another, but of one that was not paid: throws Failure `exists`. */
export async function ask(dir: string, withdrawal: Withdrawal): Promise<void> {
  const { id } = withdrawal;
  const before = await read(dir, id);
  // It may have been asked for and paid while a person was asked about this one.
  if (before !== null && !isUnpaid(before)) {
    throw new Failure(
      'local',
      'exists',
      `withdrawal ${id} was asked for before: it is not paid again`,
    );
  }
  await untoldIds(dir);
  await untoldIn(dir).write(id, '{}\n');
  await openIn(dir).write(id, writeKept(withdrawal), { isNew: true });
}

/** On disk when it resolves. Ended ones are set aside. */
export async function keep(dir: string, withdrawal: Withdrawal): Promise<void> {
  const { id } = withdrawal;
  await openIn(dir).write(id, writeKept(withdrawal));
  if (hasEnded(withdrawal)) await openIn(dir).moveTo(id, endedIn(dir));
}

/** null: it was never asked for. Throws Failure `withdrawals_closed` where its file is damaged. */
export async function read(dir: string, id: string): Promise<Withdrawal | null> {
  if (!idShape.test(id)) throw new Error(`"${id.slice(0, 80)}" cannot be the id of a withdrawal`);
  // In this order: it moves from the one to the other.
  for (const files of [openIn(dir), endedIn(dir)]) {
    try {
      const found = await files.read(id);
      if (found !== null) return parsed(found, id);
    } catch (error) {
      throw closedBy([{ file: await files.placeOf(id), why: messageOf(error) }], error);
    }
  }
  return null;
}

function parsed(found: string, id: string): Withdrawal {
  const { data, error } = shape.safeParse(readKept(found));
  if (data === undefined) {
    const [issue] = error.issues;
    throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const withdrawal = data as Withdrawal;
  const { kept, state } = withdrawal;
  if (withdrawal.id !== id) throw new Error(`it is of withdrawal ${withdrawal.id}`);
  const isSent = state === 'signed' || state === 'mined' || state === 'paid';
  if (isSent && kept === null) throw new Error(`it is ${state}, and has no signed bytes`);
  return withdrawal;
}

/** A file that is no withdrawal of this version: half of one, one of others, a folder in its place. */
export type Damaged = { readonly file: string; readonly why: string };

/** Its payment may have been made: the maker pays no more until a person has looked. */
export function closedBy(
  [{ file, why }, ...more]: readonly [Damaged, ...Damaged[]],
  cause?: unknown,
) {
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  const sentence =
    `withdrawals are closed, as ${file} cannot be read${others}: ${why}. See on the ` +
    'chain whether it was paid, then move the file to another folder. All else goes on';
  return new Failure('local', 'withdrawals_closed', sentence, { cause });
}

type Open = { readonly open: readonly Withdrawal[]; readonly damaged: readonly Damaged[] };

/** Those that have not ended, the oldest first. */
export async function openOnes(dir: string): Promise<Open> {
  const open: Withdrawal[] = [];
  const damaged: Damaged[] = [];
  const { ids, read: readText, placeOf, folder } = openIn(dir);
  const listed = await ids().catch((error: unknown) => {
    damaged.push({ file: folder, why: messageOf(error) });
    return [];
  });
  for (const id of listed) {
    try {
      const found = await readText(id);
      // Ended since.
      if (found !== null) open.push(parsed(found, id));
    } catch (error) {
      damaged.push({ file: await placeOf(id), why: messageOf(error) });
    }
  }
  return { open: open.sort((one, other) => one.askedAtMs - other.askedAtMs), damaged };
}

/** Those whose asker has not heard how they ended. Throws Failure `withdrawals_closed`. */
export async function untoldOnes(dir: string): Promise<Withdrawal[]> {
  const all: Withdrawal[] = [];
  for (const id of await untoldIds(dir)) {
    const found = await read(dir, id);
    if (found !== null) all.push(found);
  }
  return all;
}

export const isUntold = async (dir: string, { id }: Withdrawal) =>
  (await untoldIds(dir)).includes(id);

/** The asker knows how it ended. */
export async function told(dir: string, { id }: Withdrawal): Promise<void> {
  await untoldIds(dir);
  await untoldIn(dir).remove(id);
}

/** A store of an older version has marks of what was told alone. */
async function untoldIds(dir: string): Promise<readonly string[]> {
  const { folder, ids } = untoldIn(dir);
  if ((await stat(folder).catch(nullIfMissing)) !== null) return ids();
  const marked = toldIn(dir);
  const heard = new Set(await marked.ids());
  const all = [...(await openIn(dir).ids()), ...(await endedIn(dir).ids())];
  const untold = all.filter((id) => !heard.has(id));
  await makePrivateFolder(`${folder}.new`);
  const fresh = namedFiles(`${folder}.new`);
  for (const id of untold) await fresh.write(id, '{}\n');
  await rename(fresh.folder, folder).catch((error: NodeJS.ErrnoException) => {
    // Another process was here first.
    if (error.code !== 'ENOTEMPTY') throw error;
  });
  await syncFolder(folderIn(dir));
  await rm(marked.folder, { recursive: true, force: true });
  return ids();
}
