// The acceptance, which is final: the amounts committed, until when, the browser's checks, and the
// person's confirmations.

import { has } from '@parley/core/families.ts';
import { otherLeg } from '@parley/core/trade.ts';
import { messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import { defaultAcceptTtlSeconds as acceptSeconds } from '@parley/sdk/trade.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import type { Engine } from '../../engine/engine.ts';
import type { Deal as DealOfEngine, Examined } from '../../engine/types.ts';
import { config, now } from '../../market/config.ts';
import { standingOf } from '../../market/prices.ts';
import { useMe, usePayouts } from '../../market/session.ts';
import { queries } from '../../market/site.ts';
import { useLive } from '../../market/use-live.ts';
import { Button, Dialog, Notice, Select, TextField } from '../../parts/controls.tsx';
import { PhraseFirst, useEngine } from '../../parts/engine.tsx';
import { GasNotes } from '../../parts/gas-notes.tsx';
import { Answer, Failed, Loading } from '../../parts/page.tsx';
import { isConnected } from '../../parts/page-wallets.ts';
import { Clock } from '../../parts/shown.tsx';
import { useBitcoinSigner, Vouched } from '../../parts/vouch.tsx';
import { assetAmountText, chainName } from '../../parts/words.ts';
import { localTime, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import {
  type AddressNeed,
  chosenAddress,
  confirmationsOf,
  type DealProps,
  lookOf,
  needsOf,
  type Reference,
  stepsOf,
  type Terms,
  type TermsLeg,
  type Unsure,
  unsureOf,
} from './terms.ts';

type AcceptanceProps = DealProps & {
  terms: Terms;
  reference: Reference | null;
};

export function Acceptance(props: AcceptanceProps) {
  const engine = useEngine();
  return <Answer of={engine}>{(opened) => <WithKeys {...props} engine={opened} />}</Answer>;
}

type Opened = AcceptanceProps & { readonly engine: Engine };

function WithKeys(props: Opened) {
  return (
    <PhraseFirst engine={props.engine} back={`/deals/${props.thread.id}`}>
      <WithAddresses {...props} />
    </PhraseFirst>
  );
}

function WithAddresses(props: Opened) {
  const { engine, terms } = props;
  const chains = useLive(engine.nodes.chains);
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const signer = useBitcoinSigner(engine);
  const payouts = usePayouts();
  const me = useMe();
  const isThere = signer.data && payouts.data && me.data;
  const known = isThere && {
    ownKey: signer.data.address,
    payouts: payouts.data.payouts,
    wallets: me.data.wallets,
  };
  const refetch = () => void [signer, payouts, me].map((each) => each.refetch());
  const error = signer.error ?? payouts.error ?? me.error;
  if (known === undefined) {
    return error === null ? <Loading /> : <Failed error={error} again={refetch} />;
  }
  const families = new Map(chains.map(({ chain, family }) => [chain, family]));
  const needs = needsOf(terms, { families, ...known });
  if (needs === null) return <Notice kind="bad">{text('deal.unknown_chain')}</Notice>;
  const addresses = Object.fromEntries(
    needs.map((need) => [need.chain, chosenAddress(need, chosen)]),
  );
  const unsure = unsureOf(needs, chosen, isConnected);
  const accepting = <Accepting {...props} addresses={addresses} unsure={unsure} />;
  const isBitcoin = needs.some(({ family }) => has(family, 'coins'));
  return (
    <>
      <AddressesOfDeal needs={needs} chosen={chosen} onChange={setChosen} />
      {isBitcoin ? <Vouched engine={engine}>{accepting}</Vouched> : accepting}
    </>
  );
}

function pinned({ id, chain, address, decimals }: Asset): DealOfEngine['base'] {
  return { id, chain, token: address, decimals, highValueFrom: null };
}

type AcceptingProps = Opened & {
  addresses: Readonly<Record<string, string>>;
  unsure: readonly Unsure[];
};

function Accepting(props: AcceptingProps) {
  const { thread, terms, base, quote, addresses } = props;
  // The deal that the dialog was opened for: any other one is looked at anew.
  const [openFor, setOpenFor] = useState<string | null>(null);
  const deal: DealOfEngine = {
    rfq: thread.rfq,
    threadId: thread.id,
    quoteAmount: BigInt(thread.quoteAmount),
    party: props.party,
    base: pinned(base),
    quote: pinned(quote),
    addresses,
    priceEndsAt: thread.quoteExpiresAt == null ? null : Date.parse(thread.quoteExpiresAt) / 1_000,
  };
  const look = lookOf(deal, { terms, base, quote });
  const missing = Object.entries(addresses).find(([, address]) => address === '');
  const blocked =
    missing === undefined ? null : text('deal.address.missing', { chain: chainName(missing[0]) });
  const isOpen = openFor === look;
  return (
    <>
      {openFor !== null && !isOpen && (
        <Notice kind="warn">
          {text('deal.moved', { amount: assetAmountText(BigInt(thread.quoteAmount), quote) })}
        </Notice>
      )}
      <div className="deal-accept">
        <Button kind="main" blocked={blocked} onPress={() => setOpenFor(look)}>
          {text('deal.accept')}
        </Button>
      </div>
      {isOpen && <Question {...props} deal={deal} look={look} onClose={() => setOpenFor(null)} />}
    </>
  );
}

type QuestionProps = AcceptingProps & {
  deal: DealOfEngine;
  look: string;
  onClose: () => void;
};

function Question(props: QuestionProps) {
  const { engine, deal, terms, base, quote, thread, onClose } = props;
  const navigate = useNavigate();
  const router = useRouter();
  // The screen of the swap is loaded while the person reads.
  useEffect(() => void router.loadRouteChunk(router.routesById['/swaps/$id']), [router]);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [leavesClaims, setLeavesClaims] = useState(true);
  const [isPlain, setIsPlain] = useState(false);
  const examined = useQuery({
    queryKey: ['examined', props.look],
    queryFn: () => engine.examine(deal),
    gcTime: 0,
    staleTime: 30_000,
    refetchInterval: 30_000,
  });
  const accepting = useMutation({
    mutationFn: () => engine.accept({ ...deal, leavesClaims, form: isPlain ? 'p2wsh' : 'p2tr' }),
    onSuccess: async ({ swapId }) => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['thread', thread.id] });
      if (swapId !== null) await navigate({ to: '/swaps/$id', params: { id: swapId } });
    },
    onError: () => void queries.invalidateQueries({ queryKey: ['thread', thread.id] }),
  });
  const isLast = standingOf(thread, props.party, now() * 1_000).is === 'waits_for_me';
  const confirmations = confirmationsOf(props);
  const isConfirmed = confirmations.every((each) => ticked.has(each));
  const { data, error } = examined;
  const blocked =
    data === undefined
      ? text(error === null ? 'deal.accept.wait_checks' : 'deal.checks.failed')
      : !data.isGood
        ? text('deal.checks.refused')
        : isConfirmed
          ? null
          : text('deal.confirm.first');
  const nameOf = (assetId: string) => (assetId === base.id ? base : quote);
  const give = assetAmountText(terms.gives.amount, nameOf(terms.gives.assetId));
  const get = assetAmountText(terms.gets.amount, nameOf(terms.gets.assetId));
  const chain = chainName(terms.gives.chain);
  const other = chainName(terms.gets.chain);
  return (
    <Dialog
      title={text('deal.accept.title')}
      open
      onClose={onClose}
      busy={accepting.isPending}
      no={text('deal.accept.no')}
      yes={
        <Button
          kind="danger"
          busy={accepting.isPending}
          blocked={blocked}
          onPress={() => accepting.mutate()}
        >
          {text(accepting.isPending ? 'deal.accepting' : 'deal.accept.yes')}
        </Button>
      }
    >
      <p>{text('deal.accept.commits', { give, get, chain, other })}</p>
      <p>{text(isLast ? 'deal.accept.makes' : 'deal.accept.waits')}</p>
      <p>{text(terms.role === 'initiator' ? 'deal.accept.first' : 'deal.accept.second')}</p>
      {!isLast && (
        <p className="soft">
          {text('deal.accept.bound', { until: localTime(boundUntil(thread), now()) })}
        </p>
      )}
      {data !== undefined && <Then examined={data} terms={terms} give={give} get={get} />}
      {data !== undefined && <Gas {...props} examined={data} />}
      <Checks examined={data} error={error} />
      <Away {...props} leaves={leavesClaims} onChange={setLeavesClaims} />
      <Plain {...props} is={isPlain} onChange={setIsPlain} />
      {confirmations.map((sentence) => (
        <label key={sentence} className="deal-confirm">
          <input
            type="checkbox"
            checked={ticked.has(sentence)}
            onChange={({ target }) => {
              const next = new Set(ticked);
              if (target.checked) next.add(sentence);
              else next.delete(sentence);
              setTicked(next);
            }}
          />
          <span>{sentence}</span>
        </label>
      ))}
      {accepting.error !== null && <NotAccepted error={accepting.error} />}
    </Dialog>
  );
}

function useIsBitcoin({ nodes }: Engine, { chain }: TermsLeg): boolean {
  const chains = useLive(nodes.chains);
  return chains.some((each) => each.chain === chain && has(each, 'coins'));
}

type AwayProps = Pick<QuestionProps, 'engine' | 'terms'> & {
  leaves: boolean;
  onChange: (leaves: boolean) => void;
};

/** Bitcoin that pays the second to fund: it need not be here when the other side collects. */
function Away({ engine, terms, leaves, onChange }: AwayProps) {
  const isBitcoin = useIsBitcoin(engine, terms.gets);
  if (terms.role === 'initiator' || !isBitcoin) return null;
  return (
    <label className="deal-confirm">
      <input type="checkbox" checked={leaves} onChange={({ target }) => onChange(target.checked)} />
      <span>{text('deal.leaves_claims')}</span>
    </label>
  );
}

type PlainProps = Pick<QuestionProps, 'engine' | 'terms'> & {
  is: boolean;
  onChange: (is: boolean) => void;
};

/** Bitcoin that is given: the wallet that pays it may know no Taproot. */
function Plain({ engine, terms, is, onChange }: PlainProps) {
  if (!useIsBitcoin(engine, terms.gives)) return null;
  return (
    <label className="deal-confirm">
      <input type="checkbox" checked={is} onChange={({ target }) => onChange(target.checked)} />
      <span>{text('deal.plain_address')}</span>
    </label>
  );
}

/** Unix seconds: the acceptance lapses with its price at the latest. */
function boundUntil({ quoteExpiresAt }: DealProps['thread']): number {
  const most = now() + acceptSeconds;
  return quoteExpiresAt ? Math.min(most, secondsOf(quoteExpiresAt)) : most;
}

type ThenProps = {
  examined: Examined;
  terms: Terms;
  give: string;
  get: string;
};

/** How it goes on, each step with until when. */
function Then({ examined, terms, give, get }: ThenProps) {
  const { role, gives, deadlines } = examined;
  if (role === null || gives === null || deadlines === null) return null;
  return (
    <>
      <h3>{text('deal.accept.then')}</h3>
      <ol className="deal-steps">
        {stepsOf(role, gives, deadlines).map(({ name, at }) => (
          <li key={name}>
            {text(`deal.step.${name}`, { give, get })} <Clock at={at} />
          </li>
        ))}
      </ol>
      <p className="hint">
        {text('deal.accept.then.if')} {text(`deal.accept.lost.${terms.role}`)}
      </p>
    </>
  );
}

type GasProps = Opened & { deal: DealOfEngine; examined: Examined };

/** Coins for fees of both own wallets, before it binds. */
function Gas({ engine, terms, deal, examined }: GasProps) {
  const { role, gives, deadlines } = examined;
  if (role === null || gives === null || deadlines === null) return null;
  const of = ({ chain, assetId, amount }: TermsLeg) => ({
    chain,
    amount,
    address: deal.addresses[chain] ?? '',
    asset: assetId === deal.base.id ? deal.base : deal.quote,
  });
  const { initiatorFundBy, counterpartyFundBy, refundAt } = deadlines;
  const times = {
    fundBy: role === 'initiator' ? initiatorFundBy : counterpartyFundBy,
    refundAt: refundAt[gives],
    collectBy: refundAt[otherLeg(gives)],
  };
  const sides = [
    { side: 'gives', ...of(terms.gives) },
    { side: 'gets', ...of(terms.gets) },
  ] as const;
  return (
    <>
      <h3>{text('gas.title')}</h3>
      <GasNotes engine={engine} sides={sides} times={times} />
    </>
  );
}

function Checks({ examined, error }: { examined: Examined | undefined; error: unknown }) {
  return (
    <>
      <h3>{text('deal.checks')}</h3>
      {examined === undefined && error === null && (
        <p role="status">{text('deal.checks.running')}</p>
      )}
      {error !== null && (
        <Notice kind="bad" title={text('deal.checks.failed')}>
          {messageOf(error)}
        </Notice>
      )}
      <ul className="deal-checks">
        {examined?.checks.map(({ name, ok, sentence }) => (
          <li key={name} className={ok ? 'good' : 'bad'}>
            <details open={!ok}>
              <summary>
                <span aria-hidden="true">{ok ? '✓' : '✗'}</span> {text(`deal.check.${name}`)}
                <span className="unseen">: {text(ok ? 'deal.checks.ok' : 'deal.checks.bad')}</span>
              </summary>
              <p>{sentence}</p>
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}

function NotAccepted({ error }: { error: unknown }) {
  const isUnsure = error instanceof ParleyApiError && error.unreachable;
  return (
    <Notice kind="bad" title={text('deal.accept.failed')}>
      {isUnsure && <p>{text('deal.accept.unsure')}</p>}
      <p>{messageOf(error)}</p>
    </Notice>
  );
}

/** People who try the market have no address of its Bitcoin chain. */
const devAddress = config.dev?.bitcoinAddress ?? null;

type AddressesProps = {
  needs: readonly AddressNeed[];
  /** By chain; the likeliest one where the person chose none. */
  chosen: Readonly<Record<string, string>>;
  onChange: (chosen: Readonly<Record<string, string>>) => void;
};

function AddressesOfDeal({ needs, chosen, onChange }: AddressesProps) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <h2 id={id}>{text('deal.addresses')}</h2>
      {needs.map((need) => (
        <AddressOf
          key={need.chain}
          need={need}
          value={chosenAddress(need, chosen)}
          onChange={(address) => onChange({ ...chosen, [need.chain]: address })}
        />
      ))}
    </section>
  );
}

type AddressProps = {
  need: AddressNeed;
  value: string;
  onChange: (address: string) => void;
};

function AddressOf({ need, value, onChange }: AddressProps) {
  const { use, options, isFree } = need;
  const chain = chainName(need.chain);
  const label = text(`deal.address.${use}`, { chain });
  if (isFree) {
    return (
      <>
        <TextField
          mono
          label={label}
          hint={text('deal.address.bitcoin.hint')}
          value={value}
          onChange={onChange}
          autoComplete="off"
          maxLength={128}
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
  if (options.length === 0) {
    return (
      <Notice
        kind="warn"
        title={text('deal.address.none', { chain })}
        action={<Link to="/wallets">{text('deal.address.none.action')}</Link>}
      >
        {text(use === 'funder' ? 'deal.address.funder.hint' : 'deal.address.paid.hint')}
      </Notice>
    );
  }
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
