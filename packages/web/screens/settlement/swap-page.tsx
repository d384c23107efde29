// The screen of one swap, by an engine.

import { has } from '@parley/core/families.ts';
import type { EscrowPayment } from '@parley/sdk/settle.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Engine, SwapView } from '../../engine/types.ts';
import { useAssets } from '../../market/assets.ts';
import { useSends } from '../../market/sends.ts';
import { useLive } from '../../market/use-live.ts';
import { announce } from '../../parts/announce.ts';
import { Empty } from '../../parts/answer.tsx';
import { Clock } from '../../parts/clock.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useNow } from '../../parts/now.ts';
import { Screen } from '../../parts/screen.tsx';
import { text } from '../../texts/texts.ts';
import { Action } from './action.tsx';
import { leftWith } from './ahead.ts';
import { useWalletPayment } from './by-wallet.tsx';
import { Checks, Ended, History } from './history.tsx';
import { Fates, Legs } from './legs.tsx';
import { PaidTo } from './paid-to.tsx';
import './settlement.css';
import { type Shown, shown } from './shown.ts';
import { type Seen, sidesOf } from './situation.ts';
import { Warnings } from './warning-list.tsx';

type OnSwap = { readonly engine: Engine; readonly swap: SwapView };

type SwapPageProps = {
  readonly engine: Engine;
  readonly id: string;
  /** Whether the person wants to be told while it looks elsewhere; a saved copy tells nothing. */
  readonly tell?: React.ReactNode;
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
      <Warnings engine={engine} seen={seen} said={said} which="before" />
      <Main said={said}>
        <Relay swap={swap} said={said} />
        <Action engine={engine} seen={seen} said={said} />
        <Left swap={swap} said={said} />
      </Main>
      <Warnings engine={engine} seen={seen} said={said} which="after" />
      {swap.phase !== 'ended' && tell}
      <Fates seen={seen} said={said} listed={listed} />
      <Legs engine={engine} said={said} />
      <PaidTo engine={engine} swap={swap} said={said} />
      <Ended swap={swap} listed={listed} />
      <Checks swap={swap} />
      <History swap={swap} now={seen.now} listed={listed} />
    </Screen>
  );
}

function Main({ said, children }: { readonly said: Shown; readonly children: React.ReactNode }) {
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
function Left({ swap, said }: { readonly swap: SwapView; readonly said: Shown }) {
  const sends = useSends();
  return leftWith(swap, (chain) => sends(chain).claims).map((what) => (
    <p key={what} className="soft">
      {text(`settlement.left.${what}`, said.values)}
    </p>
  ));
}

/** The market was asked to collect, since the wallet could not pay for it. */
function Relay({ swap: { relay }, said }: { readonly swap: SwapView; readonly said: Shown }) {
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
