// Both legs as steps in words, and every payment by hand with what becomes of it.

import { config } from '../../market/config.ts';
import { useLive } from '../../market/use-live.ts';
import { Button, Panel } from '../../parts/controls.tsx';
import { saveFile } from '../../parts/forms.tsx';
import { Table } from '../../parts/shown.tsx';
import { chainName, explorerOf } from '../../parts/words.ts';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { useHere } from './here.tsx';
import { amountsOf, happenedText, type LegShown, receiptOf, type StepShown } from './shown.ts';
import { type Fate, fatesOf } from './situation.ts';

export function Legs() {
  const { said } = useHere();
  return (
    <section aria-labelledby="swap-legs">
      <h2 id="swap-legs">{text('settlement.legs')}</h2>
      <div className="swap-legs">
        {said.legs.map((leg) => (
          <Leg key={leg.title} leg={leg} />
        ))}
      </div>
    </section>
  );
}

function Leg({ leg }: { leg: LegShown }) {
  const chain = chainName(leg.chain);
  return (
    <article
      className="panel"
      aria-label={`${leg.title}, ${text('settlement.leg.chain', { chain })}`}
    >
      <h3>
        {leg.title} <span className="soft">{text('settlement.leg.chain', { chain })}</span>
      </h3>
      <ol className="swap-steps">
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

export function Tx({ txid, chain }: { txid: string; chain: string }) {
  const known = useLive(useHere().engine.nodes.chains);
  const isKnown = known.some((each) => each.chain === chain && each.isKnown);
  const explorer = explorerOf(chain, isKnown, txid);
  return (
    <span className="swap-tx">
      <span className="soft">{text('settlement.tx')}</span> <code>{txid}</code>{' '}
      {explorer !== null && (
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
  const seenText = ({ payment }: Fate) =>
    payment.confirmations === 0
      ? text('settlement.leg.pool')
      : text('settlement.leg.blocks', {
          confirmations: payment.confirmations,
          required: said.values.required ?? '',
        });
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
  const { swap } = useHere().seen;
  if (swap.checks.length === 0) return null;
  const hasFailed = swap.checks.some(({ ok }) => !ok);
  return (
    <details className="panel" open={hasFailed}>
      <summary>{text('settlement.checks')}</summary>
      <ul className="swap-checks">
        {swap.checks.map(({ name, ok, sentence }) => (
          <li key={name} className={ok ? 'ok' : 'bad-ink'}>
            <span className="unseen">{text(`settlement.checks.${ok ? 'ok' : 'bad'}`)}</span>
            <strong>{text(`settlement.check.${name}`)}</strong> {sentence}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function History() {
  const { seen, listed } = useHere();
  const { swap, now } = seen;
  const { history } = swap;
  return (
    <details className="panel">
      <summary>{text('settlement.history')}</summary>
      {history.length === 0 ? (
        <p className="soft">{text('settlement.history.empty')}</p>
      ) : (
        <ol className="swap-history">
          {history.map((each, index) => {
            const { said, detail } = happenedText(each, swap, listed);
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: only its end grows.
              <li key={index}>
                <span className="soft">{localTime(each.at, now)}</span> {said}
                {detail !== null && <span className="hint swap-detail">{detail}</span>}
                {each.txid !== null && <code>{each.txid}</code>}
              </li>
            );
          })}
        </ol>
      )}
    </details>
  );
}

export function Ended() {
  const { seen, listed } = useHere();
  const { swap } = seen;
  if (swap.phase !== 'ended') return null;
  const receipt = receiptOf(swap, config.productName, listed);
  const name = `${config.shortName}-receipt-${swap.id.slice(0, 8)}.txt`;
  return (
    <Panel title={text('settlement.receipt')}>
      <pre className="swap-receipt">{receipt}</pre>
      <Button onPress={() => saveFile(name, 'text/plain', receipt)}>
        {text('settlement.receipt.save')}
      </Button>
    </Panel>
  );
}
