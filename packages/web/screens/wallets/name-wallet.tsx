// Another wallet is paid, or may be named by a swap: in a wallet session alone. Its own signature,
// and that of the wallet of before; without the second one it waits.

import { families } from '@parley/core/families.ts';
import { Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import {
  account,
  type PayoutBegun,
  type SignedText,
  type WalletName,
} from '../../market/account.ts';
import { now } from '../../market/clock.ts';
import { type SignedInAccount, startAnew } from '../../market/session.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Select } from '../../parts/select.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { signInPath } from '../../parts/ways/back.ts';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { SignOne, SignText } from '../../parts/ways/sign-text.tsx';
import { formatDuration, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';

type NameWalletProps = {
  readonly account: SignedInAccount;
  readonly onDone: (sentence: string) => Promise<void>;
};

export function NameWallet({ account: signedIn, onDone }: NameWalletProps) {
  return (
    <section className="panel">
      <h2>{text('wallets.change.title')}</h2>
      {signedIn.walletSession ? <Naming onDone={onDone} /> : <WalletSession account={signedIn} />}
    </section>
  );
}

function WalletSession({ account: { logins, session } }: Pick<NameWalletProps, 'account'>) {
  const router = useRouter();
  const act = useAct();
  if (!logins.some(({ way }) => way === 'wallet')) {
    return (
      <Notice
        kind="info"
        title={text('wallets.change.no_wallet')}
        action={<Link to="/account">{text('wallets.change.no_wallet.go')}</Link>}
      />
    );
  }
  const leave = () =>
    act.run(async () => {
      await account.signOut();
      router.history.push(signInPath('/wallets'));
      await startAnew();
    });
  const way = text(`account.by.${session.signedInBy}`);
  return (
    <Notice
      kind="info"
      title={text('wallets.change.session', { way })}
      action={
        <Button busy={act.busy} onPress={leave}>
          {text('wallets.change.session.go')}
        </Button>
      }
    >
      {act.error !== null && <Failed error={act.error} />}
    </Notice>
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
  const prove = async (wallet: WalletName, signed: SignedText, begun: PayoutBegun) => {
    const { voucher, waitSeconds } = begun;
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
      <SignText
        families={families}
        begin={(wallet) => freshly(() => account.beginPayout(wallet, paid), how)}
        prove={prove}
      />
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
  readonly half: Half;
  readonly send: (wallet: WalletName, signed: SignedText, voucher?: SignedText) => Promise<void>;
  readonly back: () => void;
};

function Second({ half: { wallet, signed, voucher, waitSeconds }, send, back }: SecondProps) {
  const act = useAct();
  const { family, address, message } = voucher;
  return (
    <div>
      <h3>{text('wallets.second.title')}</h3>
      <p>{text('wallets.second.what', { address, wait: formatDuration(waitSeconds) })}</p>
      <SignOne
        family={family}
        address={address}
        message={message}
        onSigned={(signature) => send(wallet, signed, { message, signature })}
      />
      <div className="actions">
        <Button busy={act.busy} onPress={() => act.run(() => send(wallet, signed))}>
          {text('wallets.second.wait')}
        </Button>
        <Button kind="quiet" onPress={back}>
          {text('wallets.second.back')}
        </Button>
      </div>
      {act.error !== null && <Failed error={act.error} />}
    </div>
  );
}
