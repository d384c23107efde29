// What is of this browser alone: nodes of one's own, and the language.

import { formatAmount, localTime } from '../../../sdk/people.ts';
import { now } from '../../market/clock.ts';
import { AccountNav } from '../../parts/account-screen.tsx';
import { Screen } from '../../parts/screen.tsx';
import { text } from '../../texts/texts.ts';
import { OwnNodes } from './own-nodes.tsx';
import './settings.css';

export function Settings() {
  return (
    <Screen title={text('settings.title')}>
      <AccountNav />
      <p>{text('settings.browser')}</p>
      <OwnNodes />
      <Language />
    </Screen>
  );
}

function Language() {
  return (
    <section className="panel">
      <h2>{text('settings.language')}</h2>
      <p>{text('settings.language.what')}</p>
      <p>
        <code>{navigator.language}</code> · {formatAmount(123_456_789n, 4)} · {localTime(now(), 0)}
      </p>
      <p className="hint">{text('settings.theme.what')}</p>
    </section>
  );
}
