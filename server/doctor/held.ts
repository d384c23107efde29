// What holds new trades although nothing is broken: halts of the operator, and time that is missing
// from the database with what was done about it, which otherwise stands in a log of then only.

import type { Tx } from '../db/database.ts';
import { keysAround, skippedReadings } from '../db/doctor.ts';
import {
  type Gap,
  type GapReason,
  gapById,
  listGaps,
  openReadings,
  type Reading,
  standing,
} from '../db/gaps.ts';
import { listHalts } from '../db/halts.ts';
import { listHaltedAssets } from '../db/listing.ts';
import { toldOf } from '../restore/gate.ts';
import { attemptRow, differs, type Findings, notice } from './findings.ts';

/** Halted assets, and gaps, that are looked at: the newest. */
const most = 1_000;
const mostGaps = 20;
const dayMs = 86_400_000;
/** How long a gap is told of once it was read: what became of its keys and nonces is asked then. */
const toldDays = 1;
/** Of an older database: keys that were revoked meanwhile may be good again until they end. */
const olderDays = 30;

const reasons: Readonly<Record<GapReason, string>> = {
  silence: 'no server wrote to it, or a backup was restored: that looks alike',
  went_back: 'it was brought back under a running server',
  lineage: 'it is of another history',
  restored: 'npm run restore, or npm run gaps -- open',
};

/** Its parts, by what they look at: none of them waits for another. */
export const heldParts: Readonly<
  Record<string, (db: Tx, now: Date, findings: Findings) => Promise<void>>
> = {
  'halts of chains': (db, _now, findings) => examineHalts(db, findings),
  'halts of assets': (db, _now, findings) => examineAssets(db, findings),
  'what was not read back': examineReadings,
  'the time that is missing': async (db, now, findings) => {
    for (const gap of await listGaps(db, mostGaps)) {
      await attemptRow(`gap ${gap.id}`, findings, () => tellGone(db, gap, now, findings));
    }
  },
};

function tellHalt(
  findings: Findings,
  halted: { where: string; which: string; since: string; reason: string },
): void {
  const { where, which, since, reason } = halted;
  const says = `nothing new is made with it: halted since ${since}: ${reason}`;
  const todo = `npm run resume -- ${which} when that is over`;
  findings.add(notice('halted', where, says, todo, { since, reason }));
}

async function examineHalts(db: Tx, findings: Findings): Promise<void> {
  for (const { chain, at, reason } of await listHalts(db)) {
    const where = `chain ${chain}`;
    await attemptRow(where, findings, () => {
      const which = `--chain ${chain}`;
      tellHalt(findings, { where, which, since: at.toISOString(), reason });
    });
  }
}

async function examineAssets(db: Tx, findings: Findings): Promise<void> {
  for (const { asset, closings } of await listHaltedAssets(db, most)) {
    const where = `asset ${asset.symbol} of ${asset.chain} (${asset.id})`;
    await attemptRow(where, findings, () => {
      const { at: since = '', reasons: given = [] } = closings.halt ?? {};
      const which = `--asset ${asset.id}`;
      tellHalt(findings, { where, which, since, reason: given.join('; ') });
    });
  }
}

async function examineReadings(db: Tx, now: Date, findings: Findings): Promise<void> {
  const { restored, isLineageSame } = await standing(db);
  const gaps = await listGaps(db, mostGaps);
  const known = new Map(gaps.map((gap) => [gap.id, gap]));
  for (const each of await openReadings(db)) {
    await attemptRow(`gap ${each.gapId} chain ${each.chain}`, findings, async () => {
      // One that is read for long may be older than the newest.
      const gap = known.get(each.gapId) ?? (await gapById(db, each.gapId));
      tellUnread(each, gap, findings);
    });
  }
  if (restored || !isLineageSame) {
    const why = reasons[restored ? 'restored' : 'lineage'];
    const says = `time is missing from the database (${why}) and no server has noticed yet`;
    const todo =
      'start the market, or see that one runs: its next heartbeat begins to read it back';
    findings.add(differs('gap_unread', 'the heartbeat', says, todo, { restored }));
  }
  const since = new Date(now.getTime() - olderDays * dayMs);
  for (const { chain, gapId, skippedAt } of await skippedReadings(db, since)) {
    const where = `gap ${gapId} chain ${chain}`;
    await attemptRow(where, findings, () => {
      const at = skippedAt?.toISOString() ?? '';
      const says = `it was not read back, by an operator's word of ${at}`;
      const todo = 'nothing; who offers a hashlock of its own again may lose by it';
      findings.add(notice('gap_skipped', where, says, todo, { at }));
    });
  }
}

function tellUnread(reading: Reading, gap: Gap | null, findings: Findings): void {
  const { gapId, chain, since, found, blocksLeft, trouble } = reading;
  const [from = '', to = ''] = [gap?.beganAt, gap?.endedAt].map((each) => each?.toISOString());
  const whole = `the time from ${from} to ${to} is missing and not read back`;
  const why = trouble === null ? '' : ` (${trouble})`;
  const says = `${whole}, so nothing is agreed: ${toldOf(reading)}${why}`;
  const todo =
    since === null
      ? 'npm run gaps -- read-days DAYS: it is longer than is read without being told to'
      : trouble === null
        ? 'wait, and see with npm run gaps -- list that it goes on'
        : 'bring its node back, or another that has those blocks (docs/backup.md)';
  const facts = { gap: gapId, chain, from, to, found, blocksLeft, trouble };
  findings.add(differs('gap_unread', `gap ${gapId} chain ${chain}`, says, todo, facts));
}

/** What a gap took from customers. */
async function tellGone(db: Tx, gap: Gap, now: Date, findings: Findings): Promise<void> {
  const { id, why, beganAt, endedAt } = gap;
  const days = why === 'silence' ? toldDays : olderDays;
  if (now.getTime() - endedAt.getTime() > days * dayMs) return;
  const { revoked, alive } = await keysAround(db, { from: beganAt, to: endedAt, now });
  const [from, to] = [beganAt.toISOString(), endedAt.toISOString()];
  const time = `the time from ${from} to ${to} is missing (${reasons[why]})`;
  const keys = `${revoked} API keys were revoked in it or for it, ${alive} of before are good`;
  const says = `${time}: nonces and open acceptances of before are void; ${keys}`;
  const todo =
    alive === 0
      ? 'nothing: customers mint new keys'
      : 'npm run gaps -- revoke-keys where a backup was restored: revoked ones may be good again';
  const facts = { gap: id, why, from, to, keysRevoked: revoked, keysAlive: alive };
  findings.add(notice('time_missing', `gap ${id}`, says, todo, facts));
}
