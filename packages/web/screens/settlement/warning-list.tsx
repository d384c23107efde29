// The warnings to a person, with the next step.

import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Engine } from '../../engine/types.ts';
import { useAssets } from '../../market/assets.ts';
import { useLive } from '../../market/use-live.ts';
import { Button } from '../../parts/button.tsx';
import { chainName } from '../../parts/names.ts';
import { Notice } from '../../parts/notice.tsx';
import { SaveRescue } from '../../parts/save-rescue.tsx';
import { formatDuration } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { gasUrgency } from './ahead.ts';
import type { Shown } from './shown.ts';
import { type Seen, sidesOf } from './situation.ts';
import { heldBy, inCoins, type WarningKind, warningsOf } from './warnings.ts';

type Props = {
  readonly engine: Engine;
  readonly seen: Seen;
  readonly said: Shown;
  /** Warnings that cost something stand above the action, and the rest below it. */
  readonly which: 'before' | 'after';
};

export function Warnings({ engine, seen, said, which }: Props) {
  const { swaps, health: live, vault, rescue } = engine;
  const driver = useLive(swaps.driver);
  const health = useLive(live);
  const { kind: kept } = useLive(vault.state);
  const file = useLive(rescue.file);
  const isOtherTab = driver.kind === 'other';
  const all = warningsOf({ ...seen, isOtherTab, health, vault: kept, rescue: file });
  const found = all.filter(({ weight }) => (weight === 'info') === (which === 'after'));
  const short = seen.swap.problems.find((each) => each.kind === 'gas');
  const { chain: gasChain } = seen.swap.legs[short?.leg ?? seen.swap.gives];
  const { data: listed = [] } = useAssets();
  const coin = listed.find(({ chain, address }) => chain === gasChain && address === null);
  const { refused } = seen.swap.relay ?? {};
  const isOfGas = short?.code === 'claim_unpayable';
  const values = {
    ...said.values,
    off: formatDuration(Math.abs(health.clockOffSeconds ?? 0)),
    chain: chainName(sidesOf(seen.swap).own.chain),
    gasChain: chainName(gasChain),
    held: text(`settlement.warn.held.${heldBy(seen.swap)}`),
  };
  const told = (said: string) => (coin === undefined ? said : inCoins(said, coin.symbol));
  return found.map(({ kind, weight, sentence }) => (
    <Notice
      key={kind}
      kind={weight}
      title={text(
        kind === 'gas' && !isOfGas ? 'settlement.warn.gas.cannot' : `settlement.warn.${kind}`,
        values,
      )}
      action={<What kind={kind} engine={engine} />}
    >
      {kind === 'gas'
        ? text(`settlement.warn.gas.${gasUrgency(seen.swap)}`, values)
        : text(`settlement.warn.${kind}.why`, values)}
      {kind === 'gas' && typeof refused === 'string' && (
        <p>{text('settlement.warn.gas.refused', { why: refused })}</p>
      )}
      {sentence !== null && kind === 'gas' && <p className="swap-told">{told(sentence)}</p>}
      {sentence !== null && kind !== 'gas' && (
        <details className="swap-told">{told(sentence)}</details>
      )}
    </Notice>
  ));
}

function What({ kind, engine }: { readonly kind: WarningKind; readonly engine: Engine }) {
  switch (kind) {
    case 'other_tab':
      return <TakeOver engine={engine} />;
    case 'phrase':
      return (
        <Link className="button" to="/phrase">
          {text('settlement.warn.phrase.go')}
        </Link>
      );
    case 'node':
    case 'chain_stands':
    case 'nodes_disagree':
    case 'answer_refused':
    case 'node_ahead':
    case 'node_behind':
    case 'node_silent':
      return (
        <Link className="button" to="/settings">
          {text('settlement.warn.node.go')}
        </Link>
      );
    case 'rescue':
    case 'private':
    case 'unpromised':
    case 'store':
      return <SaveRescue save={engine.rescue.save} />;
    default:
      return null;
  }
}

function TakeOver({ engine }: { readonly engine: Engine }) {
  const [isBusy, setBusy] = useState<'asking' | 'refused' | null>(null);
  const { driver } = engine.swaps;
  const now = useLive(driver);
  const isSilent = now.kind === 'other' && now.isSilent;
  const why = isSilent ? 'silent' : isBusy === 'refused' ? 'busy' : null;
  const take = async () => {
    setBusy('asking');
    setBusy((await engine.swaps.takeOver()) ? null : 'refused');
  };
  return (
    <Button
      busy={isBusy === 'asking'}
      blocked={why === null ? null : text(`settlement.warn.other_tab.${why}`)}
      onPress={() => void take()}
    >
      {text('settlement.warn.other_tab.go')}
    </Button>
  );
}
