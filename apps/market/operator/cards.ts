// The cards of the operator's page on chains, gas, work that waits, requests and the process.

import type { Waits } from '../db/doctor.ts';
import { waits } from '../doctor/house.ts';
import { type GasKey, gasKeys } from './gas.ts';
import { card, command, figure, noDatabase } from './parts.ts';
import { bar, minutesChart, sign } from './pictures.ts';
import { coinsOf, type Seen } from './read.ts';
import { lastWhole, type Minute, sumOf } from './traffic.ts';
import { coins, grouped, html, type Markup, plural, span, symbolShown } from './words.ts';

/** Rows of one gas key or chain that a card shows. */
const mostRows = 40;

export function chainsCard(seen: Seen): Markup {
  const { chains } = seen;
  const rows = chains.slice(0, mostRows).map(({ chain }) => chainRow(chain, seen));
  const live = chains.filter(({ chain }) => faultsOf(chain, seen).length === 0).length;
  const inside = html`<ul class="rows">${rows}</ul>`;
  return card('chains', 'Chains', `${live} of ${plural(chains.length, 'chain')} live`, inside);
}

/** The faults of a chain, a few words each. */
export function faultsOf(chain: string, { figures, stored }: Seen): readonly string[] {
  const is = (name: string, value: number) => figures.one(name, { chain })?.value === value;
  const age = figures.one('market_chain_head_age_seconds', { chain })?.value;
  const expected = figures.one('market_chain_head_expected_seconds', { chain })?.value ?? 0;
  const nodes = figures.all('node_up').filter(({ labels }) => labels.chain === chain);
  const silent = nodes.filter(({ value }) => value === 0).length;
  const ill = figures
    .all('node_fault')
    .filter(({ labels, value }) => labels.chain === chain && value === 1)
    .map(({ labels }) => `node ${labels.node} ${nodeFaults[labels.fault ?? ''] ?? labels.fault}`);
  const halt = stored?.halts.find((each) => each.chain === chain);
  return [
    ...(halt === undefined ? [] : [`halted: ${halt.reason}`]),
    ...(halt === undefined && is('chain_halted', 1) ? ['halted'] : []),
    ...(age === undefined ? ['no block seen yet'] : []),
    ...(age !== undefined && age > expected ? [`no new block for ${span(age)}`] : []),
    ...(silent > 0 ? [`${plural(silent, 'node')} of ${nodes.length} silent`] : []),
    ...ill,
    ...(is('chain_nodes_disagree', 1) ? ['nodes show different blocks'] : []),
  ];
}

const nodeFaults: Readonly<Record<string, string>> = {
  behind: 'is behind',
  clock: 'has a wrong clock',
  wrong: 'is of another chain',
};

function chainRow(chain: string, seen: Seen): Markup {
  const { figures } = seen;
  const faults = faultsOf(chain, seen);
  const age = figures.one('market_chain_head_age_seconds', { chain });
  const expected = figures.one('market_chain_head_expected_seconds', { chain });
  const behind = figures.one('follow_behind_seconds', { chain });
  const nodes = figures.all('node_up').filter(({ labels }) => labels.chain === chain);
  const up = nodes.filter(({ value }) => value === 1).length;
  const share = age === null || expected === null ? 0 : age.value / expected.value;
  const tone = share >= 1 ? 'bad' : share > 0.6 ? 'warn' : 'good';
  const said = faults.length === 0 ? null : html`<p class="bad-text">${faults.join(' · ')}</p>`;
  const newest = age === null ? 'no block yet' : html`newest block ${figure(age, span)} ago`;
  const asked =
    nodes.length === 0 ? 'nodes not asked yet' : `${up} of ${plural(nodes.length, 'node')}`;
  return html`<li>
<div class="line">${sign(faults.length === 0 ? 'good' : 'bad')}<b class="mono">${chain}</b><span class="end">block <b>${figure(figures.one('chain_height', { chain }), grouped)}</b></span></div>
${bar(share, { tone })}
<p class="line dim"><span>${newest}, next within ${figure(expected, span)}</span><span class="end">${behind === null ? 'another process follows · ' : html`reconciled ${figure(behind, span)} ago · `}${asked}</span></p>${said}</li>`;
}

export function gasCard(seen: Seen): Markup {
  const { figures, stored, isKeeperApart } = seen;
  const keys = gasKeys(figures, coinsOf(seen), stored?.gas ?? []);
  const low = keys.filter(({ isLow }) => isLow).length;
  const note = low === 0 ? plural(keys.length, 'key') : `${plural(low, 'key')} low`;
  if (keys.length > 0) {
    const rows = keys.slice(0, mostRows).map((each) => gasRow(each, seen));
    return card('gas', 'Gas keys', note, html`<ul class="rows">${rows}</ul>`);
  }
  const why = isKeeperApart
    ? html`A watchtower of its own has the gas keys. Its page, at its own <code>PARLEY_METRICS_PORT</code>, shows them.`
    : html`This process has read the balance of no gas key yet.`;
  return card(
    'gas',
    'Gas keys',
    '',
    html`<p class="dim">${why}</p>${command('npm run ops -- keeper')}`,
  );
}

function gasRow(key: GasKey, { figures }: Seen): Markup {
  const { chain, coin, balance, reserved, low, spentToday, dailyCap, enoughFor, isLow, jobs } = key;
  const unit = symbolShown(coin.symbol);
  const whole = (units: bigint) => `${coins(units, coin.decimals)} ${unit}`;
  const amount = (name: string, units: bigint) => {
    return figure(figures.one(name, { chain }), () => whole(units));
  };
  const most = Math.max(Number(balance), 2 * Number(low), 1);
  const picture = bar(Number(balance - reserved) / most, {
    soft: Number(reserved) / most,
    mark: Number(low) / most,
    tone: isLow ? 'bad' : 'accent',
  });
  const enough =
    enoughFor === null
      ? 'no transaction yet to reckon by'
      : `enough for about ${grouped(enoughFor.toString())} transactions`;
  const open = jobs === 0 ? '' : ` · ${plural(jobs, 'job')} open`;
  return html`<li>
<div class="line"><b class="mono">${chain}</b><span class="end"><b>${amount('keeper_balance', balance)}</b></span></div>
${picture}
<p class="line dim"><span class="${isLow ? 'bad-text' : ''}">${isLow ? 'low: ' : ''}${enough}${open}</span><span class="end">warns below ${amount('keeper_low_balance', low)}</span></p>
<p class="line dim"><span>today ${amount('keeper_spent_today', spentToday)} of ${amount('keeper_daily_cap', dailyCap)}</span><span class="end">reserved ${amount('keeper_reserved', reserved)}</span></p></li>`;
}

const waitingNames: Readonly<Record<Waits, string>> = {
  events: 'Events for webhooks',
  feed: 'Events for the maker feed',
  people: 'Events for people',
  deliveries: 'Deliveries to webhooks',
  messages: 'Messages to people',
  keeper: 'Gas transactions',
  refunds: 'Signed claims and refunds',
  candidates: 'Tokens to check first',
  tokens: 'Tokens to check again',
  launchpads: 'Launchpads to read',
};

export function waitingCard({ figures, stored }: Seen): Markup {
  if (stored === null) return card('waiting', 'Waiting to be done', '', noDatabase);
  const total = stored.waiting.reduce((sum, { count }) => sum + count, 0);
  const rows = (Object.keys(waitingNames) as Waits[]).map((of) => {
    const found = stored.waiting.find((each) => each.of === of);
    const { count, oldest } = found ?? { count: 0, oldest: 0 };
    const [, most] = waits[of];
    const tone = oldest > most ? 'bad' : oldest > most / 2 ? 'warn' : 'accent';
    const age = count === 0 ? null : html`<span class="dim">oldest ${span(oldest)}</span>`;
    return html`<li class="short"><div class="line"><span>${waitingNames[of]}</span><span class="end">${age} <b data-waits="${of}">${grouped(count)}</b></span></div>${count === 0 ? null : bar(oldest / most, { tone })}</li>`;
  });
  const failing = figures.one('market_webhooks_failing');
  const line =
    failing === null || failing.value === 0
      ? null
      : html`<p class="warn-text"><b>${figure(failing, grouped)}</b> ${failing.value === 1 ? 'webhook takes' : 'webhooks take'} no delivery, of ${figure(figures.one('market_webhook_accounts_failing'), grouped)} accounts, for up to ${figure(figures.one('market_webhooks_failing_oldest_seconds'), span)}. ${command('npm run ops -- webhooks list')}</p>`;
  const note = total === 0 ? 'nothing is due' : `${grouped(total)} due now`;
  return card('waiting', 'Waiting to be done', note, html`<ul class="rows">${rows}</ul>${line}`);
}

export function requestsCard({ figures, traffic }: Seen): Markup {
  if (traffic === null) {
    const none = html`<p class="dim">This process answers no requests.</p>`;
    return card('requests', 'Requests', '', none);
  }
  const now = lastWhole(traffic);
  const refusals = figures
    .all('http_refusals_total')
    .toSorted((one, other) => other.value - one.value)
    .slice(0, 4);
  const codes = refusals.map(({ labels: { code = '' } }) => {
    const counted = figures.one('http_refusals_total', { code });
    return html`<li class="short"><div class="line"><span class="mono">${code}</span><span class="end">${figure(counted, grouped)}</span></div></li>`;
  });
  const since = html`${figure(figures.sum('http_requests_total'), grouped)} since the start`;
  const inside = html`<dl class="numbers">${number('a minute', sumOf(now), '')}${number('refused', now.refused, '')}${number('our errors', now.failed, now.failed > 0 ? 'bad-text' : '')}</dl>
${minutesChart(traffic)}
<p class="line between dim"><span>30 minutes ago</span><span class="end">now</span></p>
<p class="dim">The busiest minute had ${plural(busiest(traffic), 'request')}.</p>
${codes.length === 0 ? null : html`<h3>Most refused since the start</h3><ul class="rows">${codes}</ul>`}`;
  return card('requests', 'Requests in the last minute', since, inside);
}

const busiest = (minutes: readonly Minute[]) => Math.max(...minutes.map(sumOf));

const number = (name: string, value: number, tone: string) =>
  html`<div><dt>${name}</dt><dd class="${tone}">${grouped(value)}</dd></div>`;

export function processCard({ figures, version, wallMs }: Seen): Markup {
  const started = figures.one('process_start_time_seconds');
  const late = figures.all('pass_late_seconds').map(({ labels: { service = '' } }) => {
    return html`<p class="bad-text">${service} is late by ${figure(figures.one('pass_late_seconds', { service }), span)}</p>`;
  });
  const facts: [string, Markup][] = [
    ['Version', html`${version}`],
    ['Runs for', figure(started, (at) => span(wallMs / 1_000 - at))],
    ['Memory', figure(figures.one('process_resident_memory_bytes'), mebibytes)],
    [
      'Event loop, slowest 1 %',
      figure(figures.one('nodejs_eventloop_lag_p99_seconds'), milliseconds),
    ],
    [
      'Database connections',
      html`${figure(figures.one('market_database_connections'), grouped)} of ${figure(figures.one('market_database_connections_max'), grouped)}`,
    ],
    ['Reading the figures', figure(figures.one('figures_seconds'), milliseconds)],
  ];
  const inside = html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>${late}`;
  return card('process', 'This process', '', inside);
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
const milliseconds = (seconds: number) => `${Math.round(seconds * 1_000)} ms`;
