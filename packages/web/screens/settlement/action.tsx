// The one thing that a person does next.

import { type Family, has } from '@parley/core/families.ts';
import { messageOf, WalletError } from '@parley/sdk/errors.ts';
import { extraOf } from '@parley/sdk/settle/extra.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isHeldUp, whyNotToPay } from '../../engine/by-wallet.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Ask, SwapView, Verb } from '../../engine/types.ts';
import { type Act, useAct } from '../../parts/act.tsx';
import { Button, Copy, Notice, Qr } from '../../parts/controls.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Confirm, PayoutForm } from '../../parts/forms.tsx';
import { Failed } from '../../parts/page.tsx';
import { connectWallet } from '../../parts/page-wallets.ts';
import type { Shown } from '../../parts/swap/shown.ts';
import { askOf, isToPay, mayGiveUp, type Seen, sidesOf } from '../../parts/swap/situation.ts';
import { Programs, usePrograms } from '../../parts/ways/sign-text.tsx';
import { chainName, shortAddress } from '../../parts/words.ts';
import { formatAmount } from '../../texts/people.ts';
import { type TextKey, text } from '../../texts/texts.ts';
import type { FoundWallet } from '../../wallets/types.ts';
import { useHere } from './here.tsx';
import { Tx } from './legs.tsx';

export function Action() {
  const { seen, said } = useHere();
  const { swap } = seen;
  const { situation } = said;
  const pay = askOf(swap, 'pay_by_hand');
  if (situation === 'decide_extra') {
    const wallet = askOf(swap, 'connect_wallet');
    return (
      <>
        <Extra />
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
    return <Pay ask={pay} />;
  }
  if (situation === 'pay_too_late') return <LateWallet />;
  const asks = swap.asks.filter(({ kind }) => kind !== 'wait' && kind !== 'pay_by_hand');
  const [ask, ...later] = asks;
  if (ask !== undefined) {
    return (
      <>
        <Asked ask={ask} />
        {later.map(
          (each) => each.kind === 'connect_wallet' && <Connect key={each.leg} ask={each} />,
        )}
      </>
    );
  }
  if (swap.phase === 'stopped') return <Stopped />;
  return null;
}

function Asked({ ask }: { ask: Ask }) {
  const { engine, seen, said } = useHere();
  const { swap } = seen;
  switch (ask.kind) {
    case 'connect_wallet':
      return <Connect ask={ask} />;
    case 'sign':
    case 'declined': {
      const isNew = ask.kind === 'sign';
      const words = isNew
        ? wordsOf(ask.verb, seen, said)
        : (`settlement.ask.declined.${ask.verb}` as const);
      const title = isNew
        ? (`settlement.ask.sign.${ask.verb}` as const)
        : 'settlement.ask.declined';
      return (
        <div className="swap-ask" role="status">
          {!(isNew && isPlain(ask.verb, said)) && <strong>{text(title, said.values)}</strong>}
          <p className="soft">
            {text(words, said.values)} {hurry(ask.family)}
          </p>
          <Button kind="main" big onPress={() => engine.swaps.sign(swap.id, ask.verb)}>
            {text(`settlement.ask.${ask.kind}.go`)}
          </Button>
        </div>
      );
    }
    case 'confirm_in_wallet':
      return (
        <div className="swap-ask" role="status">
          <strong className="swap-live">{text('settlement.ask.confirm')}</strong>
          <p className="soft">
            {text(wordsOf(ask.verb, seen, said), said.values)} {hurry(ask.family)}
          </p>
        </div>
      );
    case 'name_payout':
      return (
        <div className="swap-ask">
          <strong>{text('settlement.ask.payout')}</strong>
          <p className="soft">{text('settlement.ask.payout.why')}</p>
          <PayoutForm keep={(address) => engine.swaps.payTo(swap.id, address)} />
        </div>
      );
    case 'need_phrase':
      return <NeedPhrase />;
    case 'pay_by_hand':
    case 'wait':
      return null;
  }
}

/** Where the title of the screen says already what the wallet is asked for. */
function isPlain(verb: Verb, { situation }: Shown): boolean {
  return (
    (verb === 'fund' && situation === 'fund') ||
    (verb === 'claim' && situation === 'collect') ||
    (verb === 'refund' && situation === 'refund')
  );
}

function NeedPhrase() {
  return (
    <div className="swap-ask">
      <strong>{text('settlement.ask.phrase')}</strong>
      <p className="soft">{text('settlement.ask.phrase.why')}</p>
      <Link className="button main big" to="/phrase">
        {text('settlement.ask.phrase.go')}
      </Link>
    </div>
  );
}

type ConnectProps = { ask: Extract<Ask, { kind: 'connect_wallet' }> };

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
    <div className="swap-ask" role="status">
      <strong>{text('settlement.ask.connect', account)}</strong>
      <p className="soft">{text('settlement.ask.connect.why')}</p>
      <Programs families={[family]} act={act} onChoose={connect} />
      {act.error !== null && (
        <Refused error={act.error} chain={chain} title="settlement.wallet.failed" />
      )}
    </div>
  );
}

function hurry(family: Family): string | null {
  return has(family, 'hurries') ? text('settlement.ask.hurry') : null;
}

/** The wallet's prompt, in words. */
function wordsOf(verb: Verb, { swap }: Seen, { situation }: Shown): TextKey {
  if (verb === 'claim') return 'settlement.ask.claim';
  if (verb === 'refund') return 'settlement.ask.refund';
  if (verb === 'release') return 'settlement.ask.release';
  if (situation === 'cancelling') return 'settlement.ask.cancel';
  const isCoin = sidesOf(swap).own.asset.token === null;
  return isCoin ? 'settlement.ask.fund.native' : 'settlement.ask.fund.token';
}

function Stopped() {
  const { engine, seen } = useHere();
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
      {text('settlement.stopped.why')}
      <details className="swap-raw">
        <summary>{text('settlement.details')}</summary>
        {swap.problems.map(({ kind, sentence }) => (
          <p key={`${kind} ${sentence}`} lang="en">
            {sentence}
          </p>
        ))}
      </details>
    </Notice>
  );
}

/** Paid too much: the secret stays hidden until the person has said it. */
function Extra() {
  const { engine, seen, said } = useHere();
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

export function GiveUp() {
  const { engine, seen, said } = useHere();
  if (!mayGiveUp(seen.swap)) return null;
  const { own } = sidesOf(seen.swap);
  const waits = has(own, 'coins') && own.form === undefined;
  const sure = waits ? 'settlement.give_up.sure.bitcoin' : 'settlement.give_up.sure';
  return (
    <Fold title={text('settlement.give_up.fold')}>
      <p>{text(sure, said.values)}</p>
      <Confirm
        title={text('settlement.give_up.title')}
        what={<p>{text(sure, said.values)}</p>}
        onConfirm={() => engine.swaps.giveUp(seen.swap.id)}
      >
        {text('settlement.give_up')}
      </Confirm>
    </Fold>
  );
}

/** Whole, and in groups that can be compared: a look-alike has the same ends. */
export function Address({ value }: { value: string }) {
  const groups = value.match(/.{1,4}/g) ?? [];
  return (
    <code className="swap-address">
      {groups.map((each, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same group may come twice.
        <span key={at}>{each}</span>
      ))}
    </code>
  );
}

const decimals = 8;

type PayAsk = Extract<Ask, { kind: 'pay_by_hand' }>;
type PayProps = { ask: PayAsk };

function Pay({ ask }: PayProps) {
  const { engine, seen, said } = useHere();
  const by = usePayByWallet(engine, seen.swap.id);
  // A code beside a wallet that may have paid would be paid too.
  if (seen.wallet === undefined) return null;
  if (seen.wallet !== null) return <FromWallet />;
  if (said.situation === 'pay') return <Payment ask={ask} by={by} />;
  // A second payment is a decision: a person must not take it for the next step.
  return (
    <details className="swap-again">
      <summary>{text('settlement.pay.again')}</summary>
      <Payment ask={ask} by={by} />
    </details>
  );
}

function Payment({ ask, by }: PayProps & { readonly by: PayByWallet }) {
  const { seen, said } = useHere();
  const { address, amount, uri } = ask;
  const exact = formatAmount(amount, decimals);
  const values = { ...said.values, amount: `${exact}\u00a0BTC`, address };
  const [taproot] = /^[a-z]+1p/.exec(address) ?? [];
  return (
    <div className="swap-payment">
      <div className="swap-code">
        <Qr value={uri} label={text('settlement.pay.qr', values)} />
        <a className="button swap-open" href={uri}>
          {text('settlement.pay.open')}
        </a>
      </div>
      <div className="swap-pay">
        <dl className="swap-exact">
          <div>
            <dt>{text('settlement.pay.amount')}</dt>
            <dd>
              <strong>{values.amount}</strong>{' '}
              <Copy value={plain(exact)} what={text('settlement.pay.what_amount')} />
            </dd>
          </div>
          <div>
            <dt>{text('settlement.pay.to')}</dt>
            <dd>
              <Address value={address} />{' '}
              <Copy value={address} what={text('settlement.pay.what_address')} />
            </dd>
          </div>
          <div>
            <dt>{text('settlement.pay.network')}</dt>
            <dd>{chainName(sidesOf(seen.swap).own.chain)}</dd>
          </div>
        </dl>
        <ChooseWallet by={by} />
        <p className="swap-live">{text('settlement.pay.watch')}</p>
        <p className="hint">{text('settlement.pay.exchange', values)}</p>
        {taproot && <p className="hint">{text('settlement.pay.taproot', { prefix: taproot })}</p>}
        <details className="swap-raw">
          <summary>{text('settlement.pay.rules')}</summary>
          <ul>
            {(['less', 'more', 'once', 'late'] as const).map((rule) => (
              <li key={rule}>
                {text(`settlement.pay.${rule}`, { ...values, at: said.values.fundBy ?? '' })}
              </li>
            ))}
          </ul>
        </details>
      </div>
    </div>
  );
}

/** As a field of an exchange takes it: no spaces between thousands, a point before decimals. */
function plain(shown: string): string {
  return shown.replace(/[\u202f\s]/g, '').replace(',', '.');
}

const lookMs = 1_000;

/** undefined: not read yet. Other tabs ask too: it is read again and again. */
export function useWalletPayment({ byWallet }: Engine, swap: SwapView) {
  const { id, phase } = swap;
  const { data, isError } = useQuery({
    queryKey: ['by wallet', id],
    queryFn: () => byWallet.of(id),
    enabled: has(sidesOf(swap).own, 'coins') && phase !== 'ended',
    refetchInterval: lookMs,
    networkMode: 'always',
  });
  // A browser that reads nothing asks no wallet either: the code is there all the same.
  return isError ? (data ?? null) : data;
}

type PayByWallet = {
  readonly act: Act;
  readonly asks: (wallet: FoundWallet) => void;
};

/** Beside the code, so that its refusal is still there when the code comes back. */
function usePayByWallet(engine: Engine, swapId: string): PayByWallet {
  const act = useAct();
  const asks = ({ id, name }: FoundWallet) =>
    act.run(async () => {
      const link = await connectWallet(id);
      if (!has(link, 'coins')) throw new Error(`${name} is no wallet of Bitcoin`);
      const pay = link.pay.bind(link);
      await engine.byWallet.pay(swapId, { name, pay });
    });
  return { act, asks };
}

/** A button for each wallet; null where this browser has none. */
function ChooseWallet({ by: { act, asks } }: { by: PayByWallet }) {
  const { seen } = useHere();
  const programs = usePrograms(['bitcoin']);
  return (
    <>
      {programs.length > 0 && (
        <div className="swap-wallets">
          <ul className="programs">
            {programs.map((each, at) => (
              <li key={each.id}>
                <Button
                  kind={at === 0 ? 'main' : 'plain'}
                  busy={act.busy}
                  onPress={() => asks(each)}
                >
                  {each.icon !== null && <img src={each.icon} alt="" width={20} height={20} />}
                  {text('settlement.wallet.pay', { name: each.name })}
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {act.busy && <p role="status">{text('settlement.wallet.look')}</p>}
      {act.error !== null && (
        <Refused
          error={act.error}
          chain={sidesOf(seen.swap).own.chain}
          title="settlement.wallet.refused"
        />
      )}
    </>
  );
}

type RefusedProps = { error: unknown; chain: string; title: TextKey };

/** The wallet's own no is its person's, and no word of the market's. */
function Refused({ error, chain, title }: RefusedProps) {
  if (!(error instanceof WalletError)) return <Failed error={error} />;
  if (error.code === 'declined') {
    return <Notice kind="info" title={text('settlement.wallet.declined')} />;
  }
  const isElsewhere = error.code === 'wrong_network';
  const elsewhere = text('settlement.wallet.network', { chain: chainName(chain) });
  return (
    <Notice kind="warn" title={isElsewhere ? elsewhere : text(title)}>
      <span lang="en">{messageOf(error)}</span>
    </Notice>
  );
}

/** The request to the wallet, and the way back to the code. */
function FromWallet() {
  const { engine, seen, said } = useHere();
  const { swap, wallet } = seen;
  const txid = wallet?.txid ?? null;
  return (
    <>
      {txid !== null && <Tx txid={txid} chain={sidesOf(swap).own.chain} />}
      <div className="actions">
        <Confirm
          title={text('settlement.wallet.leave.title', said.values)}
          what={<p>{text('settlement.wallet.leave.sure', said.values)}</p>}
          onConfirm={() => engine.byWallet.leave(swap.id)}
        >
          {text('settlement.wallet.leave')}
        </Confirm>
      </div>
    </>
  );
}

/** The time to pay is over, and a wallet that was asked in time may still pay. */
function LateWallet() {
  const { seen, said } = useHere();
  if (seen.wallet?.is !== 'asked') return null;
  return (
    <Notice kind="warn" title={text('settlement.wallet.too_late', said.values)}>
      {text('settlement.wallet.too_late.why', said.values)}
    </Notice>
  );
}
