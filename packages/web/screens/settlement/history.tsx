// The checks, the events, and the record of a swap that has ended.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { SwapView } from '../../engine/types.ts';
import { config } from '../../market/config.ts';
import { Button } from '../../parts/button.tsx';
import type { Listed } from '../../parts/labels.ts';
import { saveFile } from '../../parts/save-file.ts';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { happenedText } from './happened.ts';
import { receiptOf } from './receipt.ts';

export function Checks({ swap }: { readonly swap: SwapView }) {
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

type EndedProps = { readonly swap: SwapView; readonly listed: readonly Listed[] };
type HistoryProps = EndedProps & { readonly now: UnixSeconds };

export function History({ swap, now, listed }: HistoryProps) {
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

export function Ended({ swap, listed }: EndedProps) {
  if (swap.phase !== 'ended') return null;
  const receipt = receiptOf(swap, config.productName, listed);
  const name = `${config.shortName}-receipt-${swap.id.slice(0, 8)}.txt`;
  return (
    <section className="panel" aria-labelledby="swap-receipt">
      <h2 id="swap-receipt">{text('settlement.receipt')}</h2>
      <pre className="swap-receipt">{receipt}</pre>
      <Button onPress={() => saveFile(name, 'text/plain', receipt)}>
        {text('settlement.receipt.save')}
      </Button>
    </section>
  );
}
