// Whether the market works, and what it sees of each chain. Needs no sign-in.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { isoTime, parseIsoTime } from '@parley/sdk/people.ts';
import type { MarketStatus } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { lateFor, useServiceStatus } from '../../market/answers.ts';
import { now as clock } from '../../market/config.ts';
import { market } from '../../market/site.ts';
import { ChainMark } from '../../parts/coin.tsx';
import { Notice } from '../../parts/controls.tsx';
import { Answer, Screen } from '../../parts/page.tsx';
import { useNow } from '../../parts/shown.tsx';
import { assetName, chainName } from '../../parts/words.ts';
import { formatDuration, fromNow, localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { clockOff, lateBy, stateOf } from './verdict.ts';
import './status.css';

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
      {isFine && <Works chains={chains} />}
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
      <ul className="chain-cards">
        {chains.map((each) => (
          <li key={each.chain}>
            <ChainCard chain={each} at={at} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Works({ chains }: { chains: readonly Chain[] }) {
  const live = chains.filter((each) => stateOf(each) === 'good').length;
  return (
    <div className="hero market-works">
      <p className="eyebrow">{text('status.live', { count: live })}</p>
      <h2>{text('status.good')}</h2>
      <p className="soft">{text('status.good.why')}</p>
    </div>
  );
}

function ChainCard({ chain, at }: { chain: Chain; at: string }) {
  const { height, seenAt, blockSeconds } = chain;
  const late = lateBy(chain, at);
  const never = text('status.never');
  return (
    <article className="panel chain-card">
      <header>
        <ChainMark chain={chain.chain} size={28} />
        <h3>{chainName(chain.chain)}</h3>
        <StateOf chain={chain} />
      </header>
      <dl>
        <Fact name={text('status.height')}>{height ?? never}</Fact>
        <Fact name={text('status.seen')}>
          {seenAt === null ? never : <Ago at={parseIsoTime(seenAt)} />}
        </Fact>
        <Fact name={text('status.usual')}>
          {blockSeconds === null ? text('status.unknown') : formatDuration(blockSeconds)}
        </Fact>
        {late !== null && (
          <Fact name={text('status.delay')}>
            <span className="warn-ink">{formatDuration(late)}</span>
          </Fact>
        )}
      </dl>
    </article>
  );
}

/** A block of seconds ago is better read so than by its hour. */
function Ago({ at }: { at: UnixSeconds }) {
  const now = useNow();
  return <time dateTime={isoTime(at)}>{fromNow(Math.min(at, now), now)}</time>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The rest beside the chains: waiting deliveries, single assets, and the version. */
function Service() {
  const { data } = useServiceStatus();
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

const tones = { good: 'good', quiet: 'warn', unseen: 'warn', halted: 'bad' } as const;

function StateOf({ chain }: { chain: Chain }) {
  const state = stateOf(chain);
  const { haltedSince } = chain;
  const since = haltedSince === null ? '' : localTime(parseIsoTime(haltedSince), clock());
  return <span className={`chip ${tones[state]}`}>{text(`status.is.${state}`, { since })}</span>;
}

/** A chain may be halted and late at once. */
function withDelay(chain: Chain, at: string): string {
  const name = chainName(chain.chain);
  const late = lateBy(chain, at);
  return late === null ? name : text('status.late', { chain: name, by: formatDuration(late) });
}
