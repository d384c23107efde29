// `parley rescue`: swaps from words and a rescue file, without the market (docs/rescue.md).

import { resolve } from 'node:path';
import { type RescueFile, readRescue } from '@parley/sdk/rescue/file.ts';
import { type Restored, restoreFromFile } from '@parley/sdk/rescue/restore.ts';
import type { PinnedChains } from '@parley/sdk/trade.ts';
import { alone, type Swap, wordsOf } from '@parley/trader/driving.ts';
import { misused, needsYou, statuses } from '@parley/trader/failures.ts';
import { answer, type Cli, mustConfirm, note } from '@parley/trader/io.ts';
import { keysOf } from '@parley/trader/keys/words.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';
import { keepRescue } from '@parley/trader/rescue-file.ts';
import {
  inSession,
  type Session,
  type Unlocked,
  unlocked,
  unlockedBy,
} from '@parley/trader/session.ts';
import { tableOf } from '@parley/trader/show.ts';
import { driveAll } from '../drive.ts';
import { type Typed, typedWords } from './account.ts';
import { clientOf } from './swaps.ts';

const mostFileBytes = 4_194_304;

type From = Typed & { readonly payout?: string; readonly deep?: true };

export const save = (cli: Cli, name: string) =>
  inSession(cli, async (session) => {
    const file = resolve(cli.cwd, name);
    const own = await unlocked(cli, session);
    const text = await keepRescue(session, own);
    const { swaps } = readRescue(text);
    await writePrivate(file, text, { isNew: true });
    const said = `wrote ${file}: ${swaps.length} open swaps. With the words it brings them back.`;
    answer(cli, { file, swaps: swaps.map(({ swap }) => swap.id) }, said);
  });

export const from = (cli: Cli, name: string, given: From) =>
  inSession(cli, (session) => rescued(cli, session, resolve(cli.cwd, name), given));

async function rescued(cli: Cli, session: Session, name: string, given: From): Promise<number> {
  const text = await readUpTo(name, mostFileBytes);
  if (text === null) throw misused(`there is no file ${name}`);
  const file = readRescue(text);
  const own = await ownWords(cli, session, given);
  const chains = await chainsIn(cli, session, file);
  return alone(own, async () => {
    const isDeep = given.deep === true;
    const signal = cli.signal;
    const restored = await restoreFromFile(own.store, text, { chains, isDeep, signal });
    const rows = restored.map(({ swapId, outcome, secret, why }) => [swapId, outcome, secret, why]);
    note(cli, tableOf(['swap', 'outcome', 'secret', 'why'], rows));
    const due = await dueOf(own, restored);
    if (due.length === 0) {
      answer(cli, { restored }, 'no swap of the file is to be settled');
      return statuses.not_received;
    }
    const { payout } = given;
    const plan = due.map(({ swapId, trade }) => {
      const { payTo, refundTo } = trade;
      const onBitcoin = payout ?? 'your own wallet';
      const at = [payTo, refundTo].map(({ address, pubkey }) => (pubkey ? onBitcoin : address));
      return `${swapId}: ${wordsOf(session, trade)}, claimed to ${at[0]}, refunded to ${at[1]}`;
    });
    await mustConfirm(cli, plan, 'Claim and refund these? Nothing is funded');
    const client = await clientOf(cli, session);
    return driveAll(cli, session, own, due, { client, payout });
  });
}

/** The words of the profile; or typed, with wallets of the same words to pay the fees. */
async function ownWords(cli: Cli, session: Session, given: Typed): Promise<Unlocked> {
  if (given.words !== true && given.wordsFd === undefined) return unlocked(cli, session);
  const words = await typedWords(cli, given);
  return unlockedBy(session, await keysOf(words, session.profile.network), true);
}

/** A chain that the profile has otherwise than the file leaves out its own swaps alone. */
async function chainsIn(cli: Cli, session: Session, file: RescueFile): Promise<PinnedChains> {
  const { chains, network } = file;
  if (network !== session.profile.network) {
    const sentence = `the file is of ${network}, and this profile of ${session.profile.network}`;
    throw needsYou('other_network', sentence);
  }
  const opened: Record<string, PinnedChains[string]> = {};
  for (const { chain } of chains) {
    try {
      opened[chain] = { source: await session.source(chain) };
    } catch (error) {
      note(cli, `${chain} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return opened;
}

async function dueOf({ store }: Unlocked, restored: readonly Restored[]): Promise<Swap[]> {
  const due: Swap[] = [];
  for (const { swapId, outcome } of restored) {
    const record =
      outcome === 'restored' || outcome === 'kept' ? await store.getSwap(swapId) : null;
    if (record !== null) due.push({ swapId, trade: record.trade, withoutMarket: true });
  }
  return due;
}
