// Settings of this browser alone: nodes of one's own, and the language.

import { useState } from 'react';
import type { OpenNodes } from '../../engine/nodes.ts';
import type { ChainFacts } from '../../engine/types.ts';
import { now } from '../../market/config.ts';
import { useLive } from '../../market/use-live.ts';
import { AccountNav } from '../../parts/account-screen.tsx';
import { useAct } from '../../parts/act.tsx';
import { ChainMark } from '../../parts/coin.tsx';
import { Panel, Select } from '../../parts/controls.tsx';
import { useEngine } from '../../parts/engine.tsx';
import { NodesOfChain } from '../../parts/nodes-of-chain.tsx';
import { Answer, Failed, Screen } from '../../parts/page.tsx';
import {
  allLanguages,
  keepLanguage,
  keptLanguage,
  type Language,
  languageFor,
  languages,
} from '../../texts/languages.ts';
import { formatAmount, localTime } from '../../texts/people.ts';
import { speak, text } from '../../texts/texts.ts';
import './settings.css';

export function Settings() {
  const engine = useEngine();
  return (
    <Screen title={text('settings.title')}>
      <AccountNav />
      <p className="soft">{text('settings.browser')}</p>
      <LanguageChoice />
      <Panel title={text('nodes.title')}>
        <p>{text('nodes.what')}</p>
        <p className="hint">{text('nodes.how')}</p>
        <Answer of={engine}>{({ nodes }) => <OwnNodes nodes={nodes} />}</Answer>
      </Panel>
    </Screen>
  );
}

function OwnNodes({ nodes }: { nodes: OpenNodes }) {
  return useLive(nodes.chains).map((each) => (
    <details key={each.chain} className="fold">
      <summary>
        <ChainMark chain={each.chain} />
        {each.title}
        <span className="value soft">{nodesText(each)}</span>
      </summary>
      <NodesOfChain facts={each} nodes={nodes} />
    </details>
  ));
}

function nodesText({ isOwn, nodes }: ChainFacts): string {
  if (isOwn) return text('settings.nodes.own', { count: nodes.length });
  return text(nodes.length === 0 ? 'settings.nodes.none' : 'settings.nodes.market');
}

/** Those of the browser where nobody chose. */
const byBrowser = 'browser';

function LanguageChoice() {
  const [kept, setKept] = useState<Language | typeof byBrowser>(keptLanguage() ?? byBrowser);
  const { error, run } = useAct();
  const choose = (to: typeof kept) =>
    run(async () => {
      const chosen = to === byBrowser ? null : to;
      await speak(languageFor(chosen, navigator.languages), { isWhole: true });
      keepLanguage(chosen);
      setKept(to);
    });
  const own = languages[languageFor(null, navigator.languages)].name;
  const options = [
    {
      value: byBrowser as typeof kept,
      label: text('settings.language.browser', { language: own }),
    },
    ...allLanguages.map((value) => ({ value, label: languages[value].name })),
  ];
  return (
    <Panel title={text('settings.language')}>
      <Select
        label={text('settings.language.choose')}
        value={kept}
        onChange={choose}
        options={options}
      />
      <Failed error={error} />
      <p>
        {text('settings.language.what')} {formatAmount(123_456_789n, 4)} · {localTime(now(), 0)}
      </p>
      <p className="hint">{text('settings.language.market')}</p>
      <p className="hint">{text('settings.theme.what')}</p>
    </Panel>
  );
}
