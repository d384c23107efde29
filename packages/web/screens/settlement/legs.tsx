// Both sides on their chains, the checks and the history: closed until somebody wants to know.

import { useLive } from '../../market/use-live.ts';
import { Copy, Panel } from '../../parts/controls.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Table } from '../../parts/shown.tsx';
import { clockText } from '../../parts/swap/progress.ts';
import {
  amountsOf,
  blocksText,
  happenedText,
  type LegShown,
  type StepShown,
} from '../../parts/swap/shown.ts';
import { type Fate, fatesOf, sidesOf } from '../../parts/swap/situation.ts';
import { chainName, explorerOf, shortAddress } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import { useHere } from './here.tsx';

export function Legs() {
  const { said } = useHere();
  return (
    <Fold title={text('settlement.legs')}>
      <div className="swap-legs">
        {said.legs.map((leg) => (
          <Leg key={leg.title} leg={leg} />
        ))}
      </div>
    </Fold>
  );
}

function Leg({ leg }: { leg: LegShown }) {
  const chain = chainName(leg.chain);
  return (
    <article aria-label={`${leg.title}, ${text('settlement.leg.chain', { chain })}`}>
      <h3>
        {leg.title} <span className="soft">{text('settlement.leg.chain', { chain })}</span>
      </h3>
      <ol>
        {leg.steps.map((step) => (
          <Step key={step.label} step={step} chain={leg.chain} />
        ))}
      </ol>
      {leg.lock !== null && <p className="soft">{leg.lock}</p>}
      <p className="swap-escrow">
        <span className="soft">{text('settlement.leg.escrow')}</span>{' '}
        {leg.escrow === null ? text('settlement.leg.no_escrow') : <code>{leg.escrow}</code>}
      </p>
    </article>
  );
}

function Step({ step, chain }: { step: StepShown; chain: string }) {
  const { state, label, detail, txid } = step;
  return (
    <li className={state}>
      <span className="unseen">{text(`settlement.leg.state.${state}`)}</span>
      <span>
        {label}: <strong>{detail}</strong>
        {txid !== null && <Tx txid={txid} chain={chain} />}
      </span>
    </li>
  );
}

type TxProps = {
  txid: string;
  chain: string;
  /** Its name stands beside it. */
  isNamed?: boolean;
};

export function Tx({ txid, chain, isNamed = false }: TxProps) {
  const known = useLive(useHere().engine.nodes.chains);
  const isKnown = known.some((each) => each.chain === chain && each.isKnown);
  const explorer = explorerOf(chain, isKnown, txid);
  return (
    <span className="swap-tx">
      {!isNamed && <span className="soft">{text('settlement.tx')}</span>}
      <code title={txid}>{shortAddress(txid)}</code>{' '}
      {explorer === null ? (
        <Copy value={txid} what={text('settlement.tx')} />
      ) : (
        <a href={explorer.url} target="_blank" rel="noreferrer">
          {text('settlement.tx.look', { explorer: explorer.name })}
        </a>
      )}
    </span>
  );
}

/** More than anybody pays by hand: a stranger's dust fills no screen. */
const mostFates = 20;

export function Fates() {
  const { seen, said, listed } = useHere();
  const fates = fatesOf(seen);
  const { inOwn } = amountsOf(seen, listed);
  const isPlain = fates.every(({ fate }) => fate === 'swap' || fate === 'collected');
  if (fates.length === 0 || (fates.length === 1 && isPlain)) return null;
  const required = sidesOf(seen.swap).own.requiredConfirmations;
  const seenText = ({ payment }: Fate) => blocksText(payment.confirmations, required);
  return (
    <Panel title={text('settlement.fates')} className="swap-fates">
      <Table
        caption={text('settlement.fates')}
        keyOf={({ payment }) => `${payment.txid}:${payment.vout}`}
        rows={fates.slice(0, mostFates)}
        columns={[
          {
            label: text('settlement.fate.amount'),
            cell: ({ payment }) => inOwn(payment.amount),
            number: true,
          },
          { label: text('settlement.fate.seen'), cell: seenText },
          {
            label: text('settlement.fate.becomes'),
            cell: ({ fate, extra }) =>
              text(`settlement.fate.${fate}`, { ...said.values, extra: inOwn(extra) }),
          },
        ]}
      />
      {fates.length > mostFates && (
        <p className="soft">{text('settlement.fate.more', { count: fates.length - mostFates })}</p>
      )}
    </Panel>
  );
}

export function Checks() {
  const { checks } = useHere().seen.swap;
  if (checks.length === 0) return null;
  const ok = checks.filter((each) => each.ok).length;
  const isGood = ok === checks.length;
  return (
    <Fold
      title={text('settlement.checks')}
      value={text('settlement.checks.count', { ok, all: checks.length })}
      tone={isGood ? 'good' : 'bad'}
      isOpen={!isGood}
    >
      <ul className="swap-checks">
        {checks.map(({ name, ok: isOk, sentence }) => (
          <li key={name} className={isOk ? 'ok' : 'bad-ink'}>
            <span className="unseen">{text(`settlement.checks.${isOk ? 'ok' : 'bad'}`)}</span>
            <strong>{text(`settlement.check.${name}`)}</strong>
            {!isOk && <span lang="en"> {sentence}</span>}
          </li>
        ))}
      </ul>
      {isGood && (
        <details className="swap-raw">
          <summary>{text('settlement.details')}</summary>
          <ul lang="en">
            {checks.map(({ name, sentence }) => (
              <li key={name}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
    </Fold>
  );
}

export function History() {
  const { seen, listed } = useHere();
  const { swap, now } = seen;
  const told = swap.history.map((each) => ({ ...each, ...happenedText(each, swap, listed) }));
  if (told.length === 0) return null;
  return (
    <Fold title={text('settlement.history')}>
      <ol className="swap-history">
        {told.map(({ at, said }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: only its end grows.
          <li key={index}>
            <span className="soft">{clockText(at, now)}</span> {said}
          </li>
        ))}
      </ol>
      <details className="swap-raw">
        <summary>{text('settlement.details')}</summary>
        <ol lang="en">
          {told.map(({ detail, txid }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: only its end grows.
            <li key={index}>
              {detail} {txid !== null && <code>{txid}</code>}
            </li>
          ))}
        </ol>
      </details>
    </Fold>
  );
}
