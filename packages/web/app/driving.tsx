// Notices over any screen: a swap of this browser wants the person, or none goes on.

import { messageOf } from '@parley/sdk/errors.ts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Engine } from '../engine/engine.ts';
import { pageEngine } from '../engine/page.ts';
import { now } from '../market/config.ts';
import { Notice } from '../parts/controls.tsx';
import { handOver } from '../parts/page-wallets.ts';
import { type Reminder, reminderOf } from '../parts/swap/reminders.ts';
import { tell } from '../parts/tell.ts';
import { localTime } from '../texts/people.ts';
import { restOfWords, text } from '../texts/texts.ts';

/** The notice over every screen; `path` is the screen's. */
export type Over = (path: string | undefined) => ReactNode;

/** `path` is that of its swap's screen. */
type Wanted = Reminder & { readonly path: string };

const titleOf = ({ what }: Wanted) => text(`tell.${what}`);

function bodyOf({ what, at }: Wanted): string {
  if (at === null) return text(`tell.${what}.why_open`);
  return text(`tell.${what}.why`, { at: localTime(at, now()) });
}

/** The most urgent one alone. The list and the screens of the swaps say all of it by themselves. */
function Wants({ wanted, path = '' }: { wanted: readonly Wanted[]; path: string | undefined }) {
  const [first] = wanted.filter(({ what }) => what !== 'ended');
  if (first === undefined || /^\/(?:activity$|swaps\/)/.test(path)) return null;
  const go = (
    <Link className="button" to={first.path}>
      {text('tell.to_swap')}
    </Link>
  );
  return (
    <Notice kind="warn" title={titleOf(first)} action={go}>
      {bodyOf(first)}
    </Notice>
  );
}

function Stands({ error }: { error: unknown }) {
  return (
    <Notice kind="bad" title={text('tell.stands')}>
      <p lang="en">{messageOf(error)}</p>
      {text('tell.stands.again')}
    </Notice>
  );
}

/** Browsers wake a hidden page once a minute at most. */
const lookMs = 10_000;

/** Throws what the engine throws, after `show` was given what says so. */
export async function driving(show: (over: Over) => void): Promise<void> {
  await restOfWords();
  try {
    const engine = await pageEngine();
    handOver(engine.use);
    tells(engine, (wanted) => show((path) => <Wants wanted={wanted} path={path} />));
  } catch (error) {
    show(() => <Stands error={error} />);
    throw error;
  }
}

function tells(engine: Engine, show: (wanted: readonly Wanted[]) => void): void {
  const open = new Set<string>();
  let shown: string | null = null;
  const look = async () => {
    const wanted = await wantedOf(engine, open);
    // The tab that is looked at settles, so that no other one tells what is seen there.
    const isDriver = engine.swaps.driver.now().kind === 'this';
    for (const each of isDriver ? wanted : []) {
      const { key, path } = each;
      tell({ key, title: titleOf(each), body: bodyOf(each), path });
    }
    const text = JSON.stringify(wanted);
    if (text !== shown) show(wanted);
    shown = text;
  };
  let looking: Promise<void> | null = null;
  // The record may not be readable for a moment.
  const looks = () => {
    looking ??= look()
      .catch(() => {})
      .finally(() => (looking = null));
  };
  engine.swaps.all.subscribe(looks);
  setInterval(looks, lookMs);
  looks();
}

/** `open`: swaps that were seen open before, to which it adds. */
async function wantedOf({ swaps, byWallet, now }: Engine, open: Set<string>): Promise<Wanted[]> {
  const found: Wanted[] = [];
  for (const swap of swaps.all.now()) {
    const isToPay = swap.asks.some(({ kind }) => kind === 'pay_by_hand');
    const wallet = isToPay ? await byWallet.of(swap.id) : null;
    const seen = { swap, now: now(), payments: [], wallet };
    const reminder = reminderOf(seen, open.has(swap.id));
    if (swap.phase !== 'ended') open.add(swap.id);
    if (reminder !== null) found.push({ ...reminder, path: `/swaps/${swap.id}` });
  }
  return found;
}
