// The wallets of the account, where it is paid, and what waits.

import { families, has } from '@parley/core/families.ts';
import { linkWallet, type MessageSigner } from '@parley/sdk/keys.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import {
  account,
  type PayoutBegun,
  type SignedText,
  type WalletName,
} from '../../market/account.ts';
import { now } from '../../market/config.ts';
import { lookAgain, type SignedInAccount, startAnew } from '../../market/session.ts';
import { market } from '../../market/site.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { Do } from '../../parts/act.tsx';
import { Button, Copy, Notice, Panel, Select } from '../../parts/controls.tsx';
import { Confirm } from '../../parts/forms.tsx';
import { Answer, Failed } from '../../parts/page.tsx';
import { When } from '../../parts/shown.tsx';
import { signInPath } from '../../parts/ways/back.ts';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { SignText } from '../../parts/ways/sign-text.tsx';
import { formatDuration, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type FamilyWallets, type WalletRow, waitsIn, walletsView } from './wallets-view.ts';
import './wallets.css';

export function Wallets() {
  return (
    <AccountScreen title={text('wallets.title')}>
      {(signedIn) => <Parts account={signedIn} />}
    </AccountScreen>
  );
}

function Parts({ account: signedIn }: { account: SignedInAccount }) {
  const { id, logins } = signedIn;
  const client = useQueryClient();
  const [said, setSaid] = useState<string | null>(null);
  const wallets = useQuery({
    queryKey: ['payouts', id, 'wallets'],
    queryFn: async ({ signal }) => {
      const [{ payouts }, me] = await Promise.all([account.payouts(signal), market.me({ signal })]);
      const loginIds = logins.filter(({ way }) => way === 'wallet').map((each) => each.id);
      return walletsView(payouts, me.wallets, loginIds);
    },
  });
  const changed = async (sentence: string) => {
    await Promise.all([client.invalidateQueries({ queryKey: ['payouts'] }), lookAgain()]);
    setSaid(sentence);
  };
  return (
    <>
      <p>{text('wallets.what')}</p>
      {said !== null && <Notice kind="good">{said}</Notice>}
      <Answer of={wallets}>
        {(all) => (
          <>
            {waitsIn(all) > 0 && <Waiting count={waitsIn(all)} onStopped={changed} />}
            <div className="panel wallet-families">
              {all.map((each) => (
                <OfFamily key={each.family} wallets={each} onChanged={changed} />
              ))}
            </div>
            <NameWallet account={signedIn} onDone={changed} />
            <ProveWallet onDone={changed} />
          </>
        )}
      </Answer>
    </>
  );
}

function Waiting({ count, onStopped }: { count: number; onStopped: Changed }) {
  const stop = async () => {
    await account.stopAllPayouts();
    await onStopped(text('wallets.stopped'));
  };
  const all = (
    <Confirm
      title={text('wallets.stop.all.title')}
      what={<p>{text('wallets.stop.what')}</p>}
      onConfirm={stop}
    >
      {text('wallets.stop.all')}
    </Confirm>
  );
  return (
    <Notice kind="warn" title={text('wallets.wait.title')} action={count > 1 ? all : undefined}>
      {text('wallets.wait.what')}
    </Notice>
  );
}

/** Called with the change, as a sentence. */
type Changed = (sentence: string) => Promise<void>;

type OfFamilyProps = { wallets: FamilyWallets; onChanged: Changed };

function OfFamily({ wallets: { family, rows }, onChanged }: OfFamilyProps) {
  const isPaid = rows.some((each) => each.isPaid);
  return (
    <Panel title={text(`family.${family}`)}>
      {!isPaid && (
        <p className="soft">
          {text(has(family, 'coins') ? 'wallets.paid.each_swap' : 'wallets.paid.nowhere')}
        </p>
      )}
      {rows.length > 0 && (
        <ul className="entries">
          {rows.map((row) => (
            <WalletEntry key={row.address} row={row} onChanged={onChanged} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** Its rights, in words. */
function factsOf({ isPaid, signsIn, receives, isProven }: WalletRow): string[] {
  return [
    ...(isPaid ? [text('wallets.paid')] : []),
    ...(signsIn ? [text('wallets.login')] : []),
    ...(receives && !isPaid ? [text('wallets.receives')] : []),
    ...(isProven && !receives && !isPaid ? [text('wallets.proven')] : []),
  ];
}

function WalletEntry({ row, onChanged }: { row: WalletRow; onChanged: Changed }) {
  const { address, signsIn, isProven, isPaid, waits, leavesAt } = row;
  return (
    <li>
      <div>
        <p>
          <code>{address}</code> <Copy value={address} what={text('wallets.address')} />
        </p>
        <p className="hint">{factsOf(row).join(' · ')}</p>
        {waits !== null && (
          <p className="hint warn-ink">
            {text(waits.paid ? 'wallets.waits.paid' : 'wallets.waits.named')}{' '}
            <When at={waits.fromAt} />
          </p>
        )}
        {leavesAt !== null && (
          <p className="hint warn-ink">
            {text('wallets.leaves')} <When at={leavesAt} />
          </p>
        )}
      </div>
      {(waits !== null || leavesAt !== null) && <Stop row={row} onStopped={onChanged} />}
      {isProven && !signsIn && !isPaid && waits === null && (
        <Remove address={address} onRemoved={onChanged} />
      )}
    </li>
  );
}

function Stop({ row: { family, address }, onStopped }: { row: WalletRow; onStopped: Changed }) {
  const stop = async () => {
    await account.stopPayout({ family, address });
    await onStopped(text('wallets.stopped'));
  };
  return (
    <Confirm
      label={text('wallets.stop.label', { address })}
      title={text('wallets.stop.title', { address })}
      what={<p>{text('wallets.stop.what')}</p>}
      onConfirm={stop}
    >
      {text('wallets.stop')}
    </Confirm>
  );
}

function Remove({ address, onRemoved }: { address: string; onRemoved: Changed }) {
  const remove = async () => {
    await market.removeWallet(address);
    await onRemoved(text('logins.removed'));
  };
  return (
    <Confirm
      label={text('wallets.remove.label', { address })}
      title={text('wallets.remove.title', { address })}
      what={<p>{text('wallets.remove.what')}</p>}
      onConfirm={remove}
    >
      {text('wallets.remove')}
    </Confirm>
  );
}

type NameWalletProps = {
  account: SignedInAccount;
  onDone: (sentence: string) => Promise<void>;
};

function NameWallet({ account: signedIn, onDone }: NameWalletProps) {
  return (
    <Panel title={text('wallets.change.title')}>
      {signedIn.walletSession ? <Naming onDone={onDone} /> : <WalletSession account={signedIn} />}
    </Panel>
  );
}

function WalletSession({ account: { logins, session } }: Pick<NameWalletProps, 'account'>) {
  const router = useRouter();
  if (!logins.some(({ way }) => way === 'wallet')) {
    return (
      <Notice
        kind="info"
        title={text('wallets.change.no_wallet')}
        action={<Link to="/account">{text('wallets.change.no_wallet.go')}</Link>}
      />
    );
  }
  const leave = async () => {
    await account.signOut();
    router.history.push(signInPath('/wallets'));
    await startAnew();
  };
  const way = text(`account.by.${session.signedInBy}`);
  return (
    <Notice
      kind="info"
      title={text('wallets.change.session', { way })}
      action={<Do work={leave}>{text('wallets.change.session.go')}</Do>}
    />
  );
}

/** Signed by the wallet that is to be paid; the one of before may sign too. */
type Half = {
  readonly wallet: WalletName;
  readonly signed: SignedText;
  readonly voucher: NonNullable<PayoutBegun['voucher']>;
  readonly waitSeconds: number;
};

function Naming({ onDone }: Pick<NameWalletProps, 'onDone'>) {
  const freshly = useFreshly();
  const [purpose, setPurpose] = useState<'paid' | 'named'>('paid');
  const [half, setHalf] = useState<Half | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const paid = purpose === 'paid';
  // Renewing by anything but a wallet would make it a session that changes nothing here.
  const how = { walletsOnly: true };
  const send = async (wallet: WalletName, signed: SignedText, voucher?: SignedText) => {
    try {
      const prove = () => account.provePayout(wallet, paid, signed, voucher);
      const { fromAt } = await freshly(prove, how);
      const waits = secondsOf(fromAt) > now() + 1;
      await onDone(text(waits ? 'wallets.done.waits' : 'wallets.done.now'));
    } catch (error) {
      setFailed(error);
    } finally {
      // Both texts are good once, also after a failure.
      setHalf(null);
    }
  };
  const name = async ({ family, address, signMessage }: MessageSigner) => {
    const wallet = { family, address };
    const begun = await freshly(() => account.beginPayout(wallet, paid), how);
    const { message, voucher, waitSeconds } = begun;
    const signed = { message, signature: await signMessage(message) };
    setFailed(null);
    if (voucher === null) return send(wallet, signed);
    setHalf({ wallet, signed, voucher, waitSeconds });
  };
  if (half !== null) return <Second half={half} send={send} back={() => setHalf(null)} />;
  return (
    <>
      <p>{text('wallets.change.how')}</p>
      <Select
        label={text('wallets.change.which')}
        value={purpose}
        onChange={setPurpose}
        options={[
          { value: 'paid', label: text('wallets.change.paid') },
          { value: 'named', label: text('wallets.change.named') },
        ]}
      />
      <SignText families={families} use={name} />
      {failed !== null && (
        <>
          <Failed error={failed} />
          <p className="hint">{text('wallets.failed')}</p>
        </>
      )}
    </>
  );
}

type SecondProps = {
  half: Half;
  send: (wallet: WalletName, signed: SignedText, voucher?: SignedText) => Promise<void>;
  back: () => void;
};

function Second({ half: { wallet, signed, voucher, waitSeconds }, send, back }: SecondProps) {
  const { family, address, message } = voucher;
  const second = async ({ signMessage }: MessageSigner) =>
    send(wallet, signed, { message, signature: await signMessage(message) });
  return (
    <div>
      <h3>{text('wallets.second.title')}</h3>
      <p>{text('wallets.second.what', { address, wait: formatDuration(waitSeconds) })}</p>
      <SignText families={[family]} wanted={address} use={second} />
      <div className="actions">
        <Do work={() => send(wallet, signed)}>{text('wallets.second.wait')}</Do>
        <Button kind="quiet" onPress={back}>
          {text('wallets.second.back')}
        </Button>
      </div>
    </div>
  );
}

function ProveWallet({ onDone }: { onDone: (sentence: string) => Promise<void> }) {
  const prove = async (signer: MessageSigner) => {
    await linkWallet(market, signer);
    await onDone(text('wallets.proved'));
  };
  return (
    <Panel title={text('wallets.prove.title')}>
      <p>{text('wallets.prove.what')}</p>
      <SignText families={families} use={prove} />
    </Panel>
  );
}
