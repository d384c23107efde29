// Whether the market works, and what it sees of each chain. Needs no sign-in.

import { parseIsoTime } from '@parley/sdk/people.ts';
import type { MarketStatus } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lateFor, serviceStatus } from '../../market/answers.ts';
import { now as clock } from '../../market/config.ts';
import { market } from '../../market/site.ts';
import { Notice } from '../../parts/controls.tsx';
import { Answer, Screen } from '../../parts/page.tsx';
import { Clock, type Column, Table } from '../../parts/shown.tsx';
import { assetName, chainName } from '../../parts/words.ts';
import { formatDuration, localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { clockOff, lateBy, stateOf } from './verdict.ts';

type Chain = MarketStatus['chains'][number];
type Read = { readonly status: MarketStatus; readonly off: number | null };

async function read(signal: AbortSignal): Promise<Read> {
  const status = await market.status({ signal });
  // By the clock of the moment of the answer: later it would be older than the clock is wrong.
  return { status, off: clockOff(status, clock()) };
}

export function Status() {
  const answer = useQuery({
    queryKey: ['market status'],
    queryFn: ({ signal }) => read(signal),
    refetchInterval: 5_000,
  });
  return (
    <Screen title={text('status.title')}>
      <Answer of={answer}>{(found) => <Told {...found} isOld={answer.error !== null} />}</Answer>
      <Service />
      <p className="hint">
        <Link to="/help" hash="market">
          {text('status.more')}
        </Link>
      </p>
    </Screen>
  );
}

/** `isOld`: whether the market works is not known any more. */
function Told({ status, off, isOld }: Read & { readonly isOld: boolean }) {
  const { agrees, waitsFor, chains, network, at } = status;
  const named = (state: string) =>
    chains.filter((each) => stateOf(each) === state).map((each) => withDelay(each, at));
  const halted = named('halted');
  const quiet = named('quiet');
  const isFine = !isOld && agrees && halted.length === 0 && quiet.length === 0;
  return (
    <>
      {network === 'dev' && <Notice kind="info">{text('status.network.dev')}</Notice>}
      {network === 'testnet' && <Notice kind="info">{text('status.network.testnet')}</Notice>}
      {isFine && <Notice kind="good">{text('status.good')}</Notice>}
      {!agrees && (
        <Notice kind="warn" title={text('status.waits')}>
          {waitsFor.map((what) => (
            <p key={what}>{text('status.waits.for', { what })}</p>
          ))}
        </Notice>
      )}
      {halted.length > 0 && (
        <Notice kind="warn">{text('status.halted', { chains: halted.join(', ') })}</Notice>
      )}
      {quiet.length > 0 && (
        <Notice kind="warn">{text('status.quiet', { chains: quiet.join(', ') })}</Notice>
      )}
      {off !== null && <ClockWarning off={off} />}
      <h2>{text('status.chains')}</h2>
      <Table
        caption={text('status.chains')}
        columns={columns(at)}
        rows={chains}
        keyOf={({ chain }) => chain}
      />
    </>
  );
}

/** The rest beside the chains: waiting deliveries, single assets, and the version. */
function Service() {
  const { data } = useQuery({
    queryKey: ['service status'],
    queryFn: ({ signal }) => serviceStatus(signal),
    refetchInterval: 5_000,
  });
  if (data === undefined) return null;
  const assets = data.haltedAssets.map(assetName).join(', ');
  const started = localTime(parseIsoTime(data.startedAt), clock());
  return (
    <>
      {assets !== '' && <Notice kind="warn">{text('status.halted.assets', { assets })}</Notice>}
      {lateFor(data).map(([audience, seconds]) => (
        <Notice key={audience} kind="warn">
          {text(`status.behind.${audience}`, { by: formatDuration(seconds) })}
        </Notice>
      ))}
      <p className="hint">{text('status.version', { version: data.version, started })}</p>
    </>
  );
}

function ClockWarning({ off }: { off: number }) {
  const by = formatDuration(Math.abs(off));
  const key = off > 0 ? 'status.clock.ahead' : 'status.clock.behind';
  return <Notice kind="bad">{text(key, { by })}</Notice>;
}

function StateOf({ chain }: { chain: Chain }) {
  const state = stateOf(chain);
  const tones = { good: 'good-ink', quiet: 'warn-ink', unseen: 'warn-ink', halted: 'bad-ink' };
  const since =
    chain.haltedSince === null ? '' : localTime(parseIsoTime(chain.haltedSince), clock());
  return <span className={tones[state]}>{text(`status.is.${state}`, { since })}</span>;
}

/** A chain may be halted and late at once. */
function withDelay(chain: Chain, at: string): string {
  const name = chainName(chain.chain);
  const late = lateBy(chain, at);
  return late === null ? name : text('status.late', { chain: name, by: formatDuration(late) });
}

const columns = (at: string): readonly Column<Chain>[] => [
  { label: text('status.chain'), cell: ({ chain }) => chainName(chain) },
  { label: text('status.state'), cell: (chain) => <StateOf chain={chain} /> },
  {
    label: text('status.height'),
    number: true,
    cell: ({ height }) => (height === null ? text('status.never') : String(height)),
  },
  {
    label: text('status.seen'),
    number: true,
    cell: ({ seenAt }) =>
      seenAt === null ? text('status.never') : <Clock at={parseIsoTime(seenAt)} />,
  },
  {
    label: text('status.delay'),
    number: true,
    cell: (chain) => {
      const late = lateBy(chain, at);
      return late === null ? text('status.on_time') : formatDuration(late);
    },
  },
  {
    label: text('status.usual'),
    number: true,
    cell: ({ blockSeconds }) =>
      blockSeconds === null ? text('status.unknown') : formatDuration(blockSeconds),
  },
];
