// A text that a wallet signs: by a wallet program of this browser, or elsewhere, by hand. The
// market writes the text (docs/signing.md), and it is good once.

import type { Family } from '@parley/core/families.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from 'react';
import type { SignedText, WalletName } from '../../market/account.ts';
import { text } from '../../texts/texts.ts';
import type { FoundWallet } from '../../wallets/types.ts';
import { type Act, Form, useAct } from '../act.tsx';
import { Button, Copy, Select, TextArea, TextField } from '../controls.tsx';
import { Failed } from '../page.tsx';
import { connectWallet, pageWallets } from '../page-wallets.ts';
import './ways.css';

let found: readonly FoundWallet[] = [];

function subscribe(changed: () => void): () => void {
  return pageWallets.listen((now) => {
    found = now;
    changed();
  });
}

export function usePrograms(families: readonly Family[]): readonly FoundWallet[] {
  const all = useSyncExternalStore(subscribe, () => found);
  return all.filter(({ family }) => families.includes(family));
}

/** Asks the person for an account. Throws WalletError. */
async function signerOf(id: string): Promise<MessageSigner> {
  return (await connectWallet(id)).signer;
}

type Begun = { readonly message: string };

type SignTextProps<B extends Begun> = {
  families: readonly Family[];
  /** Asks for the text that this wallet is to sign. */
  begin: (wallet: WalletName) => Promise<B>;
  /** The text is used up, also if it throws. */
  prove: (wallet: WalletName, signed: SignedText, begun: B) => Promise<void>;
};

export function SignText<B extends Begun>({ families, begin, prove }: SignTextProps<B>) {
  const act = useAct();
  const [asking, setAsking] = useState<string | null>(null);
  const by = (program: FoundWallet) =>
    act.run(async () => {
      setAsking(program.name);
      try {
        const signer = await signerOf(program.id);
        const wallet = { family: signer.family, address: signer.address };
        const begun = await begin(wallet);
        const signature = await signer.signMessage(begun.message);
        await prove(wallet, { message: begun.message, signature }, begun);
      } finally {
        setAsking(null);
      }
    });
  return (
    <div className="way">
      <Programs families={families} act={act} onChoose={by} />
      {asking !== null && <p role="status">{text('ways.wallet.look', { name: asking })}</p>}
      <Failed error={act.error} />
      <ByHand families={families} begin={begin} prove={prove} />
    </div>
  );
}

type ProgramsProps = {
  families: readonly Family[];
  act: Act;
  onChoose: (program: FoundWallet) => void;
};

/** A button for each wallet program of these families. */
export function Programs({ families, act, onChoose }: ProgramsProps): ReactNode {
  const programs = usePrograms(families);
  if (programs.length === 0) return <p className="hint">{text('ways.wallet.none')}</p>;
  return (
    <ul className="programs">
      {programs.map((each) => (
        <li key={each.id}>
          <Button busy={act.busy} onPress={() => onChoose(each)}>
            {each.icon !== null && <img src={each.icon} alt="" width={20} height={20} />}
            {text('ways.wallet.use', { name: each.name })}
            <span className="hint">{text(`family.${each.family}`)}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

function ByHand<B extends Begun>({ families, begin, prove }: SignTextProps<B>) {
  const [family, setFamily] = useState<Family>(families[0] ?? 'evm');
  const [address, setAddress] = useState('');
  const [begun, setBegun] = useState<{ readonly wallet: WalletName; readonly text: B } | null>(
    null,
  );
  const show = async () => {
    const wallet = { family, address: asTyped(address).trim() };
    setBegun({ wallet, text: await begin(wallet) });
  };
  const act = useAct();
  const give = (signature: string) =>
    act.run(async () => {
      if (begun === null) return;
      setBegun(null);
      await prove(begun.wallet, { message: begun.text.message, signature }, begun.text);
    });
  return (
    <details className="by-hand">
      <summary>{text('ways.hand.title')}</summary>
      <p className="hint">{text('ways.hand.why')}</p>
      <Form go={text('ways.hand.show')} send={show} failed={(error) => <UsedUp error={error} />}>
        <Select
          label={text('ways.hand.family')}
          value={family}
          onChange={setFamily}
          options={families.map((value) => ({ value, label: text(`family.${value}`) }))}
        />
        <TextField
          label={text('ways.hand.address')}
          mono
          required
          autoComplete="off"
          value={address}
          onChange={setAddress}
        />
      </Form>
      {begun !== null && (
        <SignedElsewhere
          key={begun.text.message}
          family={begun.wallet.family}
          message={begun.text.message}
          busy={act.busy}
          onSigned={give}
        />
      )}
      {act.error !== null && <UsedUp error={act.error} />}
    </details>
  );
}

/** The text is good once: another one is asked for. */
function UsedUp({ error }: { error: unknown }) {
  return (
    <>
      <Failed error={error} />
      <p className="hint">{text('ways.hand.used_up')}</p>
    </>
  );
}

type SignedElsewhereProps = {
  family: Family;
  message: string;
  busy: boolean;
  onSigned: (signature: string) => void;
};

function SignedElsewhere({ family, message, busy, onSigned }: SignedElsewhereProps) {
  const [signature, setSignature] = useState('');
  const give = (event: FormEvent) => {
    event.preventDefault();
    onSigned(signature);
  };
  return (
    <form className="way" onSubmit={give}>
      <TextArea
        label={text('ways.hand.text')}
        mono
        readOnly
        rows={12}
        value={message}
        onChange={() => {}}
      />
      <Copy value={message} what={text('ways.hand.copied')} />
      <TextField
        label={text('ways.hand.signature')}
        hint={text(`ways.hand.how.${family}`)}
        mono
        required
        autoComplete="off"
        value={signature}
        onChange={setSignature}
      />
      <Button type="submit" kind="main" busy={busy}>
        {text('ways.go_on')}
      </Button>
    </form>
  );
}

type SignOneProps = Omit<SignedElsewhereProps, 'busy' | 'onSigned'> & {
  address: string;
  onSigned: (signature: string) => Promise<void>;
};

/** One given wallet signs one given text, in this browser or elsewhere. */
export function SignOne({ family, address, message, onSigned }: SignOneProps) {
  const act = useAct();
  const by = (program: FoundWallet) =>
    act.run(async () => {
      const signer = await signerOf(program.id);
      if (signer.address.toLowerCase() !== address.toLowerCase()) {
        const facts = { name: program.name, own: signer.address, address };
        throw new Error(text('ways.wallet.other', facts));
      }
      await onSigned(await signer.signMessage(message));
    });
  return (
    <div className="way">
      <Programs families={[family]} act={act} onChoose={by} />
      <Failed error={act.error} />
      <SignedElsewhere
        family={family}
        message={message}
        busy={act.busy}
        onSigned={(signature) => act.run(() => onSigned(signature))}
      />
    </div>
  );
}
