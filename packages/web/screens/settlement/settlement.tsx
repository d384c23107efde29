// One swap: its current step, the next one, until when one may be away, and one thing to do.

import { has } from '@parley/core/families.ts';
import type { EscrowPayment } from '@parley/sdk/settle.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { use, useEffect, useState } from 'react';
import type { Engine } from '../../engine/engine.ts';
import { pageEngine } from '../../engine/page.ts';
import type { LegView, SwapView } from '../../engine/types.ts';
import { useAssets, useSends } from '../../market/answers.ts';
import { useLive } from '../../market/use-live.ts';
import { announce, Button, Notice, Panel } from '../../parts/controls.tsx';
import { PayoutForm, SaveRescue } from '../../parts/forms.tsx';
import { Empty, Screen } from '../../parts/page.tsx';
import { handOver } from '../../parts/page-wallets.ts';
import { Clock, useNow } from '../../parts/shown.tsx';
import { TellMe } from '../../parts/tell-me.tsx';
import { chainName } from '../../parts/words.ts';
import { formatDuration } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { Action, GiveUp, useWalletPayment } from './action.tsx';
import { HereContext, useHere } from './here.tsx';
import { Checks, Ended, Fates, History, Legs } from './legs.tsx';
import { shown } from './shown.ts';
import {
  askOf,
  factsOf,
  gasUrgency,
  leftWith,
  type Seen,
  type Situation,
  sidesOf,
} from './situation.ts';
import { heldBy, inCoins, type WarningKind, warningsOf } from './warnings.ts';
import './settlement.css';

export function Settlement() {
  const { id } = useParams({ from: '/swaps/$id' });
  const engine = use(pageEngine());
  useEffect(() => handOver(engine.use), [engine]);
  const tell = <TellMe path={`/swaps/${id}`} />;
  return <SwapPage engine={engine} id={id} key={id} tell={tell} />;
}

type OnSwap = { readonly engine: Engine; readonly swap: SwapView };

type SwapPageProps = {
  engine: Engine;
  id: string;
  /** Whether the person wants to be told while it looks elsewhere; a saved copy tells nothing. */
  tell?: React.ReactNode;
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
            <Link className="button" to="/swaps">
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
  return (
    <Screen
      title={text('settlement.title', said.values)}
      aside={<span className="soft">{text('settlement.id', { id: swap.id.slice(0, 8) })}</span>}
    >
      <HereContext value={{ engine, seen, said, listed }}>
        <Warnings which="before" />
        <Main>
          <Relay />
          <Action />
          <Left />
        </Main>
        <Warnings which="after" />
        {swap.phase !== 'ended' && tell}
        <Fates />
        <Legs />
        <PaidTo />
        <Ended />
        <Checks />
        <History />
        <GiveUp />
      </HereContext>
    </Screen>
  );
}

function Main({ children }: { children: React.ReactNode }) {
  const { said } = useHere();
  const { title, tone, clock } = said;
  return (
    <section className={`panel swap-now ${tone}`} aria-labelledby="swap-now">
      <h2 id="swap-now">{title}</h2>
      {clock !== null && (
        <p className="swap-clock">
          <span className="soft">{text(`settlement.${clock.is}`)}</span> <Clock at={clock.at} />
        </p>
      )}
      <p>{said.now}</p>
      {children}
      <dl className="swap-words">
        {(['next', 'away', 'lose'] as const).map((part) => (
          <div key={part}>
            <dt>{text(`settlement.${part}`)}</dt>
            <dd>{said[part]}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The market's help for a person who is away. */
function Left() {
  const { seen, said } = useHere();
  const sends = useSends();
  return leftWith(seen.swap, (chain) => sends(chain).claims).map((what) => (
    <p key={what} className="soft">
      {text(`settlement.left.${what}`, said.values)}
    </p>
  ));
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
  // A swap that was brought back has no known address, and it is not read before it has one.
  const isAsked = askOf(swap, 'name_payout') !== null;
  if (leg === null || (said.situation === 'starting' && !isAsked)) return null;
  const key = leg.leg === swap.gives ? 'settlement.payto.refund' : 'settlement.payto';
  const keep = async (address: string) => {
    await engine.swaps.payTo(swap.id, address);
    setOpen(false);
  };
  return (
    <Panel title={text(key)}>
      {!isAsked && (
        <p>
          <code className="swap-address">{leg.ownAddress}</code>
        </p>
      )}
      {isAsked && <PayoutForm keep={keep} />}
      {!isAsked && isOpen && <PayoutForm keep={keep} leave={() => setOpen(false)} />}
      {!isAsked && !isOpen && (
        <Button onPress={() => setOpen(true)}>{text('settlement.payto.change')}</Button>
      )}
    </Panel>
  );
}

type WarningsProps = {
  /** Warnings that cost something stand above the action, and the rest below it. */
  which: 'before' | 'after';
};

function Warnings({ which }: WarningsProps) {
  const { engine, seen, said } = useHere();
  const { data: assets = [] } = useAssets();
  const { swaps, health: live, vault, rescue } = engine;
  const driver = useLive(swaps.driver);
  const health = useLive(live);
  const { kind: kept } = useLive(vault.state);
  const file = useLive(rescue.file);
  const isOtherTab = driver.kind === 'other';
  const all = warningsOf({ ...seen, isOtherTab, health, vault: kept, rescue: file });
  const found = all.filter(({ weight }) => (weight === 'info') === (which === 'after'));
  const short = seen.swap.problems.find((each) => each.kind === 'gas');
  const { chain: gasChain } = seen.swap.legs[short?.leg ?? seen.swap.gives];
  const coin = assets.find(({ chain, address }) => chain === gasChain && address === null);
  const { refused } = seen.swap.relay ?? {};
  const isOfGas = short?.code === 'claim_unpayable';
  const values = {
    ...said.values,
    off: formatDuration(Math.abs(health.clockOffSeconds ?? 0)),
    chain: chainName(sidesOf(seen.swap).own.chain),
    gasChain: chainName(gasChain),
    held: text(`settlement.warn.held.${heldBy(seen.swap)}`),
  };
  const told = (said: string) => (coin === undefined ? said : inCoins(said, coin.symbol));
  return found.map(({ kind, weight, sentence }) => (
    <Notice
      key={kind}
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
      {sentence !== null && kind === 'gas' && <p className="swap-told">{told(sentence)}</p>}
      {sentence !== null && kind !== 'gas' && (
        <details className="swap-told">{told(sentence)}</details>
      )}
    </Notice>
  ));
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
