// The verdict, and what the doctor found: the most dangerous first, each with what to do.

import { swapStatuses } from '@parley/core/status.ts';
import type { Finding } from '../doctor/findings.ts';
import { type Look, mostSwaps } from './checkup.ts';
import { commandFor } from './mends.ts';
import { command, figure } from './parts.ts';
import { sign } from './pictures.ts';
import type { Seen } from './read.ts';
import { grouped, html, type Markup, plural, span } from './words.ts';

/** The rest is counted: the command lists all. */
const mostShown = 20;
const order = ['danger', 'differs', 'unseen', 'notice'] as const;
const tones = { danger: 'bad', differs: 'bad', unseen: 'warn', notice: 'warn' } as const;
const names = {
  danger: 'Danger',
  differs: 'To do',
  unseen: 'Not seen',
  notice: 'Notice',
} as const;

export type Verdict = { readonly tone: 'good' | 'warn' | 'bad'; readonly says: string };

/** The worst thing first. */
export function verdictOf({ figures, stored, look }: Seen): Verdict {
  const isUp = figures.one('database_up')?.value === 1 && stored !== null;
  if (!isUp) return { tone: 'bad', says: 'The database does not answer' };
  const overdue = figures.sum('market_overdue_steps').value;
  if (overdue > 0)
    return { tone: 'bad', says: `${plural(overdue, 'step is', 'steps are')} overdue` };
  if (figures.one('market_agrees')?.value === 0) {
    return { tone: 'bad', says: 'No swap is agreed: time is missing' };
  }
  const todo = (look?.findings ?? []).filter(({ severity }) => severity !== 'notice');
  if (todo.length > 0) {
    const isBad = todo.some(({ severity }) => severity !== 'unseen');
    return {
      tone: isBad ? 'bad' : 'warn',
      says: plural(todo.length, 'thing to do', 'things to do'),
    };
  }
  if (look === null) return { tone: 'warn', says: 'The doctor is looking' };
  return { tone: 'good', says: 'All well' };
}

export function doctorCard(seen: Seen): Markup {
  const { tone, says } = verdictOf(seen);
  const { figures, look } = seen;
  const open = figures.sum('market_swaps');
  const makers = figures.one('feed_makers');
  const counts = [
    html`<li><b>${figure(open, grouped)}</b> open ${open.value === 1 ? 'swap' : 'swaps'}</li>`,
    ...statusesOf(seen).map((status) => {
      const words = status.replaceAll('_', ' ');
      return html`<li><b>${figure(figures.sum('market_swaps', { status }), grouped)}</b> ${words}</li>`;
    }),
    html`<li><b>${figure(makers, grouped)}</b> ${makers?.value === 1 ? 'maker' : 'makers'} on the feed</li>`,
  ];
  return html`<section class="card hero" aria-labelledby="verdict">
<div class="verdict">${sign(tone)}<div><h1 id="verdict" data-tone="${tone}">${says}</h1><p class="dim">${lookShown(look, seen.wallMs)}</p></div></div>
<ul class="counts">${counts}</ul>
${findingsShown(look)}
</section>`;
}

/** The statuses of open swaps, in the order of a swap's life. */
function statusesOf({ figures }: Seen): readonly string[] {
  const open = figures.all('market_swaps').map(({ labels }) => labels.status);
  return swapStatuses.filter((status) => open.includes(status));
}

function lookShown(look: Look | null, wallMs: number): string {
  if (look === null) return 'The first look takes some seconds, and then shows here.';
  const ago = span((wallMs - look.endedAtMs) / 1_000);
  const swaps =
    look.swaps < mostSwaps.open
      ? `all ${plural(look.swaps, 'open swap')}`
      : `the oldest ${plural(look.swaps, 'open swap')}`;
  const asked = `asked ${plural(look.nodes, 'node')} and compared ${swaps} with the chains`;
  return `The doctor looked ${ago} ago: it ${asked}. It looks every ${span(look.againMs / 1_000)} while this page is open.`;
}

function findingsShown(look: Look | null): Markup | null {
  if (look === null || look.findings.length === 0) return null;
  const sorted = order.flatMap((severity) =>
    look.findings.filter((each) => each.severity === severity),
  );
  const left = sorted.length - mostShown + look.untold;
  const more =
    left <= 0
      ? null
      : html`<p class="dim">${plural(left, 'more')}: ${command('npm run ops -- doctor')}</p>`;
  return html`<ul class="findings">${sorted.slice(0, mostShown).map(findingShown)}</ul>${more}`;
}

function findingShown(finding: Finding): Markup {
  const { severity, what, where, says, todo } = finding;
  const does = commandFor(finding);
  return html`<li class="${tones[severity]}" data-what="${what}"><p><b class="tag">${names[severity]}</b> <span class="where">${where}</span></p><p class="says">${says}</p><p class="todo">${todo}</p>${does === null ? null : html`<p>${command(does)}</p>`}</li>`;
}
