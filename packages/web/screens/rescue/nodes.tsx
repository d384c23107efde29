// A node for each chain of the file: named, checked, kept.

import { has } from '@parley/core/families.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { RescueChain } from '@parley/sdk/rescue/file.ts';
import { useState } from 'react';
import type { ChainFacts, Engine, NodeCheck } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { chainName } from '../../parts/names.ts';
import { hostOf } from '../../parts/node-host.ts';
import { text } from '../../texts/texts.ts';

type Props = { readonly engine: Engine; readonly chains: readonly RescueChain[] };

export function NodesOf({ engine, chains }: Props) {
  const { chains: live } = engine.nodes;
  const known = useLive(live);
  return (
    <section className="panel" aria-labelledby="rescue-nodes">
      <h2 id="rescue-nodes">{text('rescue.nodes')}</h2>
      <p className="soft">{text('rescue.nodes.why')}</p>
      {chains.map(({ chain, family }) => (
        <NodeOf
          key={chain}
          engine={engine}
          chain={chain}
          family={family}
          facts={known.find((each) => each.chain === chain)}
        />
      ))}
    </section>
  );
}

type NodeOfProps = {
  readonly engine: Engine;
  readonly chain: string;
  readonly family: RescueChain['family'];
  readonly facts: ChainFacts | undefined;
};

function NodeOf({ engine, chain, family, facts }: NodeOfProps) {
  const [typed, setTyped] = useState('');
  const [check, setCheck] = useState<NodeCheck | null>(null);
  const [isBusy, setBusy] = useState(false);
  const nodes = facts?.nodes ?? [];
  const go = async () => {
    setBusy(true);
    const [answer = null] = await engine.nodes.keep(chain, [asTyped(typed).trim()]);
    setCheck(answer);
    setBusy(false);
  };
  const kind = has(family, 'coins') ? 'bitcoin' : 'other';
  if (facts === undefined) {
    return <p className="warn-ink">{text('rescue.node.unknown', { chain: chainName(chain) })}</p>;
  }
  return (
    <form
      className="rescue-node"
      onSubmit={(event) => {
        event.preventDefault();
        void go();
      }}
    >
      {nodes.map((url) => (
        <p key={url} className="rescue-has">
          {text('rescue.node.has', { chain: chainName(chain), url: hostOf(url) })}
        </p>
      ))}
      <TextField
        label={text('rescue.node.label', { chain: facts.title })}
        hint={text(`rescue.node.hint.${kind}`)}
        error={check?.ok === false ? text('rescue.node.wrong', { sentence: check.sentence }) : null}
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setCheck(null);
        }}
        mono
        type="url"
        autoComplete="off"
        maxLength={500}
      />
      {check?.ok === true && (
        <p role="status" className="good-ink">
          {text('rescue.node.height', { height: check.height })}
        </p>
      )}
      <Button
        type="submit"
        busy={isBusy}
        label={`${text('rescue.node.check')}: ${chainName(chain)}`}
      >
        {text('rescue.node.check')}
      </Button>
    </form>
  );
}
