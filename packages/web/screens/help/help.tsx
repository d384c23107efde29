// The manual of a swap, its risks, and the remedies. One page: it is read in a hurry, and found by
// searching in it, which opens a fold.

import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from '../../parts/icons.tsx';
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

/** Pages of this server, for more than a screenful. */
const guides = {
  'help.guides.swap': '/docs/lifecycle',
  'help.guides.web': '/docs/web',
  'help.guides.rescue': '/docs/rescue',
  'help.guides.verify': '/docs/dont-trust-verify',
  'help.guides.api': '/v1/docs',
} as const satisfies Partial<Record<TextKey, string>>;

export function Help() {
  return (
    <Screen title={text('help.title')} narrow>
      <p className="soft">{text('help.lead')}</p>
      {(Object.keys(parts) as Part[]).map((name) => (
        <Fold key={name} id={name} title={text(`help.${name}`)}>
          {parts[name].map((key) => (
            <p key={key}>{text(key)}</p>
          ))}
        </Fold>
      ))}
      <Fold id="words" title={text('help.words')}>
        <dl className="help-words">
          {words.map((word) => (
            <div key={word}>
              <dt>{text(`help.words.${word}`)}</dt>
              <dd>{text(`help.words.${word}.is`)}</dd>
            </div>
          ))}
        </dl>
      </Fold>
      <h2>{text('help.guides')}</h2>
      <ul className="help-guides">
        {(Object.keys(guides) as (keyof typeof guides)[]).map((name) => (
          <li key={name}>
            <a href={guides[name]}>
              {text(name)}
              <Icon name="arrow" />
            </a>
          </li>
        ))}
      </ul>
    </Screen>
  );
}

/** Open where a link of another screen leads to it. */
function Fold({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  const { hash } = useLocation();
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (hash !== id || place.current === null) return;
    place.current.open = true;
    place.current.scrollIntoView();
  }, [hash, id]);
  return (
    <details ref={place} id={id} className="fold help-part">
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  );
}
