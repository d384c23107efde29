// The acceptance, which is final: four lines that one has to read, what is missing before it, the
// person's confirmations, and one button. Everything else unfolds (unfolded.tsx).

import { has } from '@parley/core/families.ts';
import { messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import { defaultAcceptTtlSeconds as acceptSeconds } from '@parley/sdk/trade.ts';
import type { Asset, Thread } from '@parley/sdk/types.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { createPortal } from 'react-dom';
import type { Engine } from '../../engine/engine.ts';
import { type Deal as DealOfEngine, EngineError } from '../../engine/types.ts';
import { config, now } from '../../market/config.ts';
import type { Standing } from '../../market/prices.ts';
import { useMe, usePayouts } from '../../market/session.ts';
import { queries } from '../../market/site.ts';
import { useLive } from '../../market/use-live.ts';
import { AddressField, isAddress } from '../../parts/address-field.tsx';
import { Button, Notice, Select } from '../../parts/controls.tsx';
import { useEngine } from '../../parts/engine.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Answer, Failed, Loading } from '../../parts/page.tsx';
import { isConnected } from '../../parts/page-wallets.ts';
import { PhrasePanel } from '../../parts/phrase-panel.tsx';
import { useBitcoinSigner, Vouched } from '../../parts/vouch.tsx';
import { assetAmountText, chainName, shortAddress } from '../../parts/words.ts';
import { localTime, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { Lines } from './lines.tsx';
import {
  type AddressNeed,
  chosenAddress,
  confirmationsOf,
  type DealProps,
  type FirstStep,
  lookOf,
  lostTo,
  needsOf,
  type Obstacle,
  obstacleOf,
  ownTimes,
  type Reference,
  type Terms,
  termsOf,
  unsureOf,
} from './terms.ts';
import { type Choices, Unfolded } from './unfolded.tsx';

export type AcceptanceProps = DealProps & {
  terms: Terms;
  reference: Reference | null;
  standing: Standing;
  /** All that the person has read; other terms are read anew first. null: nothing yet. */
  read: string | null;
  onRead: (look: string) => void;
  /** The negotiation as the person's own price makes it: of that it need not be told. */
  named: Thread | null;
  /** Where the button is drawn: below rows that stay as they are while this changes. */
  bar: HTMLElement | null;
};

export function Acceptance(props: AcceptanceProps) {
  const engine = useEngine();
  if (engine.data !== undefined) return <Opened {...props} engine={engine.data} />;
  return (
    <>
      <Lines {...props} addresses={{}} own={null} />
      <Answer of={engine}>{() => null}</Answer>
    </>
  );
}

type WithEngine = AcceptanceProps & { readonly engine: Engine };

function Opened(props: WithEngine) {
  const { engine } = props;
  const { kind } = useLive(engine.vault.state);
  // The panel of the phrase had the focus, and goes with its last press.
  const [hasKept] = useState(kind !== 'checked');
  if (kind === 'checked') return <WithAddresses {...props} isNext={hasKept} />;
  return (
    <>
      <Lines {...props} addresses={{}} own={null} />
      <div id={firstId}>
        <PhrasePanel engine={engine} />
      </div>
      <Bar {...props} obstacle="deal.first.phrase" busy={false} go={() => {}} />
    </>
  );
}

type Chosen = Readonly<Record<string, string>>;

function WithAddresses(props: WithEngine & Pick<AcceptingProps, 'isNext'>) {
  const { engine, terms } = props;
  const chains = useLive(engine.nodes.chains);
  const signer = useBitcoinSigner(engine);
  const payouts = usePayouts();
  const me = useMe();
  const known = signer.data &&
    payouts.data &&
    me.data && {
      ownKey: signer.data.address,
      payouts: payouts.data.payouts,
      wallets: me.data.wallets,
    };
  const refetch = () => void [signer, payouts, me].map((each) => each.refetch());
  const error = signer.error ?? payouts.error ?? me.error;
  if (known === undefined) {
    return (
      <>
        <Lines {...props} addresses={{}} own={null} />
        {error === null ? <Loading /> : <Failed error={error} again={refetch} />}
      </>
    );
  }
  const families = new Map(chains.map(({ chain, family }) => [chain, family]));
  const needs = needsOf(terms, { families, isHeld: isConnected, ...known });
  if (needs === null) return <Notice kind="bad">{text('deal.unknown_chain')}</Notice>;
  const isBitcoin = needs.some(({ family }) => has(family, 'coins'));
  const paid = known.payouts.find(({ family }) => has(family, 'coins'));
  const isVouched = !isBitcoin || paid?.receives.includes(known.ownKey) === true;
  return <Accepting {...props} needs={needs} isBitcoin={isBitcoin} isVouched={isVouched} />;
}

function pinned({ id, chain, address, decimals }: Asset): DealOfEngine['base'] {
  return { id, chain, token: address, decimals, highValueFrom: null };
}

function dealOf(props: DealProps, addresses: Chosen): DealOfEngine {
  const { thread, party, base, quote } = props;
  return {
    rfq: thread.rfq,
    threadId: thread.id,
    quoteAmount: BigInt(thread.quoteAmount),
    party,
    base: pinned(base),
    quote: pinned(quote),
    addresses,
    priceEndsAt: thread.quoteExpiresAt == null ? null : Date.parse(thread.quoteExpiresAt) / 1_000,
  };
}

function lookAt(props: DealProps, addresses: Chosen): string {
  const { thread, party, base, quote } = props;
  return lookOf(dealOf(props, addresses), { terms: termsOf(thread, party), base, quote });
}

type AcceptingProps = WithEngine & {
  /** The person has just done the step before: the next empty field has the focus. */
  isNext: boolean;
  needs: readonly AddressNeed[];
  isBitcoin: boolean;
  isVouched: boolean;
};

function Accepting(props: AcceptingProps) {
  const { engine, terms, base, quote, thread, needs, isBitcoin, isVouched, read, onRead, named } =
    props;
  const { isNext } = props;
  const [chosen, setChosen] = useState<Chosen>({});
  const [choices, setChoices] = useState<Choices>({ leavesClaims: true, isPlain: false });
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const addresses = addressesOf(needs, chosen);
  const deal = dealOf(props, addresses);
  const look = lookOf(deal, { terms, base, quote });
  const ownLook = named === null ? null : lookAt({ ...props, thread: named }, addresses);
  const isRead = read === null || read === look || ownLook === look;
  useEffect(() => {
    if (isRead) onRead(look);
  }, [isRead, look, onRead]);
  useEffect(() => {
    if (isNext) focusEmpty();
  }, [isNext]);
  const choose = (next: Chosen) => {
    setChosen(next);
    // The person knows of an address that it names itself.
    if (isRead) onRead(lookAt(props, addressesOf(needs, next)));
  };
  const step = firstOf(needs, chosen, isVouched);
  const examined = useQuery({
    queryKey: ['examined', look],
    queryFn: () => engine.examine(deal),
    enabled: step === null,
    gcTime: 0,
    staleTime: 30_000,
    refetchInterval: 30_000,
  });
  const { data, error } = examined;
  const accepting = useAccepting(props, deal, choices);
  const unsure = unsureOf(needs, chosen, isConnected);
  const confirmations = confirmationsOf({ ...props, unsure });
  const isConfirmed = confirmations.every((each) => ticked.has(each));
  const obstacle = obstacleOf({ step, examined: data, isUnchecked: error !== null, isConfirmed });
  const { role, gives, deadlines } = data ?? { role: null, gives: null, deadlines: null };
  const isTimed = role !== null && gives !== null && deadlines !== null;
  const times = isTimed ? ownTimes(role, gives, deadlines) : null;
  const moved = text('deal.moved', { amount: assetAmountText(BigInt(thread.quoteAmount), quote) });
  return (
    <>
      <Lines {...props} addresses={goodOf(needs, addresses)} own={times} />
      <section className="panel deal-first" id={firstId} aria-label={text('deal.first')}>
        <Done>{text('deal.done.phrase')}</Done>
        {isBitcoin && isVouched && <Done>{text('deal.done.vouch')}</Done>}
        {!isVouched && <Vouched engine={engine} />}
        {needs.map((need) => (
          <AddressOf
            key={need.chain}
            need={need}
            value={typedOr(need, chosen)}
            onChange={(address) => choose({ ...chosen, [need.chain]: address })}
          />
        ))}
      </section>
      <Confirmations all={confirmations} ticked={ticked} onChange={setTicked} />
      <Unfolded
        {...props}
        deal={deal}
        examined={data}
        error={error}
        times={times}
        isDue={step === null}
        choices={choices}
        onChoices={setChoices}
      />
      {accepting.error !== null && <NotAccepted error={accepting.error} />}
      {!isRead ? (
        <InBar bar={props.bar}>
          <Notice kind="warn">{moved}</Notice>
          <Button big onPress={() => onRead(look)}>
            {text('deal.moved.read')}
          </Button>
        </InBar>
      ) : (
        <Bar
          {...props}
          obstacle={obstacle}
          busy={accepting.isPending}
          go={() => accepting.mutate()}
        />
      )}
    </>
  );
}

const typedOr = ({ chain, options }: AddressNeed, chosen: Chosen) =>
  chosen[chain] ?? options[0] ?? '';

function addressesOf(needs: readonly AddressNeed[], chosen: Chosen): Chosen {
  return Object.fromEntries(needs.map((need) => [need.chain, chosenAddress(need, chosen)]));
}

function firstOf(needs: readonly AddressNeed[], chosen: Chosen, isVouched: boolean) {
  const isLacking = needs.some((need) => !isGood(need, chosenAddress(need, chosen)));
  const first: FirstStep | null = !isVouched ? 'vouch' : isLacking ? 'address' : null;
  return first;
}

/** Wallets name their own addresses; one on Bitcoin is typed. */
const isGood = ({ isFree }: AddressNeed, address: string) =>
  isFree ? isAddress(address) : address !== '';

/** One that is not whole yet is no address to read. */
function goodOf(needs: readonly AddressNeed[], addresses: Chosen): Chosen {
  const good = needs.filter((need) => isGood(need, addresses[need.chain] ?? ''));
  return Object.fromEntries(good.map(({ chain }) => [chain, addresses[chain] ?? '']));
}

function useAccepting({ engine, thread }: WithEngine, deal: DealOfEngine, choices: Choices) {
  const navigate = useNavigate();
  const router = useRouter();
  // The screen of the swap is loaded while the person reads.
  useEffect(() => void router.loadRouteChunk(router.routesById['/swaps/$id']), [router]);
  const { leavesClaims, isPlain } = choices;
  const form = isPlain ? 'p2wsh' : 'p2tr';
  return useMutation({
    mutationFn: () => engine.accept({ ...deal, leavesClaims, form }),
    onSuccess: async ({ swapId }) => {
      await queries.invalidateQueries({ queryKey: ['thread', thread.id] });
      if (swapId !== null) await navigate({ to: '/swaps/$id', params: { id: swapId } });
    },
    onError: () => void queries.invalidateQueries({ queryKey: ['thread', thread.id] }),
  });
}

/** A step that is behind the person. */
function Done({ children }: { children: ReactNode }) {
  return (
    <p className="deal-done">
      <Icon name="check" /> {children}
    </p>
  );
}

type ConfirmationsProps = {
  all: readonly string[];
  ticked: ReadonlySet<string>;
  onChange: (ticked: ReadonlySet<string>) => void;
};

function Confirmations({ all, ticked, onChange }: ConfirmationsProps) {
  const id = useId();
  if (all.length === 0) return null;
  const toggle = (sentence: string, is: boolean) => {
    const next = new Set(ticked);
    if (is) next.add(sentence);
    else next.delete(sentence);
    onChange(next);
  };
  return (
    <section className="panel" id={confirmId} aria-labelledby={id}>
      <h2 id={id}>{text('deal.confirm')}</h2>
      {all.map((sentence) => (
        <label key={sentence} className="deal-tick">
          <input
            type="checkbox"
            checked={ticked.has(sentence)}
            onChange={({ target }) => toggle(sentence, target.checked)}
          />
          <span>{sentence}</span>
        </label>
      ))}
    </section>
  );
}

const firstId = 'deal-first';
const confirmId = 'deal-confirm';

/** Where on the page the person gets on; the others pass by themselves, or not at all. */
const placeOf: Readonly<Partial<Record<Obstacle, string>>> = {
  'deal.first.phrase': firstId,
  'deal.first.vouch': firstId,
  'deal.first.address': firstId,
  'deal.confirm.first': confirmId,
};

function focusEmpty(): void {
  const fields = document.querySelectorAll<HTMLInputElement>(`#${firstId} input`);
  [...fields].find(({ value }) => value === '')?.focus();
}

function goTo(id: string): void {
  const place = document.getElementById(id);
  place?.scrollIntoView({ block: 'center' });
  place?.querySelector<HTMLElement>('input, button, a')?.focus({ preventScroll: true });
}

type BarProps = AcceptanceProps & { obstacle: Obstacle | null; busy: boolean; go: () => void };

/** The one button, at the bottom of the view, with what a press binds to. */
function Bar({ standing, thread, bar, obstacle, busy, go }: BarProps) {
  const isLast = standing.is === 'waits_for_me';
  const until = localTime(boundUntil(thread), now());
  const place = obstacle === null ? undefined : placeOf[obstacle];
  if (obstacle !== null && place !== undefined) {
    return (
      <InBar bar={bar}>
        <Button kind="main" big onPress={() => goTo(place)}>
          {text(obstacle)}
        </Button>
      </InBar>
    );
  }
  return (
    <InBar bar={bar}>
      <Button
        kind="main"
        big
        single
        busy={busy}
        blocked={obstacle === null ? null : text(obstacle)}
        onPress={go}
      >
        {text(busy ? 'deal.accepting' : isLast ? 'deal.accept.last' : 'deal.accept')}
      </Button>
      {obstacle === null && (
        <p className="hint">
          {isLast ? text('deal.accept.makes') : text('deal.accept.bound', { until })}
        </p>
      )}
    </InBar>
  );
}

function InBar({ bar, children }: { bar: HTMLElement | null; children: ReactNode }) {
  return bar === null ? null : createPortal(children, bar);
}

/** Unix seconds: the acceptance lapses with its price at the latest. */
function boundUntil({ quoteExpiresAt }: DealProps['thread']): number {
  const most = now() + acceptSeconds;
  return quoteExpiresAt ? Math.min(most, secondsOf(quoteExpiresAt)) : most;
}

function NotAccepted({ error }: { error: unknown }) {
  const isUnsure = error instanceof ParleyApiError && error.unreachable;
  const isCoded = error instanceof ParleyApiError || error instanceof EngineError;
  const why = isCoded ? lostTo(error.code) : null;
  return (
    <Notice kind={why === null ? 'bad' : 'warn'} title={text('deal.accept.failed')}>
      {isUnsure && <p>{text('deal.accept.unsure')}</p>}
      <p>
        {why === null ? <span lang="en">{messageOf(error)}</span> : text(`deal.refused.${why}`)}
      </p>
    </Notice>
  );
}

/** People who try the market have no address of its Bitcoin chain. */
const devAddress = config.dev?.bitcoinAddress ?? null;

type AddressProps = {
  need: AddressNeed;
  value: string;
  onChange: (address: string) => void;
};

/** One address, a line once it is there: it opens to be changed. */
function AddressOf(props: AddressProps) {
  const { need, value } = props;
  const chain = chainName(need.chain);
  const label = text(`deal.address.${need.use}`, { chain });
  // A field that closes while one types is no field.
  const [isOpen] = useState(value === '');
  if (!need.isFree && need.options.length === 0) {
    return (
      <Notice
        kind="warn"
        title={text('deal.address.none', { chain })}
        action={<Link to="/wallets">{text('deal.address.none.action')}</Link>}
      >
        {text(need.use === 'funder' ? 'deal.address.funder.hint' : 'deal.address.paid.hint')}
      </Notice>
    );
  }
  const isWrong = !isGood(need, value);
  if (isOpen) return <AddressInput {...props} label={label} />;
  // The lines above have the other ones whole.
  const isRefund = need.use === 'refund';
  return (
    <details className="deal-address">
      <summary>
        <span className={isWrong ? 'deal-todo' : 'deal-done'}>
          {!isWrong && <Icon name="check" />}
          <span>
            {label}{' '}
            {!isWrong && (
              <span className="mono anywhere">{isRefund ? value : shortAddress(value)}</span>
            )}
          </span>
        </span>
        <span className="deal-change">{text('deal.address.change')}</span>
      </summary>
      <AddressInput {...props} label={label} />
    </details>
  );
}

function AddressInput({ need, value, onChange, label }: AddressProps & { label: string }) {
  const { use, options, isFree } = need;
  if (!isFree) {
    return (
      <Select
        label={label}
        hint={text(use === 'funder' ? 'deal.address.funder.hint' : 'deal.address.paid.hint')}
        value={value}
        onChange={onChange}
        options={options.map((each) => ({ value: each, label: each }))}
      />
    );
  }
  return (
    <>
      <AddressField
        label={label}
        hint={text('deal.address.bitcoin.hint')}
        value={value}
        onChange={onChange}
      />
      {devAddress !== null && (
        <p className="deal-dev-address">
          <Button kind="quiet" onPress={() => onChange(devAddress)}>
            {text('deal.address.dev')}
          </Button>
        </p>
      )}
    </>
  );
}
