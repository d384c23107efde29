// The steps before a maker may quote, each one press; once all are done it draws nothing.

import type { Asset } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Engine } from '../engine/engine.ts';
import { useMe, usePayouts } from '../market/session.ts';
import { useLive } from '../market/use-live.ts';
import { text } from '../texts/texts.ts';
import { Button, Panel } from './controls.tsx';
import { useEngine } from './engine.tsx';
import { familyOf } from './giving.tsx';
import { Icon } from './icons.tsx';
import { Answer } from './page.tsx';
import { PhrasePanel } from './phrase-panel.tsx';
import { type Need, needsBefore } from './ready.ts';
import { useBitcoinSigner, Vouched } from './vouch.tsx';
import { ConnectDialog } from './ways/connect.tsx';
import { chainName } from './words.ts';
import './ready.css';

type ReadyProps = {
  give: Asset;
  get: Asset;
  /** Whether the account may quote an order of them. */
  onKnown: (isReady: boolean) => void;
};

export function Ready(props: ReadyProps) {
  const engine = useEngine();
  return <Answer of={engine}>{(opened) => <Known {...props} engine={opened} />}</Answer>;
}

function Known({ give, get, onKnown, engine }: ReadyProps & { engine: Engine }) {
  const { kind } = useLive(engine.vault.state);
  const signer = useBitcoinSigner(engine);
  const payouts = usePayouts();
  const me = useMe();
  const gives = familyOf(give);
  const gets = familyOf(get);
  const isAsked = payouts.data !== undefined && me.data !== undefined;
  const needs =
    gives === undefined || gets === undefined || !isAsked
      ? null
      : needsBefore(gives, gets, {
          vault: kind,
          ownKey: signer.data?.address ?? null,
          payouts: payouts.data.payouts,
          wallets: me.data.wallets,
        });
  const isReady = needs?.every(({ isDone }) => isDone) === true;
  useEffect(() => onKnown(isReady), [onKnown, isReady]);
  if (needs === null) {
    return gives === undefined || gets === undefined ? (
      <p className="bad-ink">{text('deal.unknown_chain')}</p>
    ) : (
      <Answer of={payouts}>{() => <Answer of={me}>{() => null}</Answer>}</Answer>
    );
  }
  if (isReady) return null;
  const next = needs.find(({ isDone }) => !isDone);
  return (
    <Panel title={text('console.ready')} className="ready">
      <p className="hint">{text('console.ready.why')}</p>
      <ol>
        {needs.map((need) => (
          <Step
            key={`${need.what} ${need.family}`}
            need={need}
            asset={need.family === gets ? get : give}
          />
        ))}
      </ol>
      {next?.what === 'phrase' && <PhrasePanel engine={engine} />}
      {next?.what === 'key' && <Vouched engine={engine} />}
    </Panel>
  );
}

function Step({ need: { what, isDone }, asset }: { need: Need; asset: Asset }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <li className={isDone ? 'done' : undefined}>
      <span className="ready-mark">{isDone && <Icon name="check" />}</span>
      <span>
        {text(`console.ready.${what}`, { chain: chainName(asset.chain) })}
        {isDone && <span className="unseen"> {text('console.ready.done')}</span>}
      </span>
      {!isDone && what === 'payout' && (
        <Link to="/wallets" className="button">
          {text('console.ready.payout.go')}
        </Link>
      )}
      {!isDone && what === 'wallet' && (
        <>
          <Button onPress={() => setOpen(true)}>{text('console.ready.wallet.go')}</Button>
          <ConnectDialog open={isOpen} onClose={close} onSignedIn={close} give={asset} />
        </>
      )}
    </li>
  );
}
