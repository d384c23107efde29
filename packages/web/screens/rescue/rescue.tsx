// Swaps brought back on this device: phrase, rescue file or market, nodes, then each goes on.

import type { RescueChain } from '@parley/sdk/rescue/file.ts';
import type { Restored } from '@parley/sdk/rescue/restore.ts';
import { use, useState } from 'react';
import { pageEngine } from '../../engine/page.ts';
import type { Engine } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { chainName } from '../../parts/names.ts';
import { NodesOfChain } from '../../parts/nodes-of-chain.tsx';
import { PhraseForm } from '../../parts/phrase-form.tsx';
import { Screen } from '../../parts/screen.tsx';
import { text } from '../../texts/texts.ts';
import { FromFile, saidOf } from './from-file.tsx';
import { FromMarket } from './from-market.tsx';
import { Go, Results } from './go.tsx';
import { SaveCopy } from './save-copy.tsx';
import './rescue.css';
import type { Opened } from './told.ts';

export function Rescue() {
  return <RescueScreen engine={use(pageEngine())} />;
}

type Props = {
  readonly engine: Engine;
  /** The file with which a saved copy was begun; such a copy keeps nothing and has no market. */
  readonly copyOf?: Opened;
};

export function RescueScreen({ engine, copyOf }: Props) {
  const isCopy = copyOf !== undefined;
  const { vault } = engine;
  const { kind } = useLive(vault.state);
  const [opened, setOpened] = useState<Opened | null>(copyOf ?? null);
  const [restored, setRestored] = useState<readonly Restored[]>([]);
  const [isCut, setCut] = useState(false);
  return (
    <Screen title={text('rescue.title')} narrow>
      <p>{text('rescue.intro')}</p>
      <section className="panel" aria-labelledby="rescue-phrase">
        <h2 id="rescue-phrase">{text('rescue.phrase')}</h2>
        {kind === 'none' ? (
          <PhraseForm restore={vault.restore} done={() => undefined} />
        ) : (
          <p>{text('rescue.phrase.there')}</p>
        )}
      </section>
      <section className="panel" aria-labelledby="rescue-from">
        <h2 id="rescue-from">{text('rescue.from')}</h2>
        {isCopy ? (
          <p>{saidOf(copyOf, engine.now())}</p>
        ) : (
          <FromFile now={engine.now} open={engine.rescue.open} opened={opened} set={setOpened} />
        )}
        {!isCopy && (
          <FromMarket
            engine={engine}
            hasPhrase={kind !== 'none'}
            done={(answer) => {
              setRestored(answer.swaps);
              setCut(!answer.isWhole);
            }}
          />
        )}
      </section>
      {opened !== null && opened.file.swaps.length > 0 && (
        <>
          <Nodes engine={engine} chains={opened.file.chains} />
          <Go engine={engine} opened={opened} hasPhrase={kind !== 'none'} done={setRestored} />
        </>
      )}
      {isCut && <p role="status">{text('rescue.market.cut')}</p>}
      <Results engine={engine} restored={restored} />
      {!isCopy && <SaveCopy engine={engine} />}
    </Screen>
  );
}

type NodesProps = { readonly engine: Engine; readonly chains: readonly RescueChain[] };

/** A node for each chain of the file. */
function Nodes({ engine: { nodes }, chains }: NodesProps) {
  const known = useLive(nodes.chains);
  const of = (chain: string) => known.find((each) => each.chain === chain);
  return (
    <section className="panel" aria-labelledby="rescue-nodes">
      <h2 id="rescue-nodes">{text('rescue.nodes')}</h2>
      <p className="soft">{text('rescue.nodes.why')}</p>
      {chains.map(({ chain }) => {
        const facts = of(chain);
        return facts === undefined ? (
          <p key={chain} className="warn-ink">
            {text('rescue.node.unknown', { chain: chainName(chain) })}
          </p>
        ) : (
          <NodesOfChain key={chain} facts={facts} nodes={nodes} />
        );
      })}
    </section>
  );
}
