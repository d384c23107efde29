// `parley claims`: signed claims on Bitcoin for a watchtower of one's own, and being one.

import { resolve } from 'node:path';
import { readWatchFile, watchClaims, watchFileOf } from '@parley/sdk/watch.ts';
import { chainsOf } from '@parley/trader/driving.ts';
import { misused, needsYou, statuses } from '@parley/trader/failures.ts';
import { answer, type Cli, note } from '@parley/trader/io.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';
import { inSession, unlocked } from '@parley/trader/session.ts';
import { oneLine } from '@parley/trader/show.ts';

const mostFileBytes = 131_072;

export const save = (cli: Cli, swapId: string, name: string) =>
  inSession(cli, async (session) => {
    const file = resolve(cli.cwd, name);
    const own = await unlocked(cli, session);
    const record = await own.store.getSwap(swapId);
    if (record === null) {
      throw needsYou('unknown_swap', `this profile keeps no record of swap ${swapId}`);
    }
    const chains = await chainsOf(session, own, record.trade);
    await writePrivate(file, await watchFileOf(record, chains, cli.signal), { isNew: true });
    const how = `"parley claims watch ${name}" sends them anywhere, without a key`;
    answer(cli, { file, swapId }, `wrote ${file}: signed claims of swap ${swapId}. ${how}.`);
  });

/** Wants the chains of the profile, and neither keystore nor account. */
export const watch = (cli: Cli, name: string) =>
  inSession(cli, async (session) => {
    const text = await readUpTo(resolve(cli.cwd, name), mostFileBytes);
    if (text === null) throw misused(`there is no file ${name}`);
    const file = readWatchFile(text);
    let last = '';
    const end = await watchClaims({
      file,
      sourceOf: (chain) => session.source(chain),
      now: session.now,
      signal: cli.signal,
      onProgress: (said, txid) => {
        const line = oneLine(txid === null ? said : `${said}  ${txid}`);
        if (line !== last) note(cli, line);
        last = line;
      },
    });
    const { txid, isClaimed } = end;
    const how = isClaimed ? 'claimed' : 'REFUNDED to the other side';
    answer(cli, { swapId: file.swapId, ...end }, `${file.swapId}  ${how}: ${txid}`);
    return isClaimed ? statuses.done : statuses.not_received;
  });
