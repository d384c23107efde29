// Nodes that this browser asks instead of the market's: shown, tried and kept, chain by chain.

import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mostNodes } from '../../engine/nodes.ts';
import type { ChainFacts, NodeCheck, Nodes } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { Answer, Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { hostOf } from '../../parts/node-host.ts';
import { Notice } from '../../parts/notice.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { text } from '../../texts/texts.ts';

export function OwnNodes() {
  const engine = useQuery({
    queryKey: ['engine'],
    queryFn: async () => (await import('../../engine/page.ts')).pageEngine(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <section className="panel">
      <h2>{text('nodes.title')}</h2>
      <p>{text('nodes.what')}</p>
      <p className="hint">{text('nodes.how')}</p>
      <Answer of={engine}>{({ nodes }) => <Chains nodes={nodes} />}</Answer>
    </section>
  );
}

function Chains({ nodes }: { nodes: Nodes }) {
  const chains = useLive(nodes.chains);
  if (chains.length === 0) return <p>{text('nodes.none')}</p>;
  return (
    <>
      {chains.map((each) => (
        <OfChain key={each.chain} facts={each} nodes={nodes} />
      ))}
    </>
  );
}

type OfChainProps = { readonly facts: ChainFacts; readonly nodes: Nodes };

function OfChain({ facts, nodes }: OfChainProps) {
  const { chain, family, title, isKnown, isOwn } = facts;
  const most = mostNodes[family];
  const shown = isOwn ? facts.nodes.join('\n') : '';
  const [typed, setTyped] = useState(shown);
  const [checks, setChecks] = useState<readonly NodeCheck[] | null>(null);
  const { busy, error, run } = useAct();
  const keep = (urls: readonly string[]) =>
    run(async () => setChecks(await nodes.keep(chain, urls)));
  const urls = [...new Set(typed.split(/\s+/).filter(Boolean))];
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (urls.length > 0 && urls.length <= most) keep(urls);
  };
  const none = urls.length === 0 ? text('nodes.type') : null;
  const tooMany = text('nodes.too_many', { most, count: urls.length });
  return (
    <form className="way node-chain" onSubmit={save}>
      <h3>{title}</h3>
      {!isKnown && <p className="hint warn-ink">{text('nodes.unknown')}</p>}
      {!isOwn && <MarketNodes facts={facts} />}
      <TextArea
        label={text('nodes.own', { chain: title })}
        hint={text('nodes.own.hint')}
        mono
        rows={2}
        placeholder="https://"
        value={typed}
        onChange={setTyped}
      />
      <div className="actions">
        <Button type="submit" busy={busy} blocked={urls.length > most ? tooMany : none}>
          {text('nodes.keep')}
        </Button>
        {isOwn && (
          <Button
            kind="quiet"
            busy={busy}
            onPress={() => {
              setTyped('');
              keep([]);
            }}
          >
            {text('nodes.drop')}
          </Button>
        )}
      </div>
      {checks?.map((each) => (
        <Checked key={each.url} check={each} />
      ))}
      {checks !== null && checks.length > 0 && <Outcome checks={checks} />}
      {error !== null && <Failed error={error} />}
    </form>
  );
}

function MarketNodes({ facts: { nodes } }: Pick<OfChainProps, 'facts'>) {
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
  if (check.ok) {
    const facts = { host: hostOf(check.url), height: check.height };
    return <Notice kind="good">{text('nodes.good', facts)}</Notice>;
  }
  const title = text(`nodes.fault.${check.fault}`, { host: hostOf(check.url) });
  return (
    <Notice kind="bad" title={title}>
      {check.sentence}
    </Notice>
  );
}
