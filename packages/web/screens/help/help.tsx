// The manual of a swap, its risks, and the remedies. One page: it is read in a hurry, and found by
// searching in it.

import { Screen } from '../../parts/page.tsx';
import { type TextKey, text } from '../../texts/texts.ts';
import './help.css';

const parts = {
  swap: ['help.swap.1', 'help.swap.2', 'help.swap.3'],
  order: ['help.order.1', 'help.order.2', 'help.order.3'],
  time: ['help.time.1', 'help.time.2'],
  lose: ['help.lose.1', 'help.lose.2', 'help.lose.3', 'help.lose.4'],
  checks: ['help.checks.1', 'help.checks.2'],
  away: ['help.away.1', 'help.away.2'],
  silent: ['help.silent.1', 'help.silent.2'],
  bitcoin: ['help.bitcoin.1', 'help.bitcoin.2', 'help.bitcoin.3'],
  device: ['help.device.1', 'help.device.2'],
  market: ['help.market.1', 'help.market.2'],
  build: ['help.build.1', 'help.build.2'],
} as const satisfies Readonly<Record<string, readonly TextKey[]>>;

const words = ['request', 'quote', 'escrow', 'claim', 'refund', 'confirmations'] as const;

type Part = keyof typeof parts;

export function Help() {
  const names = Object.keys(parts) as Part[];
  return (
    <Screen title={text('help.title')} narrow>
      <nav aria-label={text('help.contents')} className="panel help-contents">
        <ul>
          {names.map((name) => (
            <li key={name}>
              <a href={`#${name}`}>{text(`help.${name}`)}</a>
            </li>
          ))}
          <li>
            <a href="#words">{text('help.words')}</a>
          </li>
        </ul>
      </nav>
      {names.map((name) => (
        <section key={name} id={name} className="help-part">
          <h2>{text(`help.${name}`)}</h2>
          {parts[name].map((key) => (
            <p key={key}>{text(key)}</p>
          ))}
        </section>
      ))}
      <section id="words" className="help-part">
        <h2>{text('help.words')}</h2>
        <dl>
          {words.map((word) => (
            <div key={word}>
              <dt>{text(`help.words.${word}`)}</dt>
              <dd>{text(`help.words.${word}.is`)}</dd>
            </div>
          ))}
        </dl>
      </section>
    </Screen>
  );
}
