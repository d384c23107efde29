// The one thing that a person does next.

import { extraOf } from '@parley/sdk/settle/extra.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isHeldUp, whyNotToPay } from '../../engine/by-wallet.ts';
import type { Ask, Engine, Verb } from '../../engine/types.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { chainName, shortAddress } from '../../parts/names.ts';
import { Notice } from '../../parts/notice.tsx';
import { connectWallet } from '../../parts/page-wallets.ts';
import { useAct } from '../../parts/ways/act.ts';
import { Programs } from '../../parts/ways/sign-text.tsx';
import { type TextKey, text } from '../../texts/texts.ts';
import type { FoundWallet } from '../../wallets/types.ts';
import { LateWallet } from './by-wallet.tsx';
import { Pay } from './pay.tsx';
import type { Shown } from './shown.ts';
import { askOf, type Seen, type Situation, sidesOf } from './situation.ts';

type ActionProps = { readonly engine: Engine; readonly seen: Seen; readonly said: Shown };

export function Action({ engine, seen, said }: ActionProps) {
  const { swap } = seen;
  const { situation } = said;
  const pay = askOf(swap, 'pay_by_hand');
  if (situation === 'decide_extra') {
    const wallet = askOf(swap, 'connect_wallet');
    return (
      <>
        <Extra engine={engine} seen={seen} said={said} />
        {wallet !== null && <Connect ask={wallet} />}
      </>
    );
  }
  // Never beside a payment that was seen.
  if (pay !== null && isToPay(situation)) {
    if (whyNotToPay(swap) !== null)
      return <Notice kind="bad" title={text('settlement.pay.blind')} />;
    if (situation === 'pay_again' && isHeldUp(swap))
      return <Notice kind="warn" title={text('settlement.pay_held.title')} />;
    return <Pay engine={engine} ask={pay} seen={seen} said={said} />;
  }
  if (situation === 'pay_too_late') return <LateWallet seen={seen} said={said} />;
  const asks = swap.asks.filter(({ kind }) => kind !== 'wait' && kind !== 'pay_by_hand');
  const [ask, ...later] = asks;
  if (ask !== undefined) {
    return (
      <>
        <Asked engine={engine} seen={seen} said={said} ask={ask} />
        {later.map(
          (each) => each.kind === 'connect_wallet' && <Connect key={each.leg} ask={each} />,
        )}
      </>
    );
  }
  if (swap.phase === 'stopped') return <Stopped engine={engine} seen={seen} said={said} />;
  return null;
}

function isToPay(situation: Situation): boolean {
  return situation === 'pay' || situation === 'pay_again' || situation.startsWith('wallet_');
}

function Asked({ engine, seen, said, ask }: ActionProps & { readonly ask: Ask }) {
  const { swap } = seen;
  switch (ask.kind) {
    case 'connect_wallet':
      return <Connect ask={ask} />;
    case 'sign':
    case 'declined': {
      const isNew = ask.kind === 'sign';
      const title = isNew
        ? (`settlement.ask.sign.${ask.verb}` as const)
        : 'settlement.ask.declined';
      const words = isNew
        ? wordsOf(ask.verb, seen, said)
        : (`settlement.ask.declined.${ask.verb}` as const);
      const go = (
        <Button kind="main" onPress={() => engine.swaps.sign(swap.id, ask.verb)}>
          {text(`settlement.ask.${ask.kind}.go`)}
        </Button>
      );
      return (
        <Notice kind="warn" title={text(title, said.values)} action={go}>
          {text(words, said.values)}
        </Notice>
      );
    }
    case 'confirm_in_wallet':
      return (
        <Notice kind="info" title={text('settlement.ask.confirm')}>
          {text(wordsOf(ask.verb, seen, said), said.values)}
        </Notice>
      );
    case 'name_payout':
      return (
        <Notice kind="warn" title={text('settlement.ask.payout')}>
          {text('settlement.ask.payout.why')}
        </Notice>
      );
    case 'need_phrase':
      return <NeedPhrase />;
    case 'pay_by_hand':
    case 'wait':
      return null;
  }
}

function NeedPhrase() {
  return (
    <Notice
      kind="warn"
      title={text('settlement.ask.phrase')}
      action={
        <Link className="button main" to="/phrase">
          {text('settlement.ask.phrase.go')}
        </Link>
      }
    >
      {text('settlement.ask.phrase.why')}
    </Notice>
  );
}

type ConnectProps = { readonly ask: Extract<Ask, { kind: 'connect_wallet' }> };

/** The wallet of the account that was agreed, in this browser. */
function Connect({ ask: { family, chain, address } }: ConnectProps) {
  const act = useAct();
  const connect = ({ id, name }: FoundWallet) =>
    act.run(async () => {
      const { signer } = await connectWallet(id, address);
      if (signer.address.toLowerCase() === address.toLowerCase()) return;
      throw new Error(text('ways.wallet.other', { name, own: signer.address, address }));
    });
  const account = { address: shortAddress(address), chain: chainName(chain) };
  return (
    <Notice kind="warn" title={text('settlement.ask.connect', account)}>
      <p>{text('settlement.ask.connect.why')}</p>
      <Programs families={[family]} act={act} onChoose={connect} />
      {act.error !== null && <Failed error={act.error} />}
    </Notice>
  );
}

/** The wallet's prompt, in words. */
function wordsOf(verb: Verb, { swap }: Seen, { situation }: Shown): TextKey {
  if (verb === 'claim') return 'settlement.ask.claim';
  if (verb === 'refund') return 'settlement.ask.refund';
  if (situation === 'cancelling') return 'settlement.ask.cancel';
  const isCoin = sidesOf(swap).own.asset.token === null;
  return isCoin ? 'settlement.ask.fund.native' : 'settlement.ask.fund.token';
}

function Stopped({ engine, seen }: ActionProps) {
  const { swap } = seen;
  return (
    <Notice
      kind="bad"
      title={text('settlement.stopped.title')}
      action={
        <Button kind="main" onPress={() => engine.swaps.again(swap.id)}>
          {text('settlement.stopped.again')}
        </Button>
      }
    >
      {swap.problems.map(({ kind, sentence }) => (
        <p key={`${kind} ${sentence}`}>{sentence}</p>
      ))}
    </Notice>
  );
}

/** Paid too much: the secret stays hidden until the person has said it. */
function Extra({ engine, seen, said }: ActionProps) {
  const [waits, setWaits] = useState(false);
  const extra = extraOf(seen.payments, sidesOf(seen.swap).own.amount);
  return (
    <>
      <div className="actions">
        <Button kind="main" onPress={() => setWaits(true)}>
          {text('settlement.extra.wait')}
        </Button>
        <Confirm
          title={text('settlement.extra.title', said.values)}
          what={<p>{text('settlement.extra.sure', said.values)}</p>}
          onConfirm={async () => engine.swaps.giveExtra(seen.swap.id, extra)}
        >
          {text('settlement.extra.go', said.values)}
        </Confirm>
      </div>
      {waits && <p role="status">{text('settlement.extra.waiting', said.values)}</p>}
    </>
  );
}
