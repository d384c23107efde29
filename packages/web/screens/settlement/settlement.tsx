// One swap: how far it is, one thing to do, its deadlines, and everything else closed.

import { has } from '@parley/core/families.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { EscrowPayment } from '@parley/sdk/settle.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type CSSProperties, type ReactNode, use, useEffect, useState } from 'react';
import type { Engine } from '../../engine/engine.ts';
import { pageEngine } from '../../engine/page.ts';
import type { LegView, SwapView } from '../../engine/types.ts';
import { useAssets, useSends } from '../../market/answers.ts';
import { useLive } from '../../market/use-live.ts';
import { Coin } from '../../parts/coin.tsx';
import { announce, Button, Notice } from '../../parts/controls.tsx';
import { Fold } from '../../parts/fold.tsx';
import { PayoutForm, SaveRescue } from '../../parts/forms.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Empty, Screen } from '../../parts/page.tsx';
import { handOver } from '../../parts/page-wallets.ts';
import { useNow } from '../../parts/shown.tsx';
import { clockText, type Step } from '../../parts/swap/progress.ts';
import { markedAs, shown } from '../../parts/swap/shown.ts';
import {
  askOf,
  factsOf,
  gasUrgency,
  leftWith,
  type Seen,
  type Situation,
  sidesOf,
} from '../../parts/swap/situation.ts';
import {
  heldBy,
  inCoins,
  type Warning,
  type WarningKind,
  warningsOf,
} from '../../parts/swap/warnings.ts';
import { TellMeWords } from '../../parts/tell-me.tsx';
import { chainName } from '../../parts/words.ts';
import { formatDuration, localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { Action, Address, GiveUp, useWalletPayment } from './action.tsx';
import { Ended } from './ended.tsx';
import { HereContext, useHere } from './here.tsx';
import { Checks, Fates, History, Legs } from './legs.tsx';
import './settlement.css';

export function Settlement() {
  const { id } = useParams({ from: '/swaps/$id' });
  const engine = use(pageEngine());
  useEffect(() => handOver(engine.use), [engine]);
  const tell = <TellMeWords path={`/swaps/${id}`} />;
  return <SwapPage engine={engine} id={id} key={id} tell={tell} />;
}

type OnSwap = { readonly engine: Engine; readonly swap: SwapView };

type SwapPageProps = {
  engine: Engine;
  id: string;
  /** Whether the person wants to be told while it looks elsewhere; a saved copy tells nothing. */
  tell?: ReactNode;
};

export function SwapPage({ engine, id, tell }: SwapPageProps) {
  const swap = useLive(engine.swaps.all).find((each) => each.id === id);
  // Both have just accepted: the engine has yet to hear of it.
  const { isPending } = useQuery({
    queryKey: ['looked for', id],
    queryFn: async () => {
      await engine.swaps.look();
      return true;
    },
    enabled: swap === undefined,
    networkMode: 'always',
  });
  if (swap !== undefined) return <Known engine={engine} swap={swap} tell={tell} />;
  if (!isPending) return <Unknown />;
  return (
    <Screen title={text('settlement.looking.title')} narrow>
      <p role="status" className="loading">
        {text('settlement.loading')}
      </p>
    </Screen>
  );
}

function Unknown() {
  return (
    <Screen title={text('settlement.unknown.title')} narrow>
      <Empty
        action={
          <>
            <Link className="button main" to="/rescue">
              {text('settlement.unknown.restore')}
            </Link>
            <Link className="button" to="/activity">
              {text('settlement.unknown.list')}
            </Link>
          </>
        }
      >
        {text('settlement.unknown.why')}
      </Empty>
    </Screen>
  );
}

const paymentsMs = 3_000;
const none: readonly EscrowPayment[] = [];

/** The payments by hand, by the own node. Where it is silent, the last ones that were seen. */
function usePayments({ engine, swap }: OnSwap): readonly EscrowPayment[] {
  const { own } = sidesOf(swap);
  const { data } = useQuery({
    queryKey: ['payments', swap.id],
    queryFn: () => engine.swaps.payments(swap.id),
    enabled: has(own, 'coins') && (swap.isByHand || swap.isRestored),
    refetchInterval: swap.phase === 'ended' ? false : paymentsMs,
    networkMode: 'always',
  });
  return data ?? none;
}

function Known({ engine, swap, tell }: OnSwap & Pick<SwapPageProps, 'tell'>) {
  // Once a second: texts name how long it is until a deadline.
  useNow();
  const payments = usePayments({ engine, swap });
  const { data: listed = [] } = useAssets();
  const wallet = useWalletPayment(engine, swap);
  const seen: Seen = { swap, payments, wallet, now: engine.now() };
  const said = shown(seen, listed);
  useStay(said.mustStay);
  const { situation, title } = said;
  // biome-ignore lint/correctness/useExhaustiveDependencies: heard once for each situation.
  useEffect(() => announce(title), [situation]);
  const id = `${swap.id.slice(0, 4)}…${swap.id.slice(-4)}`;
  return (
    <HereContext value={{ engine, seen, said, listed, isCopy: tell === undefined }}>
      <Screen
        title={text('settlement.title', said.values)}
        heading={<Sides />}
        aside={
          <span className="chip" title={swap.id}>
            {text('settlement.id', { id })}
          </span>
        }
      >
        <div className="swap-page">
          <Steps />
          <Warnings />
          <Hero />
          <DeadlineLine />
          <Fates />
          <div className="swap-folds">
            <Checks />
            <Legs />
            <Rescue />
            <Risk />
            <PaidTo />
            <History />
            {swap.phase !== 'ended' && tell !== undefined && (
              <Fold title={text('tell.title')}>{tell}</Fold>
            )}
            <GiveUp />
          </div>
        </div>
      </Screen>
    </HereContext>
  );
}

/** `0.02 BTC → 1 299.61 USDC`, each with its mark. */
function Sides() {
  const { seen, said, listed } = useHere();
  const { own, other } = sidesOf(seen.swap);
  return (
    <span className="swap-sides">
      <span>
        <Coin asset={markedAs(own, listed)} size={28} withChain /> {said.values.gives}
      </span>
      <span className="soft" aria-hidden="true">
        →
      </span>
      <span className="unseen">{text('settlement.title.for')}</span>
      <span>
        <Coin asset={markedAs(other, listed)} size={28} withChain /> {said.values.gets}
      </span>
    </span>
  );
}

function Steps() {
  const { steps } = useHere().said;
  return (
    <ol className="swap-steps" style={{ '--count': steps.length } as CSSProperties}>
      {steps.map((step, at) => (
        <li
          key={step.is}
          className={step.state}
          aria-current={step.state === 'now' ? 'step' : undefined}
        >
          <i aria-hidden="true">{markOf(step.state, at)}</i>
          <span className="unseen">{text(`settlement.leg.state.${stateOf(step)}`)} </span>
          <span>{text(`settlement.step.${step.is}`)}</span>
        </li>
      ))}
    </ol>
  );
}

const stateOf = ({ state }: Step) => (state === 'bad' ? 'never' : state);

function markOf(state: Step['state'], at: number): ReactNode {
  if (state === 'done') return <Icon name="check" />;
  return state === 'bad' ? <Icon name="cross" /> : at + 1;
}

/** The turn and its time, one sentence, and one thing to do. */
function Hero() {
  const { seen, said } = useHere();
  const { title, tone, turn, left, situation } = said;
  const isOver = seen.swap.phase === 'ended';
  const waits = tone === 'wait' && !isOver;
  // The code, the amount and the address say it all.
  const isShownBelow = situation === 'pay' && askOf(seen.swap, 'pay_by_hand') !== null;
  return (
    <section className={`hero swap-now ${tone}`} aria-labelledby="swap-now">
      <div className="swap-head">
        <p className={tone === 'bad' ? 'eyebrow bad' : 'eyebrow'}>
          {turn}
          {left !== null && (
            <>
              {' · '}
              <strong>{left}</strong>
            </>
          )}
        </p>
        <h2 id="swap-now">{title}</h2>
        {!isShownBelow && <p className={waits ? 'swap-live' : undefined}>{said.now}</p>}
      </div>
      <Relay />
      <Action />
      {isOver ? <Ended /> : <p className="swap-next soft">{said.next}</p>}
    </section>
  );
}

function DeadlineLine() {
  const { seen, said } = useHere();
  const { line } = said;
  const sends = useSends();
  if (line === null) return seen.swap.phase === 'ended' ? null : <Away sends={sends} />;
  return (
    <section className="panel swap-line" aria-label={text('settlement.line')}>
      <div className="swap-track" aria-hidden="true">
        {line.marks.map(({ is, isPast }) => (
          <span key={is} className={isPast ? 'past' : ''} />
        ))}
        <i className="swap-mark" style={{ left: `${line.now}%` }}>
          <b style={{ translate: `-${line.now}%` }}>{text('settlement.line.now')}</b>
        </i>
      </div>
      <ol className="swap-marks">
        {line.marks.map(({ is, at, isNear, isMet }) => (
          <li key={is} className={isNear ? 'near' : undefined}>
            {isMet && <span className="good-ink">✓ </span>}
            {text(`settlement.line.${is}`)}{' '}
            <time dateTime={isoTime(at)} title={localTime(at, seen.now)}>
              {clockText(at, seen.now)}
            </time>
          </li>
        ))}
      </ol>
      <AwayWords sends={sends} />
    </section>
  );
}

type AwayProps = { sends: ReturnType<typeof useSends> };

function Away({ sends }: AwayProps) {
  return (
    <section className="panel swap-line" aria-label={text('settlement.away')}>
      <AwayWords sends={sends} />
    </section>
  );
}

/** The effect of closing the page, and the market's help for a person who is away. */
function AwayWords({ sends }: AwayProps) {
  const { seen, said } = useHere();
  const left = leftWith(seen.swap, (chain) => sends(chain).claims);
  return (
    <p className={said.mustStay ? 'warn-ink' : 'soft'}>
      <strong className="unseen">{text('settlement.away')}: </strong>
      {said.away}
      {left.map((what) => ` ${text(`settlement.left.${what}`, said.values)}`)}
    </p>
  );
}

function Risk() {
  const { seen, said } = useHere();
  if (seen.swap.phase === 'ended') return null;
  return (
    <Fold title={text('settlement.lose')}>
      <p>{said.lose}</p>
    </Fold>
  );
}

/** One press while the newest file is not saved; closed once it is. */
function Rescue() {
  const { engine, seen } = useHere();
  const file = useLive(engine.rescue.file);
  if (seen.swap.phase === 'ended' || file.swaps === 0) return null;
  const unsaved = text('settlement.rescue.unsaved');
  if (file.isSaved) {
    return (
      <Fold title={text('settlement.rescue')} value={text('settlement.rescue.saved')} tone="good">
        <p>{text('settlement.warn.rescue.why')}</p>
        <SaveRescue save={engine.rescue.save} />
      </Fold>
    );
  }
  return (
    <div className="fold swap-rescue">
      <SaveRescue save={engine.rescue.save}>
        <Icon name="file" />
        <span>
          {text('settlement.rescue.save')} <span className="value warn-ink">{unsaved}</span>
        </span>
      </SaveRescue>
    </div>
  );
}

/** The market was asked to collect, since the wallet could not pay for it. */
function Relay() {
  const { seen, said } = useHere();
  const { relay } = seen.swap;
  const isDue = said.situation === 'collect' || said.situation === 'collecting';
  if (!isDue || !relay || relay.refused !== null) return null;
  return (
    <Notice kind="info" title={text('settlement.relay')}>
      {text('settlement.relay.why', said.values)}
    </Notice>
  );
}

/** Asks before the page is left, by the browser's own words. */
function useStay(mustStay: boolean): void {
  useEffect(() => {
    if (!mustStay) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [mustStay]);
}

/** A leg that is collected or received is refunded no more. */
const isPaid: readonly Situation[] = ['collecting', 'received'];

/** While nothing of it is signed: the own leg's refund, or the other leg's claim. */
function openLeg(swap: SwapView, situation: Situation): LegView | null {
  const { own, other } = sidesOf(swap);
  const leg = [own, other].find(({ family }) => has(family, 'coins'));
  if (leg === undefined || swap.phase === 'ended' || isPaid.includes(situation)) return null;
  const { claimed, refunded } = factsOf(leg);
  return claimed === null && refunded === null ? leg : null;
}

function PaidTo() {
  const { engine, seen, said } = useHere();
  const { swap } = seen;
  const leg = openLeg(swap, said.situation);
  const [isOpen, setOpen] = useState(false);
  // A swap that was brought back has no known address: the one thing to do asks for it.
  const isAsked = askOf(swap, 'name_payout') !== null;
  if (leg === null || isAsked || said.situation === 'starting') return null;
  const isRefund = leg.leg === swap.gives;
  const keep = async (address: string) => {
    await engine.swaps.payTo(swap.id, address);
    setOpen(false);
  };
  return (
    <Fold title={text(isRefund ? 'settlement.payto.refund' : 'settlement.payto')}>
      <p>
        <Address value={leg.ownAddress} />
      </p>
      {isOpen ? (
        <PayoutForm keep={keep} leave={() => setOpen(false)} />
      ) : (
        <Button onPress={() => setOpen(true)}>{text('settlement.payto.change')}</Button>
      )}
    </Fold>
  );
}

/** The most dangerous one is displayed; the rest are a press away. */
function Warnings() {
  const { engine, seen } = useHere();
  const { swaps, health: live, vault, rescue } = engine;
  const driver = useLive(swaps.driver);
  const health = useLive(live);
  const { kind: kept } = useLive(vault.state);
  const file = useLive(rescue.file);
  const isOtherTab = driver.kind === 'other';
  const all = warningsOf({ ...seen, isOtherTab, health, vault: kept, rescue: file });
  // The row of the file says that it is not saved.
  const [first, ...more] = all.filter(({ kind }) => kind !== 'rescue');
  if (first === undefined) return null;
  const isLarge = first.weight !== 'info';
  const folded = isLarge ? more : [first, ...more];
  const count = { count: folded.length };
  return (
    <div className="swap-notes">
      {isLarge && <Note warning={first} />}
      {folded.length > 0 && (
        <details className="swap-more">
          <summary>{text(isLarge ? 'settlement.notes.more' : 'settlement.notes', count)}</summary>
          {folded.map((each) => (
            <Note key={each.kind} warning={each} />
          ))}
        </details>
      )}
    </div>
  );
}

function Note({ warning: { kind, weight, sentence } }: { warning: Warning }) {
  const { engine, seen, said, listed } = useHere();
  const health = useLive(engine.health);
  const short = seen.swap.problems.find((each) => each.kind === 'gas');
  const { chain: gasChain } = seen.swap.legs[short?.leg ?? seen.swap.gives];
  const coin = listed.find(({ chain, address }) => chain === gasChain && address === null);
  const { refused } = seen.swap.relay ?? {};
  const isOfGas = short?.code === 'claim_unpayable';
  const values = {
    ...said.values,
    off: formatDuration(Math.abs(health.clockOffSeconds ?? 0)),
    chain: chainName(sidesOf(seen.swap).own.chain),
    gasChain: chainName(gasChain),
    held: text(`settlement.warn.held.${heldBy(seen.swap)}`),
  };
  const told = (it: string) => (coin === undefined ? it : inCoins(it, coin.symbol));
  return (
    <Notice
      kind={weight}
      title={text(
        kind === 'gas' && !isOfGas ? 'settlement.warn.gas.cannot' : `settlement.warn.${kind}`,
        values,
      )}
      action={<What kind={kind} />}
    >
      {kind === 'gas'
        ? text(`settlement.warn.gas.${gasUrgency(seen.swap)}`, values)
        : text(`settlement.warn.${kind}.why`, values)}
      {kind === 'gas' && typeof refused === 'string' && (
        <p>{text('settlement.warn.gas.refused', { why: refused })}</p>
      )}
      {sentence !== null && (
        <details className="swap-raw" open={kind === 'gas'}>
          <summary>{text('settlement.details')}</summary>
          <p lang="en">{told(sentence)}</p>
        </details>
      )}
    </Notice>
  );
}

function What({ kind }: { kind: WarningKind }) {
  const { engine } = useHere();
  switch (kind) {
    case 'other_tab':
      return <TakeOver />;
    case 'phrase':
      return (
        <Link className="button" to="/phrase">
          {text('settlement.warn.phrase.go')}
        </Link>
      );
    case 'node':
    case 'chain_stands':
    case 'nodes_disagree':
    case 'answer_refused':
    case 'node_ahead':
    case 'node_behind':
    case 'node_silent':
      return (
        <Link className="button" to="/settings">
          {text('settlement.warn.node.go')}
        </Link>
      );
    case 'rescue':
    case 'private':
    case 'unpromised':
    case 'store':
      return <SaveRescue save={engine.rescue.save} />;
    default:
      return null;
  }
}

function TakeOver() {
  const { engine } = useHere();
  const [isBusy, setBusy] = useState<'asking' | 'refused' | null>(null);
  const { driver } = engine.swaps;
  const now = useLive(driver);
  const isSilent = now.kind === 'other' && now.isSilent;
  const why = isSilent ? 'silent' : isBusy === 'refused' ? 'busy' : null;
  const take = async () => {
    setBusy('asking');
    setBusy((await engine.swaps.takeOver()) ? null : 'refused');
  };
  return (
    <Button
      busy={isBusy === 'asking'}
      blocked={why === null ? null : text(`settlement.warn.other_tab.${why}`)}
      onPress={() => void take()}
    >
      {text('settlement.warn.other_tab.go')}
    </Button>
  );
}
