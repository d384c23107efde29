// A withdrawal as the store keeps it: one file each, written by whoever asks, and from then on by
// the process alone that has the lock of the store. Its signed bytes are in it before they are sent.

import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { makePrivateFolder, syncFolder } from '@parley/host/private-file.ts';
import { type Kept, readKept, writeKept } from '@parley/sdk/stores/store.ts';
import { Failure } from '@parley/trader/failures.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';

/**
 * `taken`: a process checks it. `signed`: its bytes may have been sent. `mined`: in a block. `paid`: as deep as the policy wants.
 * `refused`: no payment was signed. `failed`: no version of it will ever be mined, or it reverted.
 */
export type WithdrawalState =
  | 'asked'
  | 'taken'
  | 'refused'
  | 'signed'
  | 'mined'
  | 'paid'
  | 'failed';

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

const folderIn = (dir: string) => join(dir, 'withdrawals');
const endedIn = (dir: string) => join(folderIn(dir), 'ended');
const toldIn = (dir: string) => join(folderIn(dir), 'told');

export const hasEnded = ({ state }: Withdrawal) =>
  state === 'refused' || state === 'paid' || state === 'failed';

/** Never in the place of another, but of one that was refused: throws Failure `exists`. */
export async function ask(dir: string, withdrawal: Withdrawal): Promise<void> {
  const { id } = withdrawal;
  const before = await read(dir, id);
  // It may have been asked for and paid while a person was asked about this one.
  if (before !== null && before.state !== 'refused') {
    throw new Failure(
      'local',
      'exists',
      `withdrawal ${id} was asked for before: it is not paid again`,
    );
  }
  await makePrivateFolder(folderIn(dir));
  // One that was refused may have left it.
  await rm(fileOf(toldIn(dir), id), { force: true });
  await writePrivate(fileOf(folderIn(dir), id), writeKept(withdrawal), { isNew: true });
}

/** On disk when it resolves. Ended ones are set aside. */
export async function keep(dir: string, withdrawal: Withdrawal): Promise<void> {
  const file = fileOf(folderIn(dir), withdrawal.id);
  await writePrivate(file, writeKept(withdrawal));
  if (!hasEnded(withdrawal)) return;
  await makePrivateFolder(endedIn(dir));
  await rename(file, fileOf(endedIn(dir), withdrawal.id));
  await syncFolder(folderIn(dir));
}

/** null: it was never asked for. */
export async function read(dir: string, id: string): Promise<Withdrawal | null> {
  // In this order: it moves from the one to the other.
  for (const folder of [folderIn(dir), endedIn(dir)]) {
    const text = await readUpTo(fileOf(folder, id));
    if (text !== null) return readKept<Withdrawal>(text);
  }
  return null;
}

/** Those that have not ended, the oldest first. Throws where a file is damaged. */
export async function openOnes(dir: string): Promise<Withdrawal[]> {
  const all: Withdrawal[] = [];
  for (const id of await idsIn(folderIn(dir))) {
    const found = await read(dir, id);
    if (found !== null) all.push(found);
  }
  return all.sort((one, other) => one.askedAtMs - other.askedAtMs);
}

/** Those whose asker has not heard yet that they were paid, or never will be: it may be killed. */
export async function untoldOnes(dir: string): Promise<Withdrawal[]> {
  const told = new Set(await idsIn(toldIn(dir)));
  const ids = [...(await idsIn(folderIn(dir))), ...(await idsIn(endedIn(dir)))];
  const untold = new Set(ids.filter((id) => !told.has(id)));
  const all = await Promise.all([...untold].map((id) => read(dir, id)));
  return all.filter((each) => each !== null);
}

/** The asker knows how it ended. */
export async function told(dir: string, { id }: Withdrawal): Promise<void> {
  await writePrivate(fileOf(toldIn(dir), id), '{}\n');
}

async function idsIn(folder: string): Promise<string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    return names.map((name) => name.slice(0, -'.json'.length)).filter((id) => idShape.test(id));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function fileOf(folder: string, id: string): string {
  if (idShape.test(id)) return join(folder, `${id}.json`);
  throw new Error(`"${id.slice(0, 80)}" cannot be the id of a withdrawal`);
}
