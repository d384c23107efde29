// Nodes of a chain that this browser asks instead of the market's: shown, tried and kept.

import { has } from '@parley/core/families.ts';
import { useState } from 'react';
import type { OpenNodes } from '../engine/nodes.ts';
import { mostNodes } from '../engine/nodes.ts';
import type { ChainFacts, NodeCheck } from '../engine/types.ts';
import { text } from '../texts/texts.ts';
import { Do, Form } from './act.tsx';
import { Notice, TextArea } from './controls.tsx';
import './nodes-of-chain.css';

type NodesOfChainProps = { facts: ChainFacts; nodes: OpenNodes };

export function NodesOfChain({ facts, nodes }: NodesOfChainProps) {
  const { chain, family, title, isKnown, isOwn } = facts;
  const most = mostNodes[family];
  const shown = isOwn ? facts.nodes.join('\n') : '';
  const [typed, setTyped] = useState(shown);
  const [checks, setChecks] = useState<readonly NodeCheck[] | null>(null);
  const keep = async (urls: readonly string[]) => setChecks(await nodes.keep(chain, urls));
  const urls = [...new Set(typed.split(/\s+/).filter(Boolean))];
  const none = urls.length === 0 ? text('nodes.type') : null;
  const tooMany = text('nodes.too_many', { most, count: urls.length });
  const drop = async () => {
    setTyped('');
    await keep([]);
  };
  return (
    <div className="node-chain">
      <h3>{title}</h3>
      {!isKnown && <p className="hint warn-ink">{text('nodes.unknown')}</p>}
      {!isOwn && <MarketNodes facts={facts} />}
      <Form
        go={text('nodes.keep')}
        blocked={urls.length > most ? tooMany : none}
        send={() => keep(urls)}
        more={
          isOwn && (
            <Do kind="quiet" work={drop}>
              {text('nodes.drop')}
            </Do>
          )
        }
      >
        <TextArea
          label={text('nodes.own', { chain: title })}
          hint={text(`nodes.own.hint.${has(family, 'coins') ? 'bitcoin' : 'other'}`)}
          mono
          rows={2}
          placeholder="https://"
          value={typed}
          onChange={setTyped}
        />
      </Form>
      {checks?.map((each) => (
        <Checked key={each.url} check={each} />
      ))}
      {checks !== null && checks.length > 0 && <Outcome checks={checks} />}
    </div>
  );
}

function MarketNodes({ facts: { nodes } }: Pick<NodesOfChainProps, 'facts'>) {
  return (
    <p className="hint">
      {text(nodes.length === 0 ? 'nodes.market.none' : 'nodes.market')}{' '}
      {nodes.map((url) => (
        <code key={url}>{hostOf(url)} </code>
      ))}
    </p>
  );
}

/** One that is wrong keeps them all out: a person who named three believes in three. */
function Outcome({ checks }: { checks: readonly NodeCheck[] }) {
  const isKept = checks.every(({ ok }) => ok);
  return (
    <Notice kind={isKept ? 'good' : 'warn'}>{text(isKept ? 'nodes.kept' : 'nodes.refused')}</Notice>
  );
}

function Checked({ check }: { check: NodeCheck }) {
  const host = hostOf(check.url);
  if (check.ok) {
    return <Notice kind="good">{text('nodes.good', { host, height: check.height })}</Notice>;
  }
  return (
    <Notice kind="bad" title={text('nodes.bad', { host })}>
      {check.sentence}
    </Notice>
  );
}

/** The address of a node may hold a key or a password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
