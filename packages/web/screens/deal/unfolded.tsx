// A person may read them before it accepts: the browser's checks, every deadline, coins for network
// fees, contracts, and choices. A failed check is open.

import { has } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Asset } from '@parley/sdk/types.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Deal as DealOfEngine, Examined } from '../../engine/types.ts';
import { now } from '../../market/config.ts';
import { useLive } from '../../market/use-live.ts';
import { Notice } from '../../parts/controls.tsx';
import { Fold } from '../../parts/fold.tsx';
import { GasNotes } from '../../parts/gas-notes.tsx';
import { Clock, useNow } from '../../parts/shown.tsx';
import { assetAmountText, chainName } from '../../parts/words.ts';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type DealProps, type OwnTimes, stepsOf, type Terms, type TermsLeg } from './terms.ts';

export type Choices = {
  /** Signed claims are left with the market. */
  readonly leavesClaims: boolean;
  /** The escrow that one pays is none of Taproot. */
  readonly isPlain: boolean;
};

type UnfoldedProps = DealProps & {
  engine: Engine;
  terms: Terms;
  deal: DealOfEngine;
  examined: Examined | undefined;
  error: unknown;
  times: OwnTimes | null;
  /** Whether the checks run: addresses and keys are there. */
  isDue: boolean;
  choices: Choices;
  onChoices: (choices: Choices) => void;
};

export function Unfolded(props: UnfoldedProps) {
  const { examined, times, isDue } = props;
  return (
    <>
      {isDue && times !== null && <Gas {...props} times={times} />}
      {isDue && <Checks {...props} />}
      {examined !== undefined && <Deadlines {...props} examined={examined} />}
      <Contracts {...props} />
      <Options {...props} />
    </>
  );
}

function Checks({ examined, error }: Pick<UnfoldedProps, 'examined' | 'error'>) {
  if (error !== null) {
    return (
      <Notice kind="bad" title={text('deal.checks.failed')}>
        <span lang="en">{messageOf(error)}</span>
      </Notice>
    );
  }
  const checks = examined?.checks ?? [];
  const good = checks.filter(({ ok }) => ok).length;
  const isGood = examined?.isGood ?? true;
  const value =
    examined === undefined ? (
      <span role="status">{text('deal.checks.running')}</span>
    ) : (
      <span className={isGood ? 'good-ink' : 'bad-ink'}>
        {text('deal.checks.count', { good, all: checks.length })}
      </span>
    );
  return (
    <Fold title={text('deal.checks')} value={value} isOpen={!isGood} key={String(isGood)}>
      <ul className="deal-checks">
        {checks.map(({ name, ok, sentence }) => (
          <li key={name} className={ok ? 'good' : 'bad'}>
            <p>
              <span aria-hidden="true">{ok ? '✓' : '✗'}</span> {text(`deal.check.${name}`)}
              <span className="unseen">: {text(ok ? 'deal.checks.ok' : 'deal.checks.bad')}</span>
            </p>
            <p className="hint" lang="en">
              {sentence}
            </p>
          </li>
        ))}
      </ul>
    </Fold>
  );
}

function Deadlines({ examined, terms, base, quote }: UnfoldedProps & { examined: Examined }) {
  const { role, gives, deadlines } = examined;
  if (role === null || gives === null || deadlines === null) return null;
  const nameOf = ({ assetId, amount }: TermsLeg) =>
    assetAmountText(amount, assetId === base.id ? base : quote);
  const give = nameOf(terms.gives);
  const get = nameOf(terms.gets);
  return (
    <Fold title={text('deal.accept.then')}>
      <p>{text(`deal.role.${terms.role}`)}</p>
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
    </Fold>
  );
}

type GasProps = UnfoldedProps & { times: OwnTimes };

/** Coins for fees of both own wallets, before it binds. */
function Gas({ engine, terms, deal, times }: GasProps) {
  const of = ({ chain, assetId, amount }: TermsLeg) => ({
    chain,
    amount,
    address: deal.addresses[chain] ?? '',
    asset: assetId === deal.base.id ? deal.base : deal.quote,
  });
  const sides = [
    { side: 'gives', ...of(terms.gives) },
    { side: 'gets', ...of(terms.gets) },
  ] as const;
  return <GasNotes engine={engine} sides={sides} times={times} />;
}

function Contracts({ terms, base, quote }: UnfoldedProps) {
  const of = ({ assetId }: TermsLeg) => (assetId === base.id ? base : quote);
  const { gives, gets } = terms;
  return (
    <Fold title={text('deal.contracts')}>
      <div className="deal-legs">
        <Leg title={text('deal.you_give')} leg={gives} asset={of(gives)} locked="deal.locked" />
        <Leg title={text('deal.you_get')} leg={gets} asset={of(gets)} locked="deal.their_locked" />
      </div>
    </Fold>
  );
}

type LegProps = {
  title: string;
  leg: TermsLeg;
  asset: Asset;
  locked: 'deal.locked' | 'deal.their_locked';
};

function Leg({ title, leg, asset, locked }: LegProps) {
  return (
    <section>
      <h3>{title}</h3>
      <p>
        {assetAmountText(leg.amount, asset)} {text('deal.on', { chain: chainName(leg.chain) })}
      </p>
      <dl>
        <dt>{text('deal.contract')}</dt>
        <dd>
          {asset.address === null ? (
            text('deal.native')
          ) : (
            <span className="mono anywhere">{asset.address}</span>
          )}
          {!asset.verified && <p className="warn-ink">{text('deal.unverified')}</p>}
        </dd>
        <dt>{text(locked)}</dt>
        <dd>
          <Until seconds={leg.timelockSeconds} />
        </dd>
      </dl>
    </section>
  );
}

/** A time that moves on with the clock: it counts from the agreement, which is not yet. */
function Until({ seconds }: { seconds: number }) {
  const at: UnixSeconds = useNow() + seconds;
  return (
    <>
      {localTime(at, now())} <span className="soft">{text('deal.if_now')}</span>
    </>
  );
}

function useIsBitcoin({ nodes }: Engine, { chain }: TermsLeg): boolean {
  const chains = useLive(nodes.chains);
  return chains.some((each) => each.chain === chain && has(each, 'coins'));
}

/** Most people leave them as they are. */
function Options({ engine, terms, choices, onChoices }: UnfoldedProps) {
  // The wallet that pays Bitcoin may know no Taproot.
  const isPaid = useIsBitcoin(engine, terms.gives);
  // It need not be here when the other side collects.
  const isLeft = useIsBitcoin(engine, terms.gets) && terms.role !== 'initiator';
  if (!isPaid && !isLeft) return null;
  return (
    <Fold
      title={text('deal.options')}
      value={<span className="soft">{text('deal.options.none')}</span>}
    >
      {isLeft && (
        <label className="deal-tick">
          <input
            type="checkbox"
            checked={choices.leavesClaims}
            onChange={({ target }) => onChoices({ ...choices, leavesClaims: target.checked })}
          />
          <span>{text('deal.leaves_claims')}</span>
        </label>
      )}
      {isPaid && (
        <label className="deal-tick">
          <input
            type="checkbox"
            checked={choices.isPlain}
            onChange={({ target }) => onChoices({ ...choices, isPlain: target.checked })}
          />
          <span>{text('deal.plain_address')}</span>
        </label>
      )}
    </Fold>
  );
}
